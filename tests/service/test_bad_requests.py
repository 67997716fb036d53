"""What is wrong is refused: with the right status, a code, and a sentence that says what to do."""

from __future__ import annotations

import gzip
import json
import os
import socket
from http.client import HTTPConnection
from typing import Any

import httpx
import pytest
from tests.service.bad_requests import (
    ADD,
    BAD,
    CHECK,
    GOOD,
    JSON,
    MAX_BODY,
    MAX_DOCUMENTS,
    MAX_FEATURES,
    MAX_TEXT,
    NDJSON,
    QUERY,
    Bad,
)
from tests.service.running import PATIENCE, Server, lines_of, received, until

from neardup.service.problems import CODES

HOST = b"Host: localhost\r\n"


@pytest.fixture(scope="module")
def server(start_for_module: Any) -> Server:
    """A service with small limits, some indexes, and files that it must not read."""
    limits = {"body": MAX_BODY, "text": MAX_TEXT, "documents": MAX_DOCUMENTS}
    running = start_for_module(limits={**limits, "features": MAX_FEATURES, "headers": 20_000})
    client, data = running.client, running.data
    for name, settings in {
        "plain": {},
        "near": {"max_distance": 3},
        "kept": {"store_text": True},
        "terms": {"features": "terms"},
        "records": {"text": "name+city"},
    }.items():
        made = client.put(f"/v1/indexes/{name}", json=settings)
        assert made.status_code == 201, made.text
    client.post(ADD, json={"id": "stored", "text": "a b c d"}).raise_for_status()
    client.post("/v1/indexes/plain/backup", json={"name": "old"}).raise_for_status()
    (data / "corpus").mkdir()
    (data / "corpus" / "a.jsonl").write_text('{"id": 1, "text": "a b c"}\n')
    outside = data.parent / "outside.jsonl"
    outside.write_text('{"id": 1, "text": "secret"}\n')
    (data / "corpus" / "out.jsonl").symlink_to(outside)
    (data / "indexes" / "link").symlink_to(data.parent)
    return running


