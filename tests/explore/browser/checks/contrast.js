// Text against what is behind it: 4.5 to 1, or 3 to 1 if it is large.
const parse = (text) => {
  let found = text.match(/^rgba?\(([\d.]+),? ([\d.]+),? ([\d.]+)(?:[,/ ]+([\d.]+))?\)$/);
  if (found) return [found[1] / 255, found[2] / 255, found[3] / 255, Number(found[4] ?? 1)];
  found = text.match(/^color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)(?: \/ ([\d.]+))?\)$/);
  if (found) return [Number(found[1]), Number(found[2]), Number(found[3]), Number(found[4] ?? 1)];
  throw new Error(`unknown colour ${text}`);
};
const over = (top, below) =>
  [0, 1, 2].map((channel) => top[channel] * top[3] + below[channel] * (1 - top[3]));
const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
const luminance = (colour) =>
  0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2]);
const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
const behind = (element) => {
  const layers = [];
  for (let one = element; one; one = one.parentElement)
    layers.push(parse(getComputedStyle(one).backgroundColor));
  return layers
    .reverse()
    .reduce((below, layer) => over(layer, below), isDark ? [0.07, 0.07, 0.07] : [1, 1, 1]);
};
const check = (element, style, where) => {
  const colour = parse(element instanceof SVGElement ? style.fill : style.color);
  let opacity = colour[3];
  for (let one = element; one; one = one.parentElement)
    opacity *= Number(getComputedStyle(one).opacity);
  const back = behind(element);
  const front = over([...colour.slice(0, 3), opacity], back);
  const [light, dark] = [luminance(front), luminance(back)].sort((a, b) => b - a);
  const ratio = (light + 0.05) / (dark + 0.05);
  const size = parseFloat(style.fontSize);
  const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
  if (ratio < least - 0.005) find(`contrast ${ratio.toFixed(2)} of ${where}`, element);
};
const checked = new Set();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (
    !walker.currentNode.data.trim() ||
    checked.has(element) ||
    element.closest("script, style, title, :disabled, option, datalist")
  )
    continue;
  checked.add(element);
  if (isVisible(element) && !isOnlyHeard(element))
    check(element, getComputedStyle(element), "text");
}
for (const element of all("body *")) {
  if (!isVisible(element)) continue;
  for (const part of ["::before", "::after"]) {
    const style = getComputedStyle(element, part);
    const isText = /^"(?=.*\S).+"/.test(style.content) && style.content !== '""';
    if (
      isText &&
      style.display !== "none" &&
      !(style.position === "absolute" && parseFloat(style.width) <= 1)
    )
      check(element, style, part);
  }
  if (element.matches("input:not([type=checkbox], [type=radio], [type=range]), textarea, select")) {
    check(element, getComputedStyle(element), "a field");
    if (element.placeholder)
      check(element, getComputedStyle(element, "::placeholder"), "a placeholder");
  }
}
