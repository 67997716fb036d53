"""Metrics, the log, request ids, and the headers that keep hostile documents harmless."""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
from functools import partial
from typing import NamedTuple

import httpx
import pyarrow as pa
import pytest
from tests.service.bad_requests import ARROW, arrow
from tests.service.conftest import make_index
from tests.service.running import PATIENCE, Server, kill, ndjson, received, replaced, texts, until

from neardup.service.log import Log

NDJSON = {"Content-Type": "application/x-ndjson"}
_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_SAMPLE = re.compile(rf"({_NAME})(?:\{{(.*)\}})? (\S+)")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"')


class Sample(NamedTuple):
    name: str
    labels: frozenset[tuple[str, str]]


def parsed(text: str) -> tuple[dict[str, str], dict[Sample, float]]:
    """Prometheus' text form: the kinds of the families, and the samples; strictly."""
    kinds: dict[str, str] = {}
    helped: set[str] = set()
    samples: dict[Sample, float] = {}
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            _, _, name, about = line.split(" ", 3)
            assert name not in helped
            assert about
            helped.add(name)
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name in helped
            assert name not in kinds
            kinds[name] = kind
        else:
            match = _SAMPLE.fullmatch(line)
            assert match, line
            labels = _LABEL.findall(match[2] or "")
            assert ",".join(f'{key}="{value}"' for key, value in labels) == (match[2] or "")
            family = re.sub(r"_(bucket|sum|count)$", "", match[1])
            family = family if kinds.get(family) == "histogram" else match[1]
            assert family in kinds, line
            sample = Sample(match[1], frozenset(labels))
            assert sample not in samples, line
            samples[sample] = float(match[3])
    return kinds, samples


def metrics(server: Server) -> tuple[dict[str, str], dict[Sample, float]]:
    answer = server.client.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return parsed(answer.text)


def value(server: Server, name: str, **labels: str) -> float:
    return metrics(server)[1].get(Sample(f"neardup_{name}", frozenset(labels.items())), 0.0)


def test_metrics_count_what_was_done(server, client, index):
    route = "POST /v1/indexes/{name}/check"
    names = (
        *("documents_checked_total", "documents_added_total", "matches_total"),
        *("documents_queried_total", "documents_deleted_total", "received_bytes_total"),
    )
    before = {name: value(server, name) for name in names}
    requests = value(server, "requests_total", route=route, status="200")
    wrong = value(server, "requests_total", route=route, status="422")
    body = {"documents": [{"id": 1, "text": "a b c d"}, {"id": 2, "text": "a b c d"}]}
    client.post(f"{index}/check", json=body)
    client.post(f"{index}/check?add=never", json=body)
    client.post(f"{index}/check?limit=0", json=body)
    client.post(f"{index}/query", json={"text": "a b c d"})
    client.post(f"{index}/documents", json={"id": 3, "text": "x y z"})
    client.post(f"{index}/documents", content=ndjson([{"id": 4, "text": "u v w"}]), headers=NDJSON)
    client.post(f"{index}/documents/delete", json={"ids": [3, 4, 5]})
    grown = {name: value(server, name) - before[name] for name in names}
    assert grown["documents_checked_total"] == 4
    assert grown["documents_added_total"] == 3
    assert grown["documents_queried_total"] == 1
    assert grown["documents_deleted_total"] == 2
    assert grown["matches_total"] == 3  # 2 like 1; with add=never 2 like 1 only; the query
    assert grown["received_bytes_total"] > 200
    assert value(server, "requests_total", route=route, status="200") == requests + 2
    assert value(server, "requests_total", route=route, status="422") == wrong + 1
    name = index.rpartition("/")[2]
    assert value(server, "index_documents", index=name) == 1
    assert value(server, "index_bytes", index=name) > 0
    assert value(server, "requests_in_progress") == 1  # this one