def sent(server: Server, bad: Bad) -> tuple[int, dict[str, str], bytes]:
    """Send it exactly as it is written."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    try:
        # http.client sends what it iterates over in chunks.
        body = iter(bad.body) if isinstance(bad.body, tuple) else bad.body
        connection.request(bad.method, bad.path, body, bad.headers)
        answer = connection.getresponse()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, headers, answer.read()
    finally:
        connection.close()


def problem(status: int, headers: Any, body: bytes) -> dict[str, Any]:
    """A complete problem, or the test fails."""
    assert headers["content-type"] == "application/problem+json", body[:500]
    found = json.loads(body)
    assert set(found) == {"type", "title", "status", "code", "detail", "request_id"}
    assert found["status"] == status
    assert found["type"] == f"urn:neardup:problem:{found['code']}"
    assert CODES[found["code"]] == (status, found["title"])
    assert found["request_id"]
    assert headers["x-request-id"] == found["request_id"]
    assert headers["x-content-type-options"] == "nosniff"
    assert len(found["detail"]) < 1_000
    return found


def test_the_list_is_long():
    assert len(BAD) >= 45
    assert len({bad.name for bad in BAD}) == len(BAD)


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name)
def test_bad_request(server, bad):
    status, headers, body = sent(server, bad)
    found = problem(status, headers, body)
    assert (status, found["code"]) == (bad.status, bad.code), found["detail"]
    assert bad.said in found["detail"]
    assert str(server.data) not in found["detail"], "a path of the server"
    if status == 405:
        allowed = headers["allow"].split(", ")
        assert bad.method not in allowed
        assert all(method in found["detail"] for method in allowed)


def test_nothing_of_it_was_done(server):
    """After all of these, the indexes are as they were."""
    found = {each["name"]: each for each in server.client.get("/v1/indexes").json()["indexes"]}
    assert sorted(found) == ["kept", "near", "plain", "records", "terms"]
    assert {name: each["documents"] for name, each in found.items() if each["documents"]} == {
        "plain": 1
    }
    assert os.listdir(server.data / "backups") == ["old"]
    assert server.client.get("/v1/jobs").json() == {"jobs": []}


def raw(server: Server, data: bytes) -> tuple[int, dict[str, str], bytes]:
    """Send bytes; return the answer, after which the server must have closed the connection."""
    with server.connect() as connection:
        connection.sendall(data)
        found = b"".join(received(connection))
    return parsed(found)


def parsed(found: bytes) -> tuple[int, dict[str, str], bytes]:
    head, _, body = found.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in rest)
    assert len(body) == int(headers["content-length"]), found
    return int(first.split()[1]), headers, body


@pytest.mark.parametrize(
    "data",
    [
        b"garbage\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\n" + HOST + b"\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"POST /v1/compare HTTP/1.1\r\n" + HOST + b"Content-Length: -5\r\n\r\n",
        b"POST /v1/compare HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"POST /v1/compare HTTP/1.1\r\n"
        + HOST
        + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /v1/compare HTTP/1.1\r\n"
        + HOST
        + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    ],
    ids=[
        *("words", "version", "header", "bytes", "HTTP/2", "TLS", "negative", "two lengths"),
        *("length and chunks", "chunk"),
    ],
)
def test_invalid_http(server, data):
    found = problem(*raw(server, data))
    assert found["code"] == "invalid_request"
    assert "repair it" in found["detail"]


@pytest.mark.parametrize(
    "data",
    [
        b"GET /healthz HTTP/1.1\r\n" + HOST + b"X-Long: " + b"a" * 30_000 + b"\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n" + HOST + b"X-Many: a\r\n" * 3_000 + b"\r\n",
        b"GET /" + b"a" * 30_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET /healthz HTTP/1.1\r\n" + HOST + b"X-Endless: " + b"a" * 30_000,
        b"GET /" + b"a" * 30_000,
    ],
    ids=["a long one", "many", "a long path", "one without end", "a path without end"],
)
def test_huge_headers(server, data):
    found = problem(*raw(server, data))
    assert found["code"] == "headers_too_large"
    assert "20 KB" in found["detail"]


@pytest.mark.parametrize("expects", [b"", b"Expect: 100-continue\r\n"], ids=["", "expects"])
def test_a_large_body_is_refused_before_any_of_it_was_sent(server, expects):
    head = b"POST " + CHECK.encode() + b" HTTP/1.1\r\n" + HOST + expects
    head += b"Content-Type: application/json\r\nContent-Length: 1000001\r\n\r\n"
    with server.connect() as connection:
        connection.sendall(head)
        answer = connection.recv(1 << 16)  # nothing else is sent: else this would wait for ever
        found = problem(*parsed(answer))
    assert found["code"] == "body_too_large"
    assert "--max-body allows (1 MB)" in found["detail"]


def test_a_client_that_sends_a_large_body_sees_the_answer(server):
    """It is not cut off by a reset while it sends."""
    body = b" " * (8 * MAX_BODY)
    answer = server.client.post(CHECK, content=body, headers={"Content-Type": JSON})
    assert answer.status_code == 413
    assert problem(413, answer.headers, answer.content)["code"] == "body_too_large"


def test_a_body_of_unknown_size_is_refused_at_the_limit(server):
    """The rest of it is never sent."""
    with server.connect() as connection:
        connection.sendall(
            b"POST "
            + CHECK.encode()
            + b" HTTP/1.1\r\n"
            + HOST
            + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        connection.sendall(b"%x\r\n" % (MAX_BODY + 1) + b" " * (MAX_BODY + 1) + b"\r\n")
        found = problem(*parsed(connection.recv(1 << 16)))
    assert found["code"] == "body_too_large"


def test_errors_in_lines_have_codes_and_numbers(server):
    lines = [
        GOOD,
        b"",
        b"   ",
        b"no object",
        b'["a"]',
        b'{"id": 2, "te',
        b'{"id": 3}',
        b'{"id": 4, "text": 5}',
        b'{"id": 1.5, "text": "a"}',
        b'{"id": 5, "text": "\xff"}',
        rb'{"id": 6, "text": "\ud800"}',
        b'{"id": 7, "text": "' + b"x" * MAX_TEXT + b'"}',
        b'{"id": 8, "text": "a", "metadata": ' + b"[" * 500 + b"]" * 500 + b"}",
        b'{"text": "no id"}',
        b'{"id": 9, "text": "the last one is good"}',
    ]
    answers = lines_of(
        server.client.post(ADD, content=b"\n".join(lines), headers={"Content-Type": NDJSON})
    )
    try:
        assert [answer["line"] for answer in answers] == [*range(1, len(lines) + 1)]
        assert [n for n, answer in enumerate(answers) if answer.get("stored")] == [0, 14]
        codes = [answer["error"]["code"] for answer in answers if "error" in answer]
        assert codes == ["invalid_document"] * 10 + ["text_too_long"] + ["invalid_document"] * 2
        for answer in answers[1:14]:
            assert answer["error"]["detail"].startswith(f"line {answer['line']}: ")
        assert [answer["id"] for answer in answers[6:8]] == [3, 4]
    finally:
        for id in (1, 9):
            server.client.delete(f"{ADD}/{id}")


def test_errors_among_many_documents(server):
    documents = [{"id": 1}, {"id": "a", "text": "x y z"}, 5, {"id": [], "text": "x"}, None]
    for path in (f"{CHECK}?add=never", "/v1/indexes/plain/query", f"{CHECK}?add=never&limit=1"):
        answer = server.client.post(path, json={"documents": documents})
        rows = answer.json()["results"]
        assert [row["id"] for row in rows] == [1, "a", None, None, None]
        assert ["error" in row for row in rows] == [True, False, True, True, True]
        assert [row["error"]["detail"][:11] for row in rows if "error" in row] == [
            *("document 0:", "document 2:", "document 3:", "document 4:")
        ]


@pytest.fixture(scope="module")
def impatient(start_for_module: Any) -> Server:
    """A service that waits a second for headers and bodies, and works on four requests at once."""
    running = start_for_module(
        workers=1,
        limits={"header_seconds": 1.0, "body_seconds": 1.0, "requests": 4, "idle_seconds": 2.0},
    )
    running.client.put("/v1/indexes/plain", json={}).raise_for_status()
    return running


@pytest.mark.parametrize("begun", [b"", b"GET /heal", b"GET /healthz HTTP/1.1\r\nHost: local"])
def test_slow_headers(impatient, begun):
    found = problem(*raw(impatient, begun))
    assert found["code"] == "timeout"
    assert "1 second" in found["detail"]


def test_slow_headers_byte_by_byte(impatient):
    """Bytes that arrive do not prolong the time."""
    with impatient.connect() as connection:
        connection.settimeout(0.2)
        connection.sendall(b"GET /healthz HTTP/1.1\r\n")
        for _ in range(100):
            try:
                connection.sendall(b"X: y\r\n")
                answer = connection.recv(1 << 16)
            except TimeoutError:
                continue
            break
        else:
            pytest.fail("the server still waits")
    assert problem(*parsed(answer))["code"] == "timeout"


@pytest.mark.parametrize("kind", [JSON, NDJSON])
@pytest.mark.parametrize("begun", [b"", b'{"text": "a'], ids=["nothing", "something"])
def test_slow_bodies(impatient, kind, begun):
    """They are answered, and the connection is closed: nobody holds one for ever."""
    head = b"POST " + CHECK.encode() + b" HTTP/1.1\r\n" + HOST
    head += b"Content-Type: " + kind.encode() + b"\r\nContent-Length: 100\r\n\r\n"
    found = problem(*raw(impatient, head + begun))
    assert found["code"] == "timeout"
    assert "1 second" in found["detail"]


def test_clients_that_do_not_read_do_not_keep_others_waiting(impatient):
    """As many of them as there may be requests, with answers that no buffer of the system holds."""
    client = impatient.client
    large = {"id": 1, "text": "one two three four", "metadata": "x" * 200_000}
    client.post("/v1/indexes/plain/documents", json=large).raise_for_status()
    body = b'{"id": 2, "text": "one two three four"}'
    head = b"POST /v1/indexes/plain/query HTTP/1.1\r\n" + HOST
    head += b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    unread: list[socket.socket] = []
    try:
        for _ in range(6):
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", impatient.port))
            connection.sendall((head + body) * 60)
            unread.append(connection)

        def asked() -> httpx.Response:
            return client.post(QUERY, content=body, headers={"Content-Type": JSON})

        busy = until(lambda: found if (found := asked()).status_code != 200 else None, "a 503")
        assert (busy.status_code, busy.json()["code"]) == (503, "unavailable")
        assert int(busy.headers["retry-after"]) >= 1
        until(lambda: asked().status_code == 200, "the end of those who do not read", 15)
    finally:
        for connection in unread:
            connection.close()


def test_idle_connections_are_closed(impatient):
    with impatient.connect() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
        found = b"".join(received(connection))  # ends when the server closes
    assert parsed(found)[0] == 200


def test_a_packed_stream_may_be_larger_than_a_body(server):
    """NDJSON has no limit, packed or not."""
    rows = b"".join(b'{"text": "a b c %d"}\n' % number for number in range(100_000))
    assert len(rows) > MAX_BODY
    answer = server.client.post(
        "/v1/indexes/plain/query",
        content=gzip.compress(rows, 1),
        headers={"Content-Type": NDJSON, "Content-Encoding": "gzip"},
    )
    assert len(lines_of(answer)) == 100_000


def test_head_is_answered(server):
    """A HEAD is not left without an answer, nor does its answer spoil the next one."""
    with httpx.Client(base_url=server.url, timeout=10) as client:
        for path in ("/healthz", "/v1/indexes", CHECK):
            answer = client.head(path)
            assert answer.status_code in (200, 405)
            assert answer.content == b""
        assert client.get("/healthz").json() == {"status": "ok"}
