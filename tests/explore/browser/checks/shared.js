// What all checks use: how to find elements, and how a finding is said.
const findings = [];
const shown = (element) => {
  const html = element.cloneNode(false).outerHTML.slice(0, 120);
  return `${html} “${(element.textContent ?? "").trim().replace(/\s+/g, " ").slice(0, 40)}”`;
};
const find = (what, element) => findings.push(element ? `${what}: ${shown(element)}` : what);
const all = (selector) => [...document.querySelectorAll(selector)];
const isVisible = (element) => element.checkVisibility({ visibilityProperty: true });
const isOnlyHeard = (element) => {
  const box = element.getBoundingClientRect();
  return box.width <= 1 || box.height <= 1;
};
// The accessible name, as far as our pages use the ways to give one.
const nameOf = (element) => {
  const by = element.getAttribute("aria-labelledby");
  if (by)
    return by
      .split(/\s+/)
      .map((id) => document.getElementById(id)?.textContent ?? "")
      .join(" ")
      .trim();
  const label = element.getAttribute("aria-label")?.trim();
  if (label) return label;
  if (element.labels?.length)
    return [...element.labels]
      .map((one) => one.textContent)
      .join(" ")
      .trim();
  const title = element.querySelector?.(":scope > title")?.textContent.trim();
  if (title) return title;
  if (["INPUT", "SELECT", "TEXTAREA"].includes(element.tagName)) return "";
  const alts = [...(element.querySelectorAll?.("img[alt]") ?? [])]
    .map((image) => image.alt)
    .join(" ");
  return `${element.textContent} ${alts}`.trim();
};
const FOCUSABLE = [
  "a[href]",
  "button:not(:disabled)",
  "input:not([type=hidden], :disabled)",
  "select",
  "textarea",
  "summary",
  "[tabindex]:not([tabindex='-1'])",
].join();