def test_histograms_are_whole(server, client, index):
    client.post(f"{index}/check", json={"id": 1, "text": "a b c d"})
    kinds, samples = metrics(server)
    histograms = [name for name, kind in kinds.items() if kind == "histogram"]
    assert "neardup_request_seconds" in histograms
    assert "neardup_commit_seconds" in histograms
    for name in histograms:
        groups: dict[frozenset[tuple[str, str]], list[tuple[float, float]]] = {}
        for sample, count in samples.items():
            if sample.name == f"{name}_bucket":
                labels = dict(sample.labels)
                edge = float(labels.pop("le"))
                groups.setdefault(frozenset(labels.items()), []).append((edge, count))
        assert groups
        for labels_left, buckets in groups.items():
            counts = [count for _, count in sorted(buckets)]
            assert sorted(buckets)[-1][0] == float("inf")
            assert counts == sorted(counts)
            assert samples[Sample(f"{name}_count", labels_left)] == counts[-1]
            assert samples[Sample(f"{name}_sum", labels_left)] >= 0


def test_unknown_paths_do_not_make_new_series(server, client):
    """Whoever asks for many paths must not fill the memory of Prometheus."""
    before = len(metrics(server)[1])
    for number in range(30):
        client.get(f"/nothing/{number}")
        client.request(f"METHOD{number}", "/healthz")
    assert len(metrics(server)[1]) <= before + 40  # one route with two statuses and a histogram


def test_counters_never_fall(start):
    """Not when a worker, nor when the writer is killed."""
    server = start("--quiet")
    path = make_index(server.client)
    for number, text in enumerate(texts(20)):
        server.client.post(f"{path}/check", json={"id": number, "text": text})
    for victim in ("nd-worker-1", "nd-writer", "nd-worker-2"):
        kinds, before = metrics(server)
        pids = server.pids()
        kill(pids[victim])
        replaced(server, victim, pids[victim])
        # Until the new process answers, which takes a moment.
        until(lambda: _is_ready(server), "a service that is ready")
        server.client.post(f"{path}/check", json={"id": 99, "text": "a b c"}).raise_for_status()
        _, after = metrics(server)
        for sample, number_before in before.items():
            family = re.sub(r"_(bucket|sum|count)$", "", sample.name)
            if kinds.get(sample.name) == "counter" or kinds.get(family) == "histogram":
                assert after[sample] >= number_before, sample
    assert value(server, "worker_restarts_total") == 2
    assert value(server, "writer_restarts_total") == 1
    assert value(server, "requests_in_progress") == 1


def _is_ready(server: Server) -> bool:
    try:
        return all(httpx.get(f"{server.url}/readyz").status_code == 200 for _ in range(8))
    except httpx.TransportError:
        return False


MARKER = "zanzibar quagmire obelisk xylophone"


def provoke(server: Server) -> None:
    """Requests with the marker in texts and metadata: good ones, wrong ones, broken ones."""
    client = server.client
    path = make_index(client, store_text=True)
    good = {"id": 1, "text": MARKER, "metadata": {"note": MARKER}}
    for kind in ("check", "documents", "query"):
        client.post(f"{path}/{kind}", json=good)
        client.post(f"{path}/{kind}", content=ndjson([good]), headers=NDJSON)
        client.post(f"{path}/{kind}", content=f'{{"text": "{MARKER}'.encode(), headers=NDJSON)
        client.post(f"{path}/{kind}", content=MARKER.encode(), headers=NDJSON)
        client.post(f"{path}/{kind}", json={"id": {"x": MARKER}, "text": MARKER})
        client.post(f"{path}/{kind}", json={"id": 1, "texts": MARKER, MARKER: 1})
        client.post(f"{path}/{kind}", json=MARKER)
        table = pa.table({"id": [1], "text": [MARKER]})
        client.post(f"{path}/{kind}", content=arrow(table), headers={"Content-Type": ARROW})
        client.post(
            f"{path}/{kind}",
            content=f'{{"text": "{MARKER}", broken'.encode(),
            headers={"Content-Type": "application/json"},
        )
        client.post(f"{path}/{kind}", content=MARKER.encode(), headers={"Content-Type": MARKER})
        client.post(
            f"{path}/{kind}",
            content=MARKER.encode(),
            headers={"Content-Type": "application/json", "Content-Encoding": MARKER},
        )
        client.post(f"{path}/{kind}", params={"threshold": MARKER}, json=good)
        client.post(f"{path}/{kind}", params={MARKER: "1"}, json=good)
    client.post("/v1/compare", json={"a": MARKER, "b": MARKER, "settings": {"features": MARKER}})
    client.post("/v1/fingerprint", json={"texts": [MARKER], "settings": {"hash": MARKER}})
    client.post(f"{path}/compare", json={"a": {"id": 1}, "b": {"text": MARKER}})
    client.post(f"{path}/compare", json={"a": {"id": MARKER}, "b": {"text": MARKER}})
    client.post("/v1/jobs", json={"kind": MARKER, "inputs": [MARKER]})
    client.post("/v1/jobs", json={"kind": "dedup", "inputs": [MARKER]})
    for data in (
        f"{MARKER}\r\n\r\n",
        f"POST {path}/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Transfer-Encoding: chunked\r\n\r\n{MARKER}\r\n",
        f"POST {path}/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f'Content-Length: 1000\r\n\r\n{{"text": "{MARKER}',
        f"GET /healthz HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
        f"X-Marker: {MARKER}\r\n\r\n",
    ):
        with server.connect() as connection:
            connection.sendall(data.encode())
            if not data.startswith("GET") and "Length" not in data:
                b"".join(received(connection))
    kill(server.pids()["nd-writer"])
    client.post(f"{path}/documents", json=good)


