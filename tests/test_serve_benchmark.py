"""The benchmark of the server: its bodies, its load, its rows, and the part of the page."""

import http.client
import json
import shutil
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from types import SimpleNamespace

import pytest
from benchmarks import (
    serve,
    serve_bodies as bodies,
    serve_load,
    serve_processes as processes,
    serve_runs as runs,
    serve_section as section,
)
from benchmarks.result import Result
from benchmarks.serve_load import Load

needs_wrk = pytest.mark.skipif(shutil.which("wrk") is None, reason="wrk is not installed")
needs_server = pytest.mark.skipif(
    find_spec("uvicorn") is None or not sys.platform.startswith("linux"),
    reason="needs the extra `serve`, and processes in /proc",
)


def result(rows, **conditions):
    given = {
        "n": 10**6,
        "rounds": 3,
        "seconds": 10,
        "workers": 2,
        "threshold": 0.8,
        "peer_seconds": 300,
        "sync_microseconds": 200.0,
        "absent": {},
    }
    return Result.of(runs.BENCHMARK, [], {}, {**given, **conditions}, rows)


def load_row(name, tool=runs.SERVER, n=runs.MILLION, **more):
    return {
        "tool": tool,
        "row": name,
        "n": n,
        "connections": 16,
        "requests": 30_000,
        "requests_per_second": 3_000.0,
        "p50_milliseconds": 2.5,
        "p90_milliseconds": 5.0,
        "p99_milliseconds": 24.0,
        "max_milliseconds": 40.0,
        "errors": 0,
        "statuses": {},
        "marked": 0.505,
        "server_cpu_microseconds": 400.0,
        "server_cores": 1.5,
        **more,
    }


def add_row(name, tool, rate, n=runs.MILLION):
    return {"tool": tool, "row": name, "n": n, "seconds": n / rate, "documents_per_second": rate}


def test_pages_are_half_new_half_edited_and_have_ids_of_their_own():
    given = list(bodies.mixed(500, 40, 1))
    assert len({each["id"] for each in given}) == len({each["text"] for each in given}) == 40
    stored = [set(_shingles(each["text"])) for each in bodies.stored(500)]
    for each in given:
        mine = set(_shingles(each["text"]))
        nearest = max(len(mine & other) / len(mine | other) for other in stored)
        assert nearest > 0.7 if each["id"].startswith("edited") else nearest < 0.3
    assert given == list(bodies.mixed(500, 40, 1))
    assert not {each["text"] for each in given} & {
        each["text"] for each in bodies.mixed(500, 40, 2)
    }


def _shingles(text):
    words = text.split()
    return zip(words, words[1:], words[2:], strict=False)


def test_bodies_are_read_back(tmp_path):
    batches = bodies.batches(bodies.stored(25), 10)
    assert bodies.write_bodies(tmp_path / "bodies", batches) == 3
    read = [json.loads(body)["documents"] for body in bodies.read_bodies(tmp_path / "bodies")]
    assert [len(batch) for batch in read] == [10, 10, 5]
    assert [each for batch in read for each in batch] == list(bodies.stored(25))
    bodies.write_lines(tmp_path / "lines", bodies.stored(25))
    lines = (tmp_path / "lines").read_bytes().splitlines()
    assert [json.loads(line) for line in lines] == list(bodies.stored(25))


