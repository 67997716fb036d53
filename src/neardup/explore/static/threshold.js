// The slider: shows the row of the table at the chosen threshold, and moves the mark in the plot.
function readRows(table) {
  return [...table.tBodies[0].rows].map((row) => ({
    element: row,
    threshold: Number(row.dataset.threshold),
    name: row.dataset.threshold,
    figures: new Map(
      [...row.querySelectorAll("[data-name]")].map((cell) => [cell.dataset.name, cell.textContent.trim()]),
    ),
  }));
}

const whole = (figure) => (figure === "–" ? null : Number(figure.replaceAll(",", "")));

function change(figure, before) {
  const [now, then] = [whole(figure), whole(before)];
  if (now === null || then === null || now === then) return "";
  const sign = now > then ? "+" : "−";
  return sign + Math.abs(now - then).toLocaleString("en");
}

function moveMarker(marker, threshold) {
  const { low, high, left, right } = Object.fromEntries(
    Object.entries(marker.dataset).map(([name, value]) => [name, Number(value)]),
  );
  const x = left + ((threshold - low) / (high - low)) * (right - left);
  marker.setAttribute("transform", `translate(${x.toFixed(1)})`);
}

function setUp(table, input) {
  const rows = readRows(table);
  const now = rows[Number(table.dataset.base)];
  const marker = document.getElementById("threshold-marker");
  const nearest = (wanted) =>
    rows.reduce((best, row) =>
      Math.abs(row.threshold - wanted) < Math.abs(best.threshold - wanted) ? row : best,
    );
  const show = (row) => {
    for (const each of rows) each.element.removeAttribute("aria-current");
    row.element.setAttribute("aria-current", "true");
    for (const place of document.querySelectorAll("[data-chosen]")) place.textContent = row.name;
    for (const [name, figure] of row.figures) {
      document.querySelector(`[data-figure="${name}"]`).textContent = figure;
      const said = document.querySelector(`[data-change="${name}"]`);
      if (said) said.textContent = change(figure, now.figures.get(name));
    }
    if (marker) moveMarker(marker, row.threshold);
    input.setAttribute("aria-valuetext", row.name);
  };
  input.addEventListener("input", () => show(nearest(Number(input.value))));
  // An address to keep, once the slider rests.
  input.addEventListener("change", () => {
    const address = new URL(location.href);
    address.searchParams.set("at", nearest(Number(input.value)).name);
    history.replaceState(null, "", address);
  });
  input.form.addEventListener("submit", (event) => event.preventDefault());
  // A browser that goes back restores the slider, but not what it showed.
  show(nearest(Number(input.value)));
}

const table = document.getElementById("thresholds");
const input = document.getElementById("at");
if (table && input) setUp(table, input);