def test_no_text_is_logged_and_every_line_is_json(start):
    server = start()
    provoke(server)
    assert server.stop() == 0
    said = server.said()
    for word in MARKER.split():
        assert word not in said, next(line for line in server.log if word in line)
    lines = [line for line in server.log if not line.startswith("neardup serves ")]
    for line in lines:
        event = json.loads(line)  # fails for anything that is no JSON
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", event["time"])
        if event["event"] == "request":
            assert event["request_id"]
            assert event["status"] < 400 or event["status"] == 499 or event["code"]
            if event.get("code") not in ("invalid_request", "headers_too_large", "timeout"):
                assert {"method", "path", "route", "ms", "received", "sent", "key"} <= set(event)
    assert not [line for line in lines if '"failure"' in line], "the service failed"
    statuses = {json.loads(line).get("status") for line in lines}
    assert {200, 201, 400, 415, 422} <= statuses


def test_a_failure_of_the_program_is_logged_without_its_message(capfd):
    """An error may quote a text, so that only its kind and its place are told."""

    def fails() -> None:
        raise ValueError(MARKER)

    for with_texts in (False, True):
        log = Log("worker-1", texts=with_texts)
        try:
            fails()
        except ValueError as error:
            log.failure(error, "here", "id-1")
        (line,) = capfd.readouterr().err.splitlines()
        event = json.loads(line)
        assert (event["event"], event["error"], event["request_id"]) == (
            *("failure", "ValueError", "id-1"),
        )
        assert any("fails" in place for place in event["traceback"])
        assert (MARKER in line) == with_texts


def test_log_text_logs_the_sentences_of_errors(start):
    server = start("--log-text")
    path = make_index(server.client)
    server.client.post(f"{path}/check", json={"id": {"x": MARKER}, "text": MARKER})
    assert server.stop() == 0
    (event,) = (event for event in server.events() if event.get("status") == 422)
    assert "zanzibar" in event["detail"]


def test_quiet_logs_no_requests(start):
    server = start("--quiet")
    assert server.client.get("/v1/indexes").status_code == 200
    assert server.stop() == 0
    assert [line for line in server.log if not line.startswith("neardup serves ")] == []


@pytest.mark.parametrize(
    "id", ["abc", "a-b_c.d:e", "0" * 64, "550e8400-e29b-41d4-a716-446655440000"]
)
def test_request_ids_are_taken_over(client, server, id):
    for path, status in (("/healthz", 200), ("/v1/indexes/none", 404)):
        answer = client.get(path, headers={"X-Request-ID": id})
        assert (answer.status_code, answer.headers["x-request-id"]) == (status, id)
        assert status == 200 or answer.json()["request_id"] == id
    until(lambda: any(f'"request_id":"{id}"' in line for line in server.log), "a line of the log")


@pytest.mark.parametrize(
    "id", ["", "a b", "x" * 65, '"', "a\tb", "<script>", "{}", "a,b", "\u00fc"]
)
def test_other_request_ids_are_not(client, id):
    answer = client.get("/healthz", headers={"X-Request-ID": id.encode()})
    given = answer.headers["x-request-id"]
    assert given != id
    assert re.fullmatch(r"[A-Za-z0-9._:-]{1,64}", given)


