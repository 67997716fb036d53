// What every page has: the theme button, keys of lists, and the search box.
const THEMES = ["auto", "light", "dark"];
const NAMES = { auto: "Auto", light: "Light", dark: "Dark" };

function remember(theme) {
  try {
    localStorage.setItem("neardup-theme", theme);
  } catch {
    // Forbidden storage: the theme holds for this page.
  }
}

function setUpTheme(button) {
  const root = document.documentElement;
  const current = () => root.dataset.theme ?? "auto";
  const show = () => {
    button.textContent = NAMES[current()];
    button.setAttribute("aria-label", `Colours: ${NAMES[current()].toLowerCase()}`);
  };
  button.addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(current()) + 1) % THEMES.length];
    if (next === "auto") delete root.dataset.theme;
    else root.dataset.theme = next;
    remember(next);
    show();
  });
  show();
}

// Whether a key is meant for what is being typed.
export function isTyping(event) {
  const target = event.target;
  return (
    event.ctrlKey || event.metaKey || event.altKey || event.isComposing ||
    (target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null)
  );
}

// Call `handlers[key]` when that key is pressed outside of fields.
export function onKeys(handlers) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || isTyping(event)) return;
    if (!Object.hasOwn(handlers, event.key)) return;
    if (handlers[event.key](event) !== false) event.preventDefault();
  });
}

// Rows of a table or list marked [data-rows]: j and k select one, Enter opens its first link.
function setUpRows(list) {
  const rows = [...list.querySelectorAll("[data-row]")];
  let selected = -1;
  const link = (row) => row.querySelector("a[href]");
  const select = (place) => {
    if (place < 0 || place >= rows.length) return;
    rows[selected]?.removeAttribute("data-selected");
    selected = place;
    rows[place].setAttribute("data-selected", "");
    rows[place].scrollIntoView({ block: "nearest" });
    link(rows[place])?.focus({ preventScroll: true });
  };
  list.addEventListener("focusin", (event) => {
    const place = rows.indexOf(event.target.closest("[data-row]"));
    if (place >= 0 && place !== selected) {
      rows[selected]?.removeAttribute("data-selected");
      selected = place;
      rows[place].setAttribute("data-selected", "");
    }
  });
  onKeys({
    j: () => select(selected + 1),
    k: () => select(selected < 0 ? 0 : selected - 1),
  });
}

// Addresses to keep and to send: empty fields of a search are left out.
function setUpShortAddresses(form) {
  form.addEventListener("formdata", ({ formData }) => {
    for (const [name, value] of [...formData]) if (value === "") formData.delete(name);
  });
}

// A table that is wider than the page and has no links: keys can scroll what has the focus.
function setUpScrolling(box) {
  if (box.scrollWidth <= box.clientWidth || box.querySelector("a, button, input")) return;
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Table, wider than the page");
}

const theme = document.getElementById("theme");
if (theme) setUpTheme(theme);
const rows = document.querySelector("[data-rows]");
if (rows) setUpRows(rows);
document.querySelectorAll("form[method=get]").forEach(setUpShortAddresses);
document.querySelectorAll(".scroll").forEach(setUpScrolling);
const search = document.querySelector("input[type=search]");
if (search) {
  onKeys({
    "/": () => {
      search.focus();
      search.select();
    },
  });
}
