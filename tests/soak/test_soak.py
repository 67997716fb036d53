"""Short forms of the soak, and that its callers notice what is wrong; `make soak` is the long one.

The soak runs in a process of its own, because it starts others.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from benchmarks.result import Result
from tests.soak import hostile
from tests.soak.caller import Caller
from tests.soak.connection import JSON
from tests.soak.load import medians
from tests.soak.outcome import compare_stored

import neardup as nd

ROOT = Path(__file__).parents[2]
needs_server = pytest.mark.skipif(
    find_spec("uvicorn") is None or not sys.platform.startswith("linux"),
    reason="needs the extra `serve`, and processes in /proc",
)


@needs_server
@pytest.mark.parametrize("words", [["--minutes", "0.05"], ["--kills", "3"]], ids=["load", "kills"])
def test_short_form(words, tmp_path):
    options = [*words, "--documents", "1600", "--seed", "1", "--out", str(tmp_path)]
    ran = subprocess.run(
        [sys.executable, "-m", "tests.soak", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    # The time to be up is the machine's, and other tests run beside this one.
    found = [
        line
        for line in ran.stderr.splitlines()
        if line.startswith("FINDING") and " s to be up" not in line
    ]
    assert not found, ran.stderr
    (row,) = Result.load("soak", tmp_path).rows
    assert row["acknowledged"] > 1_000
    assert row["lost"] == 0


@pytest.fixture
def liar():
    """A server that answers writes as if it stored them, and `lies` to everything else."""
    lies = {"status": 200}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet, for which nobody waits

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            path = urlsplit(self.path).path
            if path.endswith("/documents") and "ndjson" in self.headers["Content-Type"]:
                self._say(b"".join(self._stored(body)))
            elif path.endswith("/query"):
                documents = json.loads(body).get("documents")
                none = {"matches": []}
                self._say(none if documents is None else {"results": [none] * len(documents)})
            else:
                self._say({"code": "internal"})

        def do_GET(self):
            self._say({"code": "internal"})

        def _stored(self, body):
            for number, line in enumerate(body.splitlines(), 1):
                try:
                    told = {"line": number, "id": json.loads(line)["id"], "stored": True}
                except ValueError:
                    told = {"line": number, "error": {"code": "invalid_json"}}
                yield json.dumps(told).encode() + b"\n"

        def _say(self, said):
            is_lines = isinstance(said, bytes)
            content = said if is_lines else json.dumps(said).encode()
            self.send_response(lies["status"])
            self.send_header("Content-Type", "application/x-ndjson" if is_lines else JSON)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_port, lies
        server.shutdown()


def test_document_that_was_acknowledged_and_is_not_found_is_lost(liar):
    caller = Caller("a", liar[0], 400, may_break=False)
    caller._add_lines()
    assert not caller.findings
    assert caller.counted["acknowledged"] == len(caller.live) == 200
    caller.verify()
    assert caller.counted["lost"] == 200
    assert "a query does not find a/0, and get finds it" in caller.findings[0]


def test_deleted_document_that_is_there_is_lost(liar):
    caller = Caller("a", liar[0], 400, may_break=True)
    caller._gone.append("a/1")
    caller.verify()
    assert caller.findings == ["a: a/1 was deleted, and is there"]


def test_part_of_a_change_is_lost(liar, monkeypatch):
    caller = Caller("a", liar[0], 400, may_break=True)
    caller._unknown.append((["a/1", "a/2"], True))
    caller._unknown.append((["a/3", "a/4"], False))
    monkeypatch.setattr(caller, "_is_there", lambda id: id in ("a/1", "a/3"))
    monkeypatch.setattr(caller, "_verify_live", lambda: None)
    caller.verify()
    assert caller.findings == ["a: 1 of 2 documents of one change are there: ['a/1', 'a/2']"]
    assert list(caller.live) == ["a/1", "a/3"]


@pytest.mark.parametrize("status", [500, 404])
def test_status_that_is_not_expected_is_a_finding(liar, status):
    port, lies = liar
    caller = Caller("a", port, 400, may_break=False)
    lies["status"] = status
    caller.run(threading.Event())
    assert f"gave {status}" in caller.findings[0]


def test_refusal_is_repeated_until_the_load_ends_and_must_say_when_to_come_back(liar):
    port, lies = liar
    caller = Caller("a", port, 400, may_break=False)
    lies["status"] = 503
    stop = threading.Event()
    stop.set()
    caller.maintain("expire", stop)
    assert caller.counted["refused: 503 internal"] == 1
    assert "503 without Retry-After" in caller.findings[0]


def test_broken_connection_is_a_finding_unless_something_is_killed(liar):
    port, _ = liar
    request, allowed = hostile.requests()["no HTTP"]
    assert hostile.send(port, request, True) in allowed
    for may_break in (False, True):
        caller = Caller("a", 9, 400, may_break)
        stop = threading.Event()
        stop.set()
        caller.maintain("compact", stop)
        assert bool(caller.findings) != may_break
        assert caller.counted["broken connections"] == 1


def test_growth_is_of_medians():
    assert medians([1, 1, 9, 2, 2, 2]) == [1, 1, 9, 2, 2, 2]
    values = [1.0] * 100
    values[5] = 50
    assert medians(values) == [1.0] * 10


def test_ids_of_the_index_are_compared(tmp_path):
    (tmp_path / "indexes").mkdir()
    with nd.Index(tmp_path / "indexes" / "pages", threshold=0.8) as index:
        index.add_many([("a", "one two three"), ("b", "four five six"), ("short-c", "x y z")])
    assert compare_stored(tmp_path, {"a", "b"}) == []
    missing, more = compare_stored(tmp_path, {"a", "c"})
    assert "1 documents are not in the index: ['c']" in missing
    assert "1 documents should not be in the index: ['b']" in more
