// Names, headings, landmarks, tables, lists, ids and aria attributes.
if (!document.documentElement.lang) find("the page has no language");
if (!document.title.trim()) find("the page has no title");
if (!document.querySelector("meta[name=viewport]")) find("the page has no viewport");
if (
  /user-scalable=no|maximum-scale/.test(
    document.querySelector("meta[name=viewport]")?.content ?? "",
  )
)
  find("the page cannot be enlarged");
for (const landmark of ["main", "header", "nav", "footer"])
  if (!document.querySelector(landmark)) find(`there is no ${landmark}`);
if (all("main").length > 1) find("there are several main");
const navigations = all("nav");
for (const nav of navigations)
  if (
    !nameOf(nav) ||
    (navigations.length > 1 &&
      !nav.hasAttribute("aria-label") &&
      !nav.hasAttribute("aria-labelledby"))
  )
    find("a nav without a name", nav);
if (new Set(navigations.map((nav) => nav.getAttribute("aria-label"))).size < navigations.length)
  find("two nav have the same name");
const headings = all("h1, h2, h3, h4, h5, h6").filter(isVisible);
if (headings.filter((one) => one.tagName === "H1").length !== 1)
  find("there is not exactly one h1");
let level = 0;
for (const heading of headings) {
  const own = Number(heading.tagName[1]);
  if (own > level + 1) find(`a heading leaps from level ${level} to ${own}`, heading);
  if (!heading.textContent.trim()) find("an empty heading", heading);
  level = own;
}
for (const region of all("section[aria-labelledby], section[aria-label]"))
  if (!nameOf(region)) find("a region without a name", region);
for (const image of all("img"))
  if (!image.hasAttribute("alt")) find("an image without a name", image);
for (const image of all("svg")) {
  const role = image.getAttribute("role");
  const isHidden = image.closest("[aria-hidden=true]") !== null;
  if (!isHidden && !["img", "group", "graphics-document"].includes(role))
    find("a drawing that is neither named nor hidden", image);
  if (!isHidden && role && !nameOf(image)) find("a drawing without a name", image);
  if (role === "img" && image.querySelector("a[href]"))
    find("links inside an image are not heard", image);
}
for (const field of all("input:not([type=hidden]), select, textarea"))
  if (!nameOf(field)) find("a field without a label", field);
for (const group of all("fieldset"))
  if (!group.querySelector("legend")?.textContent.trim())
    find("a fieldset without a legend", group);
for (const button of all("button, a[href], summary"))
  if (!button.hidden && !nameOf(button)) find("a button or link without a name", button);
for (const link of all("a:not([href])")) find("a link without an address", link);
for (const bar of all("progress, meter"))
  if (!nameOf(bar)) find("a progress bar without a name", bar);
for (const table of all("table")) {
  const heads = [...table.querySelectorAll("th")];
  if (!heads.length) find("a table without headers", table);
  for (const head of heads) {
    if (!["col", "row", "colgroup", "rowgroup"].includes(head.scope))
      find("a header without a scope", head);
    if (!head.textContent.trim()) find("an empty header", head);
  }
}
for (const list of all("ul, ol"))
  for (const child of list.children)
    if (!["LI", "SCRIPT", "TEMPLATE"].includes(child.tagName))
      find("a list holds something else than items", child);
for (const list of all("dl"))
  for (const child of list.children)
    if (!["DT", "DD", "DIV"].includes(child.tagName))
      find("a list of terms holds something else", child);
// What may not be in a paragraph ends it, and its end tag makes an empty one.
for (const paragraph of all("p:not([id], [role])"))
  if (!paragraph.childNodes.length) find("an empty paragraph", paragraph.parentElement);
const ids = all("[id]").map((element) => element.id);
for (const id of new Set(ids.filter((id, place) => ids.indexOf(id) !== place)))
  find(`the id ${id} occurs twice`);
for (const element of all("[tabindex]"))
  if (element.tabIndex > 0) find("a positive tabindex", element);
for (const element of all("[autofocus]")) find("autofocus", element);
const VALID = {
  "aria-sort": ["ascending", "descending", "none", "other"],
  "aria-current": ["page", "step", "location", "date", "time", "true", "false"],
  "aria-live": ["polite", "assertive", "off"],
  "aria-hidden": ["true", "false"],
  "aria-expanded": ["true", "false"],
  "aria-pressed": ["true", "false", "mixed"],
  "aria-invalid": ["true", "false", "grammar", "spelling"],
};
const ANY = [
  "aria-label",
  "aria-keyshortcuts",
  "aria-valuetext",
  "aria-description",
  "aria-roledescription",
];
const IDS = ["aria-labelledby", "aria-describedby", "aria-controls", "aria-owns", "aria-details"];
for (const element of all("*")) {
  for (const { name, value } of element.attributes) {
    if (!name.startsWith("aria-") || ANY.includes(name)) continue;
    if (IDS.includes(name)) {
      for (const id of value.split(/\s+/))
        if (!document.getElementById(id)) find(`${name} names ${id}, which is not there`, element);
    } else if (!(name in VALID)) find(`${name} is not known`, element);
    else if (!VALID[name].includes(value)) find(`${name} cannot be ${value}`, element);
  }
  if (element.closest("[aria-hidden=true]") && element.matches(FOCUSABLE))
    find("a hidden element takes the focus", element);
}
for (const head of all("[aria-sort]"))
  if (head.tagName !== "TH") find("aria-sort outside of a header", head);
for (const outer of all("a[href], button, label"))
  if (
    outer.querySelector(
      outer.tagName === "LABEL" ? "a[href], button" : "a[href], button, input, select, textarea",
    )
  )
    find("a control inside a control", outer);
