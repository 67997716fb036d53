"""A run to look at, and the requests of a browser without a browser."""

from __future__ import annotations

import json
import re
from html import unescape
from urllib.parse import parse_qs, unquote, urlsplit

import neardup as nd
from neardup.explore.app import Explorer
from neardup.explore.http import Request
from neardup.runs import open_run

HOST = "127.0.0.1:7800"
MOST = 100_000  # bytes of a page


def varied(*changes: str, length: int = 60, family: str = "word") -> str:
    """A text of words; each change replaces one of them."""
    words = [f"{family}{place}" for place in range(length)]
    for place, change in enumerate(changes):
        words[7 + 11 * place] = change
    return " ".join(words)


ROWS = [
    {"id": "a", "text": varied(), "lang": "en", "year": 2020},
    {"id": "b", "text": varied("red"), "lang": "en", "year": 2021},
    {"id": "c", "text": varied("red", "green"), "lang": "de", "year": 2020},
    {"id": "d", "text": varied(), "lang": "en", "year": 2020},
    {"id": "e", "text": "a text of its own that nothing else resembles at all", "lang": "en"},
]


def visits(routes):
    """A function that asks for pages other than those of a run."""
    explorer = Explorer(None, routes=routes)

    def visit(address, status=200):
        parts = urlsplit(address)
        query = parse_qs(parts.query, keep_blank_values=True)
        response = explorer.respond(Request("GET", parts.path, query, {"host": HOST}))
        assert response.status == status
        return response.body.decode()

    return visit


class Browser:
    """Pages of a run; `cookie` is sent with each request."""

    def __init__(self, path, **explorer):
        self.run = open_run(path)
        self.explorer = Explorer(self.run, **{"reviewer": "ann", **explorer})
        self.cookie = ""

    def get(self, address):
        """The page of an address as a person would type it, or as a link has it."""
        parts = urlsplit(address)
        query = parse_qs(parts.query, keep_blank_values=True)
        headers = {"host": HOST, "cookie": self.cookie}
        return self.explorer.respond(Request("GET", unquote(parts.path), query, headers))

    def page(self, address, status=200):
        """The text of a page that must fit."""
        answer = self.get(address)
        assert answer.status == status, answer.body.decode()
        assert len(answer.body) <= MOST
        return answer.body.decode()

    def post(self, path, **fields):
        form = {
            name: value if isinstance(value, list) else [value] for name, value in fields.items()
        }
        form.setdefault("token", [self.explorer.site.token])
        headers = {"host": HOST, "origin": f"http://{HOST}", "cookie": self.cookie}
        return self.explorer.respond(Request("POST", path, {}, headers, form))

    def decide(self, says, *ids, **fields):
        """Decide on documents by id, as the form of a page does."""
        places = [str(self.run.find(str(id))) for id in ids]
        answer = self.post("/decisions", says=says, documents=places, **fields)
        assert answer.status == 303, answer.body.decode()
        return answer

    def stored(self):
        """The lines of decisions.jsonl."""
        path = self.run.path / "decisions.jsonl"
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def browse(folder, rows=ROWS, *, explorer=None, **settings):
    """Deduplicate rows in memory, save the run, and look at it."""
    source = folder / "rows.jsonl"
    with source.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    out = folder / "out"
    nd.dedup(str(source), **{"threshold": 0.6, "pairs": "all", **settings}).save(out)
    return Browser(out, **(explorer or {}))


def text_of(page):
    """The words of a page without its markup."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", page)))


def links(page):
    return [unescape(found) for found in re.findall(r'<a\b[^>]*href="([^"]*)"', page)]