def test_request_ids_are_unique(client):
    ids = [client.get("/healthz").headers["x-request-id"] for _ in range(50)]
    assert len(set(ids)) == 50


HOSTILE = '<script>alert("x")</script><img src=x onerror=alert(1)>'


def test_hostile_documents_come_back_as_data(client):
    index = make_index(client, store_text=True)
    row = {"id": HOSTILE, "text": f"{HOSTILE} one two three", "metadata": {HOSTILE: HOSTILE}}
    table = pa.table({"id": [HOSTILE], "text": [row["text"]]})
    encoded = HOSTILE.replace("/", "%2F")
    answers = [
        client.post(f"{index}/documents", json=row),
        client.post(f"{index}/check", json=row),
        client.post(f"{index}/query", json=row),
        client.post(f"{index}/query", content=ndjson([row]), headers=NDJSON),
        client.post(f"{index}/query", content=arrow(table), headers={"Content-Type": ARROW}),
        client.get(f"{index}/documents/{encoded}"),
        client.get(f"{index}/documents/no{encoded}"),
        client.get(f"/{HOSTILE}"),
        client.get(f"/v1/indexes/{encoded}"),
        client.get(f"/v1/indexes?{HOSTILE}=1"),
        client.post(f"{index}/compare", json={"a": {"id": HOSTILE}, "b": {"text": HOSTILE}}),
        client.post(f"{index}/query", json={"text": [HOSTILE]}),
        client.post("/v1/fingerprint", json={"texts": [], "settings": {"hash": HOSTILE}}),
        client.get("/metrics"),
    ]
    assert answers[5].json()["metadata"] == {HOSTILE: HOSTILE}
    assert answers[5].json()["text"] == row["text"]
    kinds = {answer.headers["content-type"] for answer in answers}
    assert kinds == {
        "application/json",
        "application/problem+json",
        "application/x-ndjson",
        ARROW,
        "text/plain; version=0.0.4; charset=utf-8",
    }
    for answer in answers:
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "server" not in answer.headers
        assert "script" not in str(answer.headers)


def test_the_page_of_the_description_loads_nothing_from_elsewhere(client):
    answer = client.get("/docs")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert not re.search(r"<script|<link|src=|@import|url\(", answer.text)


def test_a_log_that_nobody_reads_does_not_stop_the_service(tmp_path):
    command = [sys.executable, "-m", "neardup", "serve", str(tmp_path / "data"), "--port", "0"]
    with subprocess.Popen([*command, "--workers", "1"], stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        url = process.stderr.readline().decode().split()[-1]
        with httpx.Client(base_url=url, timeout=PATIENCE) as client:
            # Ten times what a pipe holds.
            for _ in range(1200):
                assert client.get(f"/{'nothing' * 60}").status_code == 404
        process.terminate()
        lines = process.stderr.read().splitlines()
    assert process.returncode == 0
    assert lines
    # No line is torn, however full the pipe was.
    assert {json.loads(line)["event"] for line in lines} == {"request"}


def test_lines_that_do_not_fit_are_counted(monkeypatch):
    reading, writing = os.pipe()
    monkeypatch.setattr(os, "write", partial(_write_to, writing, os.write))
    monkeypatch.setattr(select, "select", partial(_select_of, writing, select.select))
    log = Log("worker")
    for number in range(20_000):
        log.request(path="x" * 400, number=number)
        if number % 100 == 0:
            log.flush()
    read = b""
    while select.select([reading], [], [], 0)[0]:
        read += os.read(reading, 1 << 16)
        log.flush()
    os.close(writing)
    os.close(reading)
    found = [json.loads(line) for line in read.splitlines()]
    lost = sum(line.get("lines", 0) for line in found)
    assert lost > 1000
    assert lost + sum("number" in line for line in found) == 20_000


def _write_to(place, write, _descriptor, data):
    return write(place, data)


def _select_of(place, choose, reads, writes, errors, seconds):
    return choose(reads, [place for _ in writes], errors, seconds)