@pytest.fixture
def odd_server():
    """Answers every third request with 503, and every other one with its own path as JSON."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_POST(self):
            seen.append(self.rfile.read(int(self.headers["Content-Length"])))
            said = b'"is_new":true' if b"new-" in seen[-1] else b"{}"
            self.send_response(503 if len(seen) % 3 == 0 else 200)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        yield SimpleNamespace(url=url, port=server.server_port, cpu_seconds=float, seen=seen)
        server.shutdown()


@needs_wrk
def test_load_sends_the_bodies_and_counts_every_other_status(tmp_path, odd_server):
    made = list(bodies.mixed(1_000, 20, 1))
    bodies.write_bodies(tmp_path / "bodies", made)
    load = Load("/check", tmp_path / "bodies", 1, True, 0, '"is_new":true')
    row = serve_load.run(odd_server, load, 1)
    assert {each["id"] for each in map(json.loads, odd_server.seen)} == {e["id"] for e in made}
    assert abs(row["errors"] - len(odd_server.seen) / 3) <= 1
    assert row["statuses"] == {"503": row["errors"]}
    assert row["marked"] == pytest.approx(1 / 3, abs=0.05)
    assert 0 < row["p50_milliseconds"] <= row["p99_milliseconds"] <= row["max_milliseconds"]


@needs_wrk
def test_load_that_must_not_repeat_itself_says_so(tmp_path, odd_server):
    bodies.write_bodies(tmp_path / "bodies", bodies.mixed(1_000, 4, 1))
    with pytest.raises(SystemExit, match="too few bodies for /check: give --most more"):
        serve_load.run(odd_server, Load("/check", tmp_path / "bodies", 1), 1)


def test_benchmark_says_what_is_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    serve.main(["--small", "--out", str(tmp_path)])
    assert "not measured: wrk is not installed: apt install wrk" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_targets_are_judged():
    measured = result(
        [
            load_row(runs.CHECK, p99_milliseconds=26.0),
            load_row(runs.QUERY, requests_per_second=3_100.0),
            load_row(runs.BATCHES, documents_per_second=30_000.0, errors=1),
            add_row(runs.BULK, runs.SERVER, 21_000.0),
            add_row(runs.ADD_ARROW, runs.LIBRARY, 41_000.0),
        ]
    )
    judged = list(section.targets(measured))
    assert [target.met for target in judged] == [True, False, True, True, True, False, False]
    assert [target.measured for target in judged][3:6] == ["21,000/s", "1.95 ×", "9.68 ×"]
    assert {target.met for target in section.targets(result([]))} == {None}


def test_targets_are_those_of_a_million_documents():
    small = result([load_row(name, n=10_000, errors=0) for name in (runs.CHECK, runs.QUERY)])
    assert [target.met for target in section.targets(small)] == [None] * 6 + [True]


def test_section_has_rows_of_all_tools():
    peer = runs.MINHASH
    text = section.section(
        result(
            [
                load_row(runs.QUERY),
                load_row(runs.QUERY, peer, 90_000, stopped="stopped after 300 seconds"),
                add_row(runs.BULK, runs.SERVER, 21_000.0),
            ],
            absent={runs.SIMHASH: "simhash not installed"},
        )
    )
    row = (
        "| **neardup serve** | query | 1,000,000 | 3,000 | 3,000 | 2.50 | 24.00 | 400 | 0 | 0.99 |"
    )
    assert row in text
    assert "| FastAPI + datasketch | query | 90,000 | 3,000 |" in text
    assert "| **neardup serve** | bulk add | 1,000,000 | 21,000 |" in text
    assert "FastAPI + datasketch was stopped after 300 seconds, with 90,000 documents" in text
    assert "FastAPI + simhash was left out: simhash not installed" in text


def soak_rows(minutes=30, kills=50, growth=0.01, lost=0, up=0.8):
    load = {
        "part": section.SOAK_LOAD,
        "minutes": minutes,
        "requests": 3_000,
        "kinds": {"check": 1_000, "query, batch": 2_000},
        "refused": 3,
        "unexpected": 0,
        "acknowledged": 5_000,
        "lost": 0,
        "documents": 20_000,
        "memory_field": "Pss_Anon",
        "memory_megabytes_first": 200.0,
        "memory_megabytes_last": 202.0,
        "growth": growth,
    }
    killed = {
        "part": section.SOAK_KILLS,
        "kills": kills,
        "acknowledged": 9_000,
        "lost": lost,
        "up_seconds": {"worker": [0.1, 0.3, 0.2], "server": [up, 0.5]},
    }
    return [load, killed]


def test_soak_is_judged():
    def judged(**given):
        return [target.met for target in section.soak_targets(result(soak_rows(**given)))]

    assert judged() == [True] * 4
    assert judged(growth=0.06, lost=1, up=1.1) == [True, False, False, False]
    assert judged(minutes=2, kills=3) == [None] * 4
    text = section.soak_section(result(soak_rows()))
    assert "3,000 requests: `check` 1,000, `query, batch` 2,000. 3 were refused" in text
    assert "| worker | 3 | 0.20 | 0.30 |" in text


@needs_server
@pytest.mark.parametrize("tool", list(runs.PEERS))
def test_peer_recognises_what_it_was_given(tool, tmp_path):
    if why := serve._absent(tool):
        pytest.skip(why)
    server = processes.start_peer(runs.PEERS[tool], tmp_path / "log")
    try:
        first, second, third = bodies.stored(3)
        batch = {"documents": [first, second]}
        assert serve_load.call(server.port, "POST", "/documents", batch) == {"stored": 2}
        again = {**first, "id": "again"}
        assert serve_load.call(server.port, "POST", "/query", again)["matches"] == [first["id"]]
        answers = [
            serve_load.call(server.port, "POST", "/check", each)["is_new"]
            for each in (third, {**third, "id": "again"}, again)
        ]
        assert answers == [True, False, False]
        many = serve_load.call(server.port, "POST", "/query_many", {"documents": [second, third]})
        found = [each["matches"] for each in many["results"]]
        assert found == [[second["id"]], [third["id"]]]
    finally:
        server.stop()
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        serve_load.call(server.port, "POST", "/query", again)


@needs_wrk
@needs_server
def test_a_small_run_has_all_rows(tmp_path):
    serve.main(["--small", "--parts", "library", "server", "--out", str(tmp_path)])
    measured = Result.load(runs.BENCHMARK, tmp_path)
    ours = [row for row in measured.rows if row["tool"] == runs.SERVER]
    assert [row["row"] for row in ours] == [runs.BULK, *runs.LOADS]
    assert sum(row.get("errors", 0) for row in ours) == 0
    for name in (runs.CHECK, runs.QUERY):
        row = measured.row(tool=runs.SERVER, row=name)
        assert row.keys() == load_row(name).keys()
        assert section._found(row) > 0.95
    library = [row["row"] for row in measured.rows if row["tool"] == runs.LIBRARY]
    assert library == [runs.ADD_ARROW, runs.ADD_LINES]
    assert "| **neardup serve** | check, paced |" in section.section(measured)
