"""NDJSON streams: a result per line, in order, in bounded memory, plain and packed."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from collections.abc import Iterator

import httpx
import pytest
from tests.service.conftest import make_index
from tests.service.packing import zstd
from tests.service.running import PATIENCE, Server, lines_of, ndjson, received, texts, until

import neardup as nd

NDJSON = {"Content-Type": "application/x-ndjson"}
MEGABYTE = 1_000_000
WORDS = " ".join(f"word{number}" for number in range(298))


class Peak:
    """The most memory that a service takes while a block runs, beyond what it took before."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.before = self.most = server.memory()

    def __enter__(self) -> Peak:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ends.set()
        self._thread.join()

    @property
    def growth(self) -> float:
        """In megabytes."""
        return (self.most - self.before) / MEGABYTE

    def _watch(self) -> None:
        while not self._ends.wait(0.02):
            self.most = max(self.most, self._server.memory())


@pytest.mark.parametrize("packing", ["plain", "gzip", "zstd", "chunked", "two members"])
@pytest.mark.parametrize("path", ["check", "query", "documents"])
def test_a_result_for_every_line_in_order(client, index, path, packing):
    some = texts(500, words=8)
    client.post(f"{index}/documents", json={"id": "first", "text": some[7]})
    rows = [{"id": f"ü{n}", "text": text} for n, text in enumerate(some)]
    body: object = ndjson(rows)
    headers = dict(NDJSON)
    if packing == "gzip":
        body, headers["Content-Encoding"] = gzip.compress(body), "gzip"
    elif packing == "zstd":
        body, headers["Content-Encoding"] = zstd.compress(body), "zstd"
    elif packing == "two members":
        halves = ndjson(rows[:250]), ndjson(rows[250:])
        body, headers["Content-Encoding"] = b"".join(map(gzip.compress, halves)), "gzip"
    elif packing == "chunked":
        whole = body
        body = (whole[place : place + 777] for place in range(0, len(whole), 777))
    found = lines_of(client.post(f"{index}/{path}", content=body, headers=headers))
    assert [row["line"] for row in found] == [*range(1, 501)]
    assert [row["id"] for row in found] == [row["id"] for row in rows]
    if path == "documents":
        assert found[7] == {"line": 8, "id": "ü7", "stored": True}
        assert client.get(index).json()["documents"] == 501
    elif path == "check":
        assert [row["line"] for row in found if not row["is_new"]] == [8]
        assert found[7]["match"]["id"] == "first"
    else:
        assert [row["line"] for row in found if row["matches"]] == [8]
    assert len(found[7]) == {"documents": 3, "check": 6, "query": 3}[path]


def test_lines_of_every_kind_in_one_stream(client, index):
    """Ids of both kinds, without ids, escapes, carriage returns, blank lines, no last line feed."""
    body = (
        b'{"id": 1, "text": "one two three four"}\r\n'
        b'{"text": "five six seven eight", "id": "\\u00e9\\ud83d\\ude00"}\n'
        b"\n"
        b'  {"id": -5, "text": "nine ten \\"eleven\\" twelve", "metadata": {"a": [1]}}  \n'
        b'{"text": "thirteen fourteen fifteen"}\n'
        b'{"id": "last", "text": "one two three four"}'
    )
    found = lines_of(client.post(f"{index}/check", content=body, headers=NDJSON))
    assert [row["line"] for row in found] == [1, 2, 3, 4, 5, 6]
    assert [row["id"] for row in found[:4]] == [1, "é😀", None, -5]
    assert isinstance(found[4]["id"], str)
    assert "error" in found[2]
    assert [row.get("is_new") for row in found] == [True, True, None, True, True, False]
    assert found[5]["match"]["id"] == 1
    assert client.get(f"{index}/documents/-5").json()["metadata"] == {"a": [1]}


