"""Requests of a browser to the pages under /explore, and what there is to see."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import httpx
from tests.service.running import until

POLICY = "default-src 'none'; style-src 'self'; script-src 'self'"
EVIL = "<script>alert(1)</script>"
MOST = 100_000  # bytes of a page


def varied(*changes: str) -> str:
    """A text of sixty words; each change replaces one of them."""
    words = [f"word{place}" for place in range(60)]
    for place, change in enumerate(changes):
        words[7 + 11 * place] = change
    return " ".join(words)


ROWS: list[dict[str, Any]] = [
    {"id": "a", "text": varied()},
    {"id": "b", "text": varied("red")},
    {"id": "c/1", "text": varied("red", "green")},
    {"id": "d", "text": varied()},
    {"id": EVIL, "text": f"a text of its own, {EVIL} \u202e and more"},
]


def write_rows(data: Path, name: str = "rows.jsonl") -> str:
    """A file in the data folder; its path from there."""
    (data / "corpus").mkdir(exist_ok=True, parents=True)
    path = data / "corpus" / name
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return f"corpus/{name}"


def run_job(client: httpx.Client, inputs: str, kind: str = "dedup", **settings: Any) -> Any:
    """Run a job to its end."""
    request = {"kind": kind, "inputs": [inputs], "settings": settings}
    made = client.post("/v1/jobs", json=request)
    assert made.status_code == 202, made.text
    path = f"/v1/jobs/{made.json()['id']}"

    def ended() -> Any:
        job = client.get(path).json()
        return None if job["state"] in ("queued", "running") else job

    return until(ended, "the end of the job")


def dedup(client: httpx.Client, data: Path, **settings: Any) -> str:
    """The id of a job that has deduplicated the rows."""
    job = run_job(client, write_rows(data), **{"threshold": 0.6, "pairs": "all", **settings})
    assert job["state"] == "done", job
    return str(job["id"])


def shown(client: httpx.Client, path: str, status: int = 200, **options: Any) -> str:
    """The text of a page, whose headers are right."""
    answer = client.get(path, **options)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-security-policy"].startswith(POLICY)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert len(answer.content) <= MOST
    assert "<script>alert" not in answer.text
    return answer.text


def words_of(page: str) -> str:
    """What a person reads."""
    body = page[page.index("<main") : page.index("</main>")]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", body)))


def token_of(page: str) -> str:
    found = re.search(r'name="token" value="([^"]+)"', page)
    assert found is not None, "the page has no form"
    return found[1]


def post(client: httpx.Client, path: str, form: dict[str, Any], **headers: str) -> httpx.Response:
    """Send a form as a browser does."""
    origin = {"origin": str(client.base_url).rstrip("/"), **headers}
    return client.post(path, data=form, headers=origin)


def decide(client: httpx.Client, job: str, says: str = "different") -> dict[str, Any]:
    """The form that decides on the documents b and a of a run."""
    base = f"/explore/jobs/{job}"
    page = client.get(f"{base}/compare?a=a&b=b").text
    places = re.findall(r'name="documents" value="(\d+)"', page)
    assert len(places) == 2
    return {"token": token_of(page), "says": says, "documents": places, "next": f"{base}/decisions"}


def decisions(data: Path, job: str) -> list[dict[str, Any]]:
    path = data / "jobs" / job / "result" / "decisions.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def make_news(client: httpx.Client) -> str:
    """The page of an index with stored texts; one id is a number and, elsewhere, a text."""
    settings = {"store_text": True, "threshold": 0.5}
    client.put("/v1/indexes/news", json=settings).raise_for_status()
    documents = [{**row, "metadata": {"lang": "en", "by": EVIL}} for row in ROWS]
    documents += [{"id": 7, "text": "the number seven"}, {"id": "7", "text": "the word seven"}]
    added = client.post("/v1/indexes/news/documents", json={"documents": documents})
    added.raise_for_status()
    return "/explore/indexes/news"
