// Whatever takes the focus shows it.
const looks = (element) =>
  [element, ...element.querySelectorAll("*")]
    .map((one) => {
      const style = getComputedStyle(one);
      const isFramed = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
      return [
        isFramed ? style.outline : "",
        style.boxShadow,
        one instanceof SVGElement ? style.stroke + style.strokeWidth : "",
      ].join();
    })
    .join(";");
for (const element of all(FOCUSABLE)) {
  if (!isVisible(element)) continue;
  document.activeElement?.blur();
  const before = looks(element);
  element.focus();
  if (document.activeElement !== element) {
    find("does not take the focus", element);
    continue;
  }
  if (looks(element) === before) find("the focus cannot be seen", element);
  const box = element.getBoundingClientRect();
  if (box.width <= 1 || box.height <= 1)
    find("the focus is on something that cannot be seen", element);
}
document.activeElement?.blur();
