// Targets of 24 pixels, and a page that is not wider than its window. A link in a text may be as
// small as the text; so may what has room around it, and the bars of plots, whose clusters are
// found by the filters too (the exceptions of WCAG 2.5.8).
const LEAST = 24;
const targets = all(FOCUSABLE).filter(
  (one) => isVisible(one) && !isOnlyHeard(one) && !one.closest("svg, .skip"),
);
const box = (one) => (one.closest("label") ?? one).getBoundingClientRect();
const middle = (rect) => [rect.x + rect.width / 2, rect.y + rect.height / 2];
const distance = (point, rect) =>
  Math.hypot(
    Math.max(rect.left - point[0], 0, point[0] - rect.right),
    Math.max(rect.top - point[1], 0, point[1] - rect.bottom),
  );
for (const target of targets) {
  const rect = box(target);
  if (rect.width >= LEAST - 0.1 && rect.height >= LEAST - 0.1) continue;
  if (
    target.tagName === "A" &&
    getComputedStyle(target).display === "inline" &&
    target.parentElement.textContent.trim().length > target.textContent.trim().length
  )
    continue;
  const crowding = targets.find((other) => {
    if (other === target || target.contains(other) || other.contains(target)) return false;
    const room = box(other);
    const isSmall = room.width < LEAST - 0.1 || room.height < LEAST - 0.1;
    const gap = isSmall
      ? Math.hypot(middle(room)[0] - middle(rect)[0], middle(room)[1] - middle(rect)[1]) - LEAST / 2
      : distance(middle(rect), room);
    return gap < LEAST / 2 - 0.6;
  });
  const size = `${rect.width.toFixed()} × ${rect.height.toFixed()}`;
  if (crowding) find(`a target of ${size} pixels, too near to ${shown(crowding)}`, target);
}
if (document.scrollingElement.scrollWidth > document.documentElement.clientWidth) {
  const widest = all("body *").filter(
    (one) =>
      one.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5 &&
      !one.parentElement.closest(".scroll, pre"),
  );
  find(
    `the page is ${document.scrollingElement.scrollWidth} pixels wide`,
    widest[0] ?? document.body,
  );
}
