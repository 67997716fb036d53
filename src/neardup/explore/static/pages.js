// Keys of the pages on which documents are decided, and the buttons that copy a command.
import { onKeys } from "./explore.js";

// The element that a key stands for has data-key; pressing the key clicks it.
let isLeaving = false;
const handlers = {};
for (const element of document.querySelectorAll("[data-key]")) {
  handlers[element.dataset.key] ??= (event) => {
    if (event.repeat || isLeaving) return;
    element.click();
  };
}
const keys = document.getElementById("keys");
if (keys) {
  handlers["?"] = () => {
    keys.open = !keys.open;
    if (keys.open) keys.scrollIntoView({ block: "nearest" });
  };
}
onKeys(handlers);

// A second click on a form that is being sent would decide twice.
document.addEventListener("submit", (event) => {
  if (isLeaving) event.preventDefault();
  isLeaving = true;
});
addEventListener("pageshow", () => {
  isLeaving = false;
});

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });
}
