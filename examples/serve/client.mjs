// Seen before? From JavaScript (Node 18 or later, no packages), against a server started with:
// neardup serve data
//
//     node examples/serve/client.mjs [http://127.0.0.1:7700]
//
// A server with keys wants NEARDUP_KEY in the environment.
import { readFile } from "node:fs/promises";

const url = process.argv[2] ?? "http://127.0.0.1:7700";
const key = process.env.NEARDUP_KEY;
const pages = `${url}/v1/indexes/javascript-example`;

// Send a body, and return the answer. A full queue (429) or a restart (503) is waited for: a check
// with an id can be repeated.
async function post(address, body, type = "application/json", attempts = 5) {
  const headers = { "Content-Type": type, ...(key && { Authorization: `Bearer ${key}` }) };
  const answer = await fetch(address, { method: "POST", headers, body });
  if ([429, 503].includes(answer.status) && attempts > 1) {
    const seconds = Number(answer.headers.get("Retry-After") ?? 1);
    await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
    return post(address, body, type, attempts - 1);
  }
  if (!answer.ok) {
    const problem = await answer.json();
    throw new Error(`${problem.code}: ${problem.detail}`);
  }
  return answer;
}

// One document. The first request makes the index, with default settings.
const notice = "Unser Sportverein sucht für die Kinder von sechs bis acht Jahren eine Trainerin mit viel Geduld.";
for (const [id, text] of [["notice", notice], ["reposted", notice.toUpperCase() + "!!"]]) {
  const verdict = await (await post(`${pages}/check?create=true`, JSON.stringify({ id, text }))).json();
  const seen = verdict.match && `seen: ${verdict.match.id}, similarity ${verdict.match.similarity}`;
  console.log(`${id} is ${verdict.is_new ? "new" : seen}`);
}

// Many documents: a line each, and an answer line for each as soon as it is known.
const sample = await readFile(new URL("../sample.jsonl", import.meta.url), "utf8");
const lines = sample.trim().split("\n").map((line) => {
  const { id, text, lang } = JSON.parse(line);
  return JSON.stringify({ id, text, metadata: { lang } });
});
const answer = await post(`${pages}/check`, lines.join("\n"), "application/x-ndjson");

let rest = "";
let documents = 0;
const duplicates = {};
for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
  const whole = (rest + piece).split("\n");
  rest = whole.pop();
  for (const verdict of whole.map((line) => JSON.parse(line))) {
    if (verdict.error) throw new Error(`line ${verdict.line}: ${verdict.error.detail}`);
    documents += 1;
    if (!verdict.is_new) {
      const lang = verdict.match.metadata?.lang ?? "?";
      duplicates[lang] = (duplicates[lang] ?? 0) + 1;
    }
  }
}
const counts = Object.entries(duplicates).sort().map(([lang, count]) => `${count} ${lang}`);
console.log(`${documents} documents streamed; near-duplicates: ${counts.join(", ")}`);