def test_a_mark_of_utf8_at_the_beginning(client, index):
    body = b'\xef\xbb\xbf{"id": 1, "text": "one two three"}\n{"id": 2, "text": "four five six"}\n'
    for path in ("documents", "check", "query"):
        found = lines_of(client.post(f"{index}/{path}", content=body, headers=NDJSON))
        assert not [row for row in found if "error" in row], path


def test_no_lines(client, index):
    for path in ("check", "query", "documents"):
        assert lines_of(client.post(f"{index}/{path}", content=b"", headers=NDJSON)) == []


def test_one_wrong_line_does_not_change_the_others(client, index):
    """Also on the way where ordinary lines are read natively."""
    some = texts(1000, words=5)
    rows = [json.dumps({"id": n, "text": text}).encode() for n, text in enumerate(some)]
    rows[500] = b'{"id": 500, "text": 5}'
    found = lines_of(client.post(f"{index}/documents", content=b"\n".join(rows), headers=NDJSON))
    assert [row["line"] for row in found if "error" in row] == [501]
    assert found[500]["id"] == 500
    assert client.get(index).json()["documents"] == 999


def test_ids_twice_in_one_stream(client, index):
    rows = [{"id": "x", "text": text} for text in texts(3)]
    lines_of(client.post(f"{index}/documents", content=ndjson(rows), headers=NDJSON))
    assert client.get(index).json()["documents"] == 1
    found = client.post(f"{index}/query", json={"text": texts(3)[2]}).json()["matches"]
    assert [match["id"] for match in found] == ["x"], "the last one is kept"


def test_the_last_of_two_documents_with_one_id_stays_whatever_takes_longer(client, index):
    """Portions have at most 8,192 lines; those with long texts take longer to prepare."""
    long = [{"id": n % 50, "text": f"{WORDS[:700]} {n}", "metadata": n} for n in range(8192)]
    short = [{"id": n % 50, "text": f"short text of line {n}", "metadata": n} for n in range(100)]
    rows = [*long, *({**row, "metadata": 8192 + row["metadata"]} for row in short)]
    answer = client.post(f"{index}/documents", content=ndjson(rows), headers=NDJSON)
    assert len(lines_of(answer)) == len(rows)
    stored = [client.get(f"{index}/documents/{id}").json()["metadata"] for id in range(50)]
    assert stored == [8192 + 50 + id for id in range(50)]


def test_parameters_of_a_stream(client, index):
    rows = ndjson([{"id": n, "text": "one two three four five"} for n in range(4)])
    kept = client.post(f"{index}/check?keep_per_group=2&limit=1", content=rows, headers=NDJSON)
    found = lines_of(kept)
    assert [row["is_new"] for row in found] == [True, True, False, False]
    assert len(found[3]["matches"]) == 1
    never = lines_of(client.post(f"{index}/check?add=never", content=rows, headers=NDJSON))
    assert [row["added"] for row in never] == [False] * 4
    made = client.post(
        "/v1/indexes/by-lines/documents?create=true&ttl=1d", content=rows, headers=NDJSON
    )
    assert [row["stored"] for row in lines_of(made)] == [True] * 4
    assert client.get("/v1/indexes/by-lines/documents/3").json()["expires"] is not None


@pytest.mark.parametrize("kind", ["documents", "query"])
def test_a_long_stream_takes_no_more_memory_than_a_short_one(start, kind):
    """250 MB against 50 MB, of documents of 300 words with the same ids again and again.

    A service that keeps what it reads takes 200 MB more. By how much the memory grows for the first
    stream says nothing: portions of it are held on purpose, and allocators keep what they have.
    Portions are small here, so that 50 MB are enough to have all of them at once.
    """
    server = start(log_requests=False, limits={"portion": 2 << 20})
    client = server.client
    path = make_index(client, max_distance=3)  # keeps no features
    assert_bounded(server, f"{path}/{kind}")
    if kind == "documents":
        assert client.get(path).json()["documents"] == 22_000
        numbers = [*range(0, 22_000, 997)]
        made = nd.fingerprint([long_text(number) for number in numbers])
        for place, number in enumerate(numbers):
            stored = client.get(f"{path}/documents/{number}").json()
            assert (stored["fingerprint"], stored["words"]) == (f"{made[place]:016x}", 300)


