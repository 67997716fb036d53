"""Start, stop, kill and restart: nothing that was acknowledged is lost, and nothing hangs."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from tests.service.conftest import make_index
from tests.service.running import (
    PATIENCE,
    ROOT,
    Server,
    is_alive,
    kill,
    lines_of,
    ndjson,
    received,
    replaced,
    texts,
    until,
)

import neardup as nd

NDJSON = {"Content-Type": "application/x-ndjson"}


def stored(server: Server, name: str, below: int = 10_000) -> set[int]:
    """The ids below a number that an index has, read without the service: all that it has."""
    with nd.Index(server.data / "indexes" / name, readonly=True) as index:
        found = {number for number in range(below) if index.get(number) is not None}
        assert len(found) == len(index)
    return found


class Load:
    """Clients that check texts that have nothing in common, until they are stopped."""

    def __init__(self, server: Server, clients: int = 6) -> None:
        self._server = server
        self._ends = threading.Event()
        self.acknowledged: set[int] = set()
        self.refused: list[int] = []
        self.broken = 0
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(target=self._run, args=(number, clients)) for number in range(clients)
        ]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._ends.set()
        for thread in self._threads:
            thread.join(PATIENCE)
            assert not thread.is_alive(), "a request was never answered"

    def wait(self, more: int) -> None:
        """Wait until that many more documents are acknowledged."""
        goal = len(self.acknowledged) + more
        until(lambda: len(self.acknowledged) >= goal, f"{more} acknowledged documents")

    def _run(self, number: int, step: int) -> None:
        with httpx.Client(base_url=self._server.url, timeout=PATIENCE) as client:
            while not self._ends.is_set():
                row = {"id": number, "text": f"a{number} b{number} c{number} d{number} e{number}"}
                try:
                    answer = client.post("/v1/indexes/load/check?create=true", json=row)
                except httpx.TransportError:
                    with self._lock:
                        self.broken += 1
                    self._ends.wait(0.01)
                    continue
                with self._lock:
                    if answer.status_code == 200:
                        self.acknowledged.add(answer.json()["id"])
                    else:
                        self.refused.append(answer.status_code)
                number += step


def test_restart_keeps_everything(start):
    server = start()
    path = make_index(server.client, threshold=0.7, store_text=True)
    rows = [{"id": n, "text": t, "metadata": {"n": n}} for n, t in enumerate(texts(50))]
    server.client.post(f"{path}/documents", json={"documents": rows}).raise_for_status()
    before = server.client.get(path).json()
    documents = [server.client.get(f"{path}/documents/{n}").json() for n in range(50)]
    assert server.stop() == 0
    again = start(data=server.data)
    assert again.client.get(path).json() == before
    assert [again.client.get(f"{path}/documents/{n}").json() for n in range(50)] == documents
    assert again.stop() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["TERM", "INT"])
def test_a_stop_answers_what_has_begun(start, number):
    """A stream and a request whose bodies are half sent are answered, then the service ends."""
    server = start()
    path = make_index(server.client)
    name = path.rpartition("/")[2]
    rows = ndjson({"id": n, "text": text} for n, text in enumerate(texts(100)))
    half = len(rows) // 2
    one = b'{"id": 200, "text": "one two three four five six"}'

    def begun(kind: bytes, target: str, body: bytes, part: int) -> socket.socket:
        connection = server.connect()
        head = (
            f"POST {path}/{target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        )
        connection.sendall(head.encode() + b"Content-Type: " + kind + b"\r\n\r\n" + body[:part])
        return connection

    stream = begun(b"application/x-ndjson", "documents", rows, half)
    single = begun(b"application/json", "check", one, 10)
    until(
        lambda: _metric(server, "neardup_requests_in_progress") >= 3, "two requests that have begun"
    )
    server.process.send_signal(number)
    until(lambda: not _accepts(server.port), "a service that takes no new connections")
    assert server.process.poll() is None, "it did not wait"
    stream.sendall(rows[half:])
    single.sendall(one[10:])
    answers = [b"".join(received(connection)) for connection in (stream, single)]
    for connection in (stream, single):
        connection.close()
    assert server.ended() == 0
    assert answers[0].startswith(b"HTTP/1.1 200")
    assert answers[0].count(b'"stored":true') == 100
    assert answers[1].startswith(b"HTTP/1.1 200")
    assert stored(server, name) == {*range(100), 200}
    assert not [event for event in server.events() if event["event"] in ("failure", "died")]


def test_a_stop_under_load_loses_nothing(start):
    server = start("--quiet")
    with Load(server) as load:
        load.wait(100)
        assert server.stop() == 0
    assert set(load.refused) <= {503}
    assert load.acknowledged <= stored(server, "load")


def test_a_second_stop_does_not_wait(start):
    server = start()
    path = make_index(server.client)
    connection = server.connect()
    head = f"POST {path}/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    connection.sendall(head.encode() + b"Content-Length: 100\r\n\r\n{")
    until(lambda: _metric(server, "neardup_requests_in_progress") >= 2, "a request that has begun")
    pids = server.pids()
    server.process.send_signal(signal.SIGINT)
    until(lambda: not _accepts(server.port), "a service that takes no new connections")
    assert server.process.poll() is None
    server.process.send_signal(signal.SIGINT)
    server.process.wait(10)  # drain_seconds is 30
    connection.close()
    server.ended()
    assert not [name for name, pid in pids.items() if is_alive(pid)]


def test_a_client_that_stays_does_not_prevent_the_end(start):
    """After the time for it, unfinished requests are cut off; an idle connection does not count."""
    server = start(limits={"drain_seconds": 1.0})
    path = make_index(server.client)
    idle, slow, stream = (server.connect() for _ in range(3))
    idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert idle.recv(1 << 16).startswith(b"HTTP/1.1 200")
    for connection, kind in ((slow, "json"), (stream, "x-ndjson")):
        connection.sendall(
            f"POST {path}/documents HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"
            f"Content-Type: application/{kind}\r\n\r\n".encode()
        )
    until(lambda: _metric(server, "neardup_requests_in_progress") >= 3, "requests that have begun")
    server.process.send_signal(signal.SIGTERM)
    server.process.wait(15)
    for connection in (idle, slow, stream):
        connection.close()
    assert server.ended() == 0


def test_kill_of_a_worker_under_load(start):
    """It is replaced, others go on, and everything acknowledged is there."""
    server = start("--quiet")
    with Load(server) as load:
        load.wait(50)
        for _ in range(2):
            pids = server.pids()
            kill(pids["nd-worker-1"])
            replaced(server, "nd-worker-1", pids["nd-worker-1"])
            load.wait(100)
    assert set(load.refused) <= {503}
    assert server.client.get("/readyz").status_code == 200
    assert server.stop() == 0
    assert load.acknowledged <= stored(server, "load")


def test_kill_of_the_writer_under_load(start):
    """Writes that were cut off get a 503 that says what that means; the next ones are served."""
    server = start("--quiet")
    with Load(server) as load:
        load.wait(50)
        for _ in range(2):
            pids = server.pids()
            kill(pids["nd-writer"])
            load.wait(100)
            assert server.pids()["nd-writer"] != pids["nd-writer"]
    assert set(load.refused) <= {503}
    assert load.broken == 0, "workers were not killed"
    restarts = _metric(server, "neardup_writer_restarts_total")
    assert restarts == 2
    assert server.stop() == 0
    assert load.acknowledged <= stored(server, "load")


def test_kill_of_the_supervisor_under_load(start):
    """Its children end, the port is free, and a new service on it has everything."""
    server = start("--quiet")
    with Load(server) as load:
        load.wait(200)
        pids = server.pids()
        port = server.port
        kill(server.process.pid)
        until(lambda: not any(map(is_alive, pids.values())), "the end of the children", 10)
    server.ended()
    assert load.acknowledged <= stored(server, "load")
    again = start("--quiet", "--port", str(port), data=server.data)
    assert again.port == port
    row = {"id": "new", "text": texts(1)[0]}
    assert again.client.post("/v1/indexes/load/check", json=row).json()["is_new"]
    assert again.client.get("/v1/indexes/load").json()["documents"] > len(load.acknowledged)
    assert again.stop() == 0


def test_an_acknowledged_stream_survives_the_kill_of_everything(start):
    """All processes at once, as soon as the answer is there."""
    server = start("--quiet")
    path = make_index(server.client)
    rows = ndjson({"id": n, "text": text} for n, text in enumerate(texts(5000)))
    answer = server.client.post(f"{path}/documents", content=rows, headers=NDJSON)
    pids = [server.process.pid, *server.pids().values()]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    assert len(lines_of(answer)) == 5000
    server.ended()
    until(lambda: not any(map(is_alive, pids)), "the end of all processes", 10)
    assert stored(server, path.rpartition("/")[2]) == {*range(5000)}


def refused(*arguments: str) -> str:
    """What `neardup serve` says when it refuses to start."""
    found = subprocess.run(
        [sys.executable, "-m", "neardup", "serve", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert found.returncode in (1, 2)
    assert "Traceback" not in found.stderr
    assert found.stdout == ""
    return found.stderr


def test_a_folder_and_a_port_that_are_in_use(server, tmp_path):
    """Refused together: each waits a while for a service that was just killed."""
    with ThreadPoolExecutor(2) as pool:
        folder = pool.submit(refused, str(server.data), "--port", "0")
        port = pool.submit(refused, str(tmp_path / "data"), "--port", str(server.port))
    assert "is served already by another process" in folder.result()
    assert f"port {server.port}" in port.result()
    assert "choose another --host or --port" in port.result()
    assert server.client.get("/readyz").status_code == 200


def test_folders_that_cannot_be_served(tmp_path):
    with nd.Index(tmp_path / "an-index") as index:
        index.add(1, "one two three")
    assert "is an index" in refused(str(tmp_path / "an-index"), "--port", "0")
    (tmp_path / "file").write_text("x")
    assert "is a file" in refused(str(tmp_path / "file"), "--port", "0")
    said = refused("/proc/neardup-cannot-write-here", "--port", "0")
    assert "cannot write to" in said
    assert "name another folder" in said


def test_settings_that_are_refused(tmp_path):
    data = str(tmp_path / "data")
    for arguments, said in (
        (("--workers", "0"), "1 to 64"),
        (("--workers", "65"), "1 to 64"),
        (("--port", "70000"), "0 to 65535"),
        (("--port", "http"), "--port"),
        (("--max-body", "much"), "max_body"),
        (("--max-documents", "0"), "1 or more"),
        (("--host", "no such host"), "is not an address"),
    ):
        assert said in refused(data, *arguments), arguments
    assert not (tmp_path / "data").exists()


def test_a_damaged_index_does_not_disturb_the_others(start):
    server = start()
    client = server.client
    for name in ("good", "bad"):
        rows = [{"id": n, "text": t} for n, t in enumerate(texts(200))]
        client.post(f"/v1/indexes/{name}/documents?create=true", json={"documents": rows})
    assert server.stop() == 0
    file = server.data / "indexes" / "bad" / "data.mdb"
    content = bytearray(file.read_bytes())
    for place in range(0, len(content), 4096):
        content[place + 16 : place + 400] = b"\xaa" * 384
    file.write_bytes(content)
    again = start(data=server.data)
    client = again.client
    row = {"id": 1, "text": texts(1)[0]}
    for method, path, body in (
        ("GET", "", None),
        ("GET", "/stats", None),
        ("POST", "/query", row),
        ("POST", "/check", row),
        ("POST", "/documents", row),
        ("PUT", "", {}),
    ):
        answer = client.request(method, f"/v1/indexes/bad{path}", json=body)
        assert (answer.status_code, answer.json()["code"]) == (500, "index_damaged"), (method, path)
        assert "bad" in answer.json()["detail"]
    found = client.post("/v1/indexes/good/query", json=row).json()
    assert [match["id"] for match in found["matches"]] == [0]
    assert client.post("/v1/indexes/good/check", json={"text": "x y z"}).status_code == 200
    listed = client.get("/v1/indexes")
    assert listed.status_code == 200, "one damaged index hides all the others"
    assert "good" in [each["name"] for each in listed.json()["indexes"]]
    assert 'neardup_index_documents{index="good"}' in client.get("/metrics").text
    assert client.delete("/v1/indexes/bad").status_code == 200
    assert client.put("/v1/indexes/bad", json={}).status_code == 201
    assert again.stop() == 0
    assert not [event for event in again.events() if event["event"] == "died"]


def test_full_queues_refuse_with_429_and_lose_nothing(start):
    """Many clients at a queue of two writes: each is stored, or told to come again."""
    server = start(limits={"waiting": 2})
    server.client.put("/v1/indexes/load", json={}).raise_for_status()
    with Load(server, clients=24) as load:
        until(lambda: 429 in load.refused, "a full queue")
        load.wait(300)
    assert set(load.refused) == {429}
    assert server.stop() == 0
    refusals = [event for event in server.events() if event.get("status") == 429]
    assert {event["code"] for event in refusals} == {"queue_full"}
    # What was refused was not done: the clients did not send it again.
    assert stored(server, "load", 100_000) == load.acknowledged


def test_the_429_says_when_to_come_again(start):
    """A queue that is full of bytes; the writer is stopped, so that nothing leaves it."""
    server = start(workers=1, limits={"waiting": 1})
    client = server.client
    client.put("/v1/indexes/load", json={}).raise_for_status()
    answers: list[httpx.Response] = []

    def check(number: int) -> httpx.Response:
        row = {"id": number, "text": f"a{number} b c d e " * 20_000}
        return httpx.post(f"{server.url}/v1/indexes/load/check", json=row, timeout=PATIENCE)

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(check, range(48)))
    statuses = {answer.status_code for answer in answers}
    assert statuses == {200, 429}
    for answer in answers:
        if answer.status_code == 429:
            assert int(answer.headers["retry-after"]) >= 1
            assert answer.json()["code"] == "queue_full"
            assert "nothing was done" in answer.json()["detail"]


def test_a_stopped_writer_does_not_make_memory_grow(start):
    """Bodies that wait are bounded: more of them are refused, not kept."""
    server = start(workers=1, limits={"requests": 8})
    client = server.client
    client.put("/v1/indexes/load", json={}).raise_for_status()
    pid = server.pids()["nd-writer"]
    body = json.dumps({"id": 1, "text": "one two three", "metadata": "x" * 2_000_000})
    headers = {"Content-Type": "application/json"}
    os.kill(pid, signal.SIGSTOP)
    try:
        before = server.memory()
        with ThreadPoolExecutor(40) as pool:
            waiting = [
                pool.submit(
                    httpx.post,
                    f"{server.url}/v1/indexes/load/documents",
                    content=body,
                    headers=headers,
                    timeout=PATIENCE,
                )
                for _ in range(40)
            ]
            until(lambda: sum(each.done() for each in waiting) >= 32, "requests that are refused")
            assert server.memory() - before < 150_000_000
            assert client.get("/healthz").status_code == 200
            os.kill(pid, signal.SIGCONT)
            answers = [each.result() for each in waiting]
    finally:
        os.kill(pid, signal.SIGCONT)
    statuses = sorted(answer.status_code for answer in answers)
    assert set(statuses) == {200, 503}
    for answer in answers:
        if answer.status_code == 503:
            assert int(answer.headers["retry-after"]) >= 1
    assert client.get("/v1/indexes/load").json()["documents"] == 1


def test_a_large_write_is_taken_when_nothing_waits(start):
    """A write that is larger than the queue is not refused for ever."""
    server = start(limits={"waiting_bytes": 100_000})
    path = make_index(server.client)
    row = {"id": 1, "text": " ".join(f"w{number}" for number in range(40_000))}
    assert server.client.post(f"{path}/check", json=row).status_code == 200
    rows = ndjson({"id": n, "text": text} for n, text in enumerate(texts(2000)))
    answer = server.client.post(f"{path}/documents", content=rows, headers=NDJSON)
    assert len(lines_of(answer)) == 2000


def test_what_a_killed_service_left_is_removed(start):
    """Half-deleted indexes, and its folder of sockets."""
    server = start()
    make_index(server.client)
    trash = server.data / "indexes" / ".aside-0123456789abcdef"
    assert server.stop() == 0
    trash.mkdir()
    (trash / "data.mdb").write_bytes(b"x")
    again = start(data=server.data)
    assert not trash.exists()
    assert len(again.client.get("/v1/indexes").json()["indexes"]) == 1


@pytest.mark.parametrize("length", [80, 200])
def test_a_data_folder_with_a_long_path(start, tmp_path, length):
    """Longer than the path of a Unix socket may be, which has 108 bytes."""
    server = start(data=tmp_path / ("d" * length) / "data")
    assert server.client.put("/v1/indexes/a", json={}).status_code == 201
    assert server.stop() == 0


def test_a_folder_of_the_user_stays_as_it_is(start, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "notes.txt").write_text("mine")
    server = start(data=data)
    assert server.stop() == 0
    assert (data / "notes.txt").read_text() == "mine"
    assert sorted(os.listdir(data)) == [
        *(".neardup-serve.lock", "backups", "indexes", "jobs", "notes.txt"),
    ]


def _accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _metric(server: Server, name: str) -> float:
    text = httpx.get(f"{server.url}/metrics", timeout=PATIENCE).text
    return next(float(line.split()[1]) for line in text.splitlines() if line.startswith(name + " "))


def test_sockets_are_removed(start):
    server = start()
    sockets = _sockets(server.pids()["nd-writer"])
    assert sockets
    assert server.stop() == 0
    assert not [path for path in sockets if Path(path).exists()]


def _sockets(pid: int) -> set[str]:
    """The paths of Unix sockets in /proc that belong to a process."""
    inodes = {
        target[8:-1]
        for name in os.listdir(f"/proc/{pid}/fd")
        if (target := os.readlink(f"/proc/{pid}/fd/{name}")).startswith("socket:[")
    }
    rows = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
    return {row[7] for row in rows if len(row) > 7 and row[6] in inodes}
