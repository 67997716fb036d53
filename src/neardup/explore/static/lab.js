// An experiment that updates as one types: the server computes, the page shows it.
const WAIT = 180; // milliseconds without a key, before the server is asked
const FRAME = 120; // milliseconds between two iterations that are played

const form = document.querySelector("form.lab");
const shown = document.getElementById("shown");
const said = document.getElementById("said");
const stale = document.getElementById("stale");
let timer = 0;
let asking = null;

function request() {
  // Empty fields are sent too: an optional one that was cleared is not as by default.
  const named = [...form.elements].filter((field) => field.name);
  const fields = new URLSearchParams(named.map((field) => [field.name, field.value]));
  const signal = asking.signal;
  if (form.dataset.method === "GET") return fetch(`${form.dataset.answers}?${fields}`, { signal });
  fields.set("token", form.dataset.token);
  return fetch(form.dataset.answers, { method: "POST", body: fields, signal });
}

// Beside each field, what is wrong with it.
function showErrors(errors) {
  for (const place of form.querySelectorAll("[data-wrong]")) {
    const sentence = errors[place.dataset.wrong] ?? "";
    place.textContent = sentence;
    place.hidden = !sentence;
    const field = form.elements[place.dataset.wrong];
    if (sentence) field?.setAttribute("aria-invalid", "true");
    else field?.removeAttribute("aria-invalid");
  }
}

// Replace the result; what was unfolded stays so.
function replaceShown(html) {
  const unfolded = [...shown.querySelectorAll("details[open]")].map((each) => each.id);
  shown.innerHTML = html;
  for (const id of unfolded) document.getElementById(id)?.setAttribute("open", "");
}

function show(answer) {
  showErrors(answer.errors);
  const wrong = Object.keys(answer.errors).length > 0;
  stale.hidden = !wrong;
  const cut = document.getElementById("cut");
  if (cut) cut.hidden = answer.whole;
  if (wrong) {
    said.textContent = Object.values(answer.errors)[0];
    return;
  }
  replaceShown(answer.html);
  said.textContent = answer.summary;
  history.replaceState(null, "", answer.address);
  fitSteps();
}

async function update() {
  asking?.abort();
  const mine = (asking = new AbortController());
  try {
    const response = await request();
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    const answer = await response.json();
    if (mine === asking) show(answer);
  } catch (error) {
    if (error.name === "AbortError") return;
    stale.hidden = false;
    stale.textContent = `This could not be updated (${error.message}); is neardup still running?`;
  }
}

function updateSoon() {
  clearTimeout(timer);
  timer = setTimeout(update, WAIT);
}

// The slider ends where the lines rest, which depends on their number.
function fitSteps() {
  const place = shown.querySelector("[data-steps]");
  const slider = form.elements.step;
  if (!place || !slider) return;
  slider.max = place.dataset.steps;
  slider.value = place.dataset.step;
  showOutput(slider);
}

function showOutput(slider) {
  const output = form.querySelector(`output[for="${slider.id}"]`);
  if (output) output.textContent = slider.value;
}

function setUpPlay(button) {
  const slider = form.elements.step;
  let playing = false;
  const stop = () => {
    playing = false;
    button.textContent = "Play";
    button.setAttribute("aria-pressed", "false");
  };
  const advance = async () => {
    while (playing && Number(slider.value) < Number(slider.max)) {
      // Small steps where much happens, at the start.
      const step = Number(slider.value);
      slider.value = step + Math.max(1, Math.floor(step / 12));
      showOutput(slider);
      await Promise.all([update(), new Promise((done) => setTimeout(done, FRAME))]);
    }
    stop();
  };
  button.addEventListener("click", () => {
    if (playing) return stop();
    if (slider.value === slider.max) slider.value = 0;
    playing = true;
    button.textContent = "Pause";
    button.setAttribute("aria-pressed", "true");
    advance();
  });
  slider.addEventListener("pointerdown", stop);
}

if (form) {
  for (const area of form.querySelectorAll("textarea")) area.maxLength = Number(area.dataset.most);
  form.addEventListener("input", (event) => {
    if (event.target.type === "range") showOutput(event.target);
    updateSoon();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    update();
  });
  const play = document.getElementById("play");
  if (play) setUpPlay(play);
}