def assert_bounded(server: Server, path: str) -> None:
    pieces = [
        ndjson({"id": n, "text": long_text(n)} for n in range(begin, begin + 500))
        for begin in range(0, 22_000, 500)
    ]
    assert sum(map(len, pieces)) > 50 * MEGABYTE
    idle = server.memory()
    peaks = []
    for times in (1, 5):
        body = (piece for _ in range(times) for piece in pieces)
        with Peak(server) as peak:
            answer = server.client.post(path, content=body, headers=NDJSON)
        assert len(lines_of(answer)) == times * 22_000
        peaks.append((peak.most - idle) / MEGABYTE)
    assert peaks[1] < peaks[0] + 60, f"{peaks[0]:.0f} MB, then {peaks[1]:.0f} MB"


def long_text(number: int) -> str:
    return f"{number} {number * 7} {WORDS}"


@pytest.mark.parametrize("line", [b"\n", b"{}\n", b"5\n"], ids=["blank", "objects", "numbers"])
@pytest.mark.parametrize("path", ["check", "query", "documents"])
def test_many_short_wrong_lines_in_bounded_memory(wrong_lines_server, path, line):
    """A line is answered by a hundred bytes and takes more in memory, so there is a limit."""
    server = wrong_lines_server
    body = line * 300_000
    with Peak(server) as peak:
        answer = server.client.post(f"/v1/indexes/x/{path}", content=body, headers=NDJSON)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_document")
    assert "lines are wrong" in answer.json()["detail"]
    assert "line " in answer.json()["detail"]
    assert peak.growth < 150, f"{peak.growth:.0f} MB"


@pytest.fixture(scope="module")
def wrong_lines_server(start_for_module):
    server = start_for_module("--quiet")
    server.client.put("/v1/indexes/x", json={}).raise_for_status()
    return server


def test_a_line_without_end_in_bounded_memory(wrong_lines_server):
    """200 MB in one line, sent as a few kilobytes."""
    server = wrong_lines_server
    packer = zstd.ZstdCompressor()
    packed = packer.compress(b'{"id": 1, "text": "')
    for _ in range(200):
        packed += packer.compress(b"a" * MEGABYTE)
    packed += packer.compress(b'"}\n{"id": 2, "text": "one two three four"}\n')
    packed += packer.flush()
    for path in ("documents", "check", "query"):
        with Peak(server) as peak:
            answer = server.client.post(
                f"/v1/indexes/x/{path}",
                content=packed,
                headers={**NDJSON, "Content-Encoding": "zstd"},
            )
        first, second = lines_of(answer)
        assert (first["line"], first["error"]["code"]) == (1, "text_too_long")
        assert (second["line"], second["id"]) == (2, 2)
        assert "error" not in second
        assert peak.growth < 150, f"{peak.growth:.0f} MB"


def test_a_client_that_reads_nothing_before_it_has_sent_everything(client, server, index):
    """50,000 lines whose answers are larger than any buffer of the system."""
    metadata = "m" * 300
    client.post(
        f"{index}/documents", json={"id": 0, "text": "one two three four", "metadata": metadata}
    )
    line = b'{"text": "one two three four"}\n'
    body = line * 50_000
    head = (
        f"POST {index}/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
    )
    head += f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    with server.connect() as connection:
        connection.sendall(head.encode() + body)  # blocks for ever if the server waits for us
        found = b"".join(received(connection))
    _, _, answer = found.partition(b"\r\n\r\n")
    lines = answer.splitlines()
    assert len(lines) == 50_000
    assert len(answer) > 15 * MEGABYTE
    assert json.loads(lines[-1])["matches"][0]["metadata"] == metadata


