// Runs before the page is drawn, so that a remembered theme does not flash in the other colours.
"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  let remembered = null;
  try {
    remembered = localStorage.getItem("neardup-theme");
  } catch {
    // Storage may be forbidden; then the system's theme is used.
  }
  if (remembered === "light" || remembered === "dark") root.dataset.theme = remembered;
})();