def test_a_client_that_goes_away_in_the_middle(client, server, index):
    """What it sent in full lines may be stored; the service goes on, and forgets the stream."""
    rows = ndjson({"id": n, "text": text} for n, text in enumerate(texts(2000)))
    head = f"POST {index}/documents HTTP/1.1\r\nHost: localhost\r\n"
    head += "Content-Type: application/x-ndjson\r\nContent-Length: 100000000\r\n\r\n"
    # More of them than there may be streams at once.
    for how in ("close", "reset") * 6:
        connection = server.connect()
        connection.sendall(head.encode() + rows[: len(rows) // 2])
        if how == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        connection.close()
    answer = until(
        lambda: (
            found
            if (
                found := client.post(f"{index}/documents", content=rows, headers=NDJSON)
            ).status_code
            == 200
            else None
        ),
        "a stream that is served",
    )
    assert len(lines_of(answer)) == 2000
    assert client.get(index).json()["documents"] == 2000


def test_more_streams_than_are_read_at_once(start):
    """The others are refused with 429 and Retry-After, and nothing of them is done."""
    server = start(workers=1, limits={"streams": 2})
    path = make_index(server.client)
    head = f"POST {path}/documents HTTP/1.1\r\nHost: localhost\r\n"
    head += "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
    row = b'{"id": 1, "text": "a b c d"}\n'
    # The index is open then, so that a stream is counted together with its request.
    assert len(lines_of(server.client.post(f"{path}/query", content=row, headers=NDJSON))) == 1
    held = [server.connect() for _ in range(2)]
    for connection in held:
        connection.sendall(head.encode())
    until(lambda: _in_progress(server) == 3, "two streams that are being read")
    refused = server.client.post(f"{path}/query", content=row, headers=NDJSON)
    assert (refused.status_code, refused.json()["code"]) == (429, "queue_full")
    assert int(refused.headers["retry-after"]) >= 1
    single = server.client.post(f"{path}/check", json={"id": 2, "text": "e f g h"})
    assert single.status_code == 200, "single documents are no streams"
    for connection in held:
        connection.sendall(b"%x\r\n%b\r\n0\r\n\r\n" % (len(row), row))
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200")
        connection.close()
    again = server.client.post(f"{path}/query", content=row, headers=NDJSON)
    assert len(lines_of(again)) == 1


def _in_progress(server: Server) -> int:
    """How many requests are being worked on, the one that asks included."""
    text = server.client.get("/metrics").text
    (line,) = (one for one in text.splitlines() if one.startswith("neardup_requests_in_progress "))
    return int(line.split()[1])


@pytest.mark.parametrize("path", ["check", "query", "documents"])
def test_an_index_that_is_deleted_during_a_stream(client, server, path):
    """The client gets an answer that says so, or answers per line; nothing hangs or fails."""
    index = make_index(client)
    rows = ndjson({"id": n, "text": text} for n, text in enumerate(texts(20_000, words=12)))
    begun = threading.Event()

    def body() -> Iterator[bytes]:
        yield rows[: len(rows) // 2]
        begun.set()
        assert deleted.wait(PATIENCE)
        yield rows[len(rows) // 2 :]

    deleted = threading.Event()
    answers: list[httpx.Response] = []

    def send() -> None:
        with httpx.Client(base_url=server.url, timeout=PATIENCE) as own:
            answers.append(own.post(f"{index}/{path}", content=body(), headers=NDJSON))

    sender = threading.Thread(target=send)
    sender.start()
    assert begun.wait(PATIENCE)
    assert client.delete(index).status_code == 200
    deleted.set()
    sender.join(PATIENCE)
    assert answers, "the stream was never answered"
    assert answers[0].status_code in (200, 404), answers[0].text[:500]
    if answers[0].status_code == 404:
        assert answers[0].json()["code"] == "index_not_found"
    assert client.get(index).status_code == 404


def test_an_index_that_is_deleted_again_and_again_under_streams(start):
    """Every stream is answered, and the service can be stopped afterwards."""
    server = start("--quiet")
    rows = ndjson({"id": n, "text": text} for n, text in enumerate(texts(4000, words=40)))
    answers: list[httpx.Response] = []
    ends = threading.Event()

    def add() -> None:
        with httpx.Client(base_url=server.url, timeout=PATIENCE / 2) as own:
            for _ in range(8):
                answer = own.post(
                    "/v1/indexes/h/documents?create=true", content=rows, headers=NDJSON
                )
                answers.append(answer)

    def delete() -> None:
        while not ends.wait(0.03):
            assert server.client.delete("/v1/indexes/h").status_code in (200, 404)

    adders = [threading.Thread(target=add) for _ in range(3)]
    deleter = threading.Thread(target=delete)
    for thread in (*adders, deleter):
        thread.start()
    for thread in adders:
        thread.join()
    ends.set()
    deleter.join()
    assert len(answers) == 24, "streams were not answered"
    wrong = [answer.text for answer in answers if answer.status_code not in (200, 404)]
    assert not wrong, wrong[0][:500]
    assert server.stop() == 0
    assert not [event for event in server.events() if event["event"] in ("failure", "died")]


def test_an_index_that_is_closed_for_others_during_a_stream(start):
    """More indexes are opened than may be open while streams go on: these are not disturbed."""
    server = start("--quiet", "--workers", "1")
    client = server.client
    path = make_index(client)
    rows = ndjson({"id": n, "text": text} for n, text in enumerate(texts(4000, words=12)))
    goes_on = threading.Event()
    kinds = ("query", "check", "documents")
    all_begun = threading.Barrier(len(kinds) + 1)
    answers: dict[str, httpx.Response] = {}

    def body() -> Iterator[bytes]:
        sent = len(rows) // 2
        yield rows[:sent]
        all_begun.wait(PATIENCE)
        # A byte now and then, because the service gives up bodies that stand still for 30 seconds.
        while not goes_on.wait(1):
            yield rows[sent : sent + 1]
            sent += 1
        yield rows[sent:]

    def send(kind: str) -> None:
        with httpx.Client(base_url=server.url, timeout=PATIENCE) as own:
            answers[kind] = own.post(f"{path}/{kind}", content=body(), headers=NDJSON)

    senders = [threading.Thread(target=send, args=(kind,)) for kind in kinds]
    for sender in senders:
        sender.start()
    all_begun.wait(PATIENCE)
    try:
        for number in range(260):
            made = client.post(
                f"/v1/indexes/other-{number}/check?create=true", json={"id": 1, "text": "a b c"}
            )
            assert made.status_code == 200, made.text
    finally:
        goes_on.set()
    for sender in senders:
        sender.join(PATIENCE)
    for kind in kinds:
        assert len(lines_of(answers[kind])) == 4000, kind
    assert client.get(path).json()["documents"] == 4000


def test_lines_are_named_after_a_line_that_is_too_long(start):
    server = start("--max-text", "1KB", "--quiet")
    path = make_index(server.client)
    good = [json.dumps({"id": n, "text": f"a b c {n}"}).encode() for n in range(6)]
    long = b'{"id": "long", "text": "' + b"x" * 2000 + b'"}'
    lines = [good[0], long, good[1], good[2], long, long, good[3], b"", good[4], long, good[5]]
    for kind in ("documents", "check", "query"):
        answer = server.client.post(f"{path}/{kind}", content=b"\n".join(lines), headers=NDJSON)
        found = lines_of(answer)
        assert [row["line"] for row in found] == [*range(1, 12)], kind
        assert [row["id"] for row in found if "error" not in row] == [*range(6)]
        wrong = [(row["line"], row["error"]["code"]) for row in found if "error" in row]
        assert wrong == [
            *((2, "text_too_long"), (5, "text_too_long"), (6, "text_too_long")),
            *((8, "invalid_document"), (10, "text_too_long")),
        ]
        for row in found:
            if "error" in row:
                assert f"line {row['line']}: " in row["error"]["detail"]
