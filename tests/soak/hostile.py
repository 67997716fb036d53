"""Requests that no client should send, and the statuses that they may be answered with."""

from __future__ import annotations

import gzip
import socket
from functools import cache

import orjson
from tests.soak.connection import HOST, JSON, LINES

SECONDS = 20
CLIENT_ERRORS = frozenset(range(400, 500))
# A server may hang up on what is not HTTP.
HUNG_UP = 0
PATH = "/v1/indexes/pages"


def send(port: int, request: bytes, is_cut: bool) -> int:
    """The status of the answer, or HUNG_UP; `is_cut` says that nothing follows the request."""
    with socket.create_connection((HOST, port), SECONDS) as connection:
        said = b""
        try:
            connection.sendall(request)
            if is_cut:
                connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it was answered before all of it was sent
        try:
            while b"\r\n" not in said and (some := connection.recv(4096)):
                said += some
        except ConnectionError:
            pass
    words = said.split(b"\r\n")[0].split()
    if len(words) < 2 or not words[0].startswith(b"HTTP/1."):
        return HUNG_UP
    return int(words[1])


@cache
def requests() -> dict[str, tuple[bytes, frozenset[int]]]:
    """By name: the bytes, and the statuses that are right for them."""
    document = orjson.dumps({"id": "hostile", "text": "one two three four"})
    check, documents = f"{PATH}/check?add=never", f"{PATH}/documents"
    bomb = gzip.compress(b'{"id": "hostile", "text": "' + b"a " * 50_000_000 + b'"}', 9)

    def post(path: str, body: bytes, kind: str | None = JSON, *more: str) -> bytes:
        head = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", *more]
        if not any(line.lower().startswith("content-length") for line in more):
            head.append(f"Content-Length: {len(body)}")
        if kind is not None:
            head.append(f"Content-Type: {kind}")
        return "\r\n".join([*head, "", ""]).encode() + body

    def bare(method: str, path: str) -> bytes:
        return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()

    def status(*numbers: int) -> frozenset[int]:
        return frozenset(numbers)

    return {
        "no JSON": (post(check, b'{"id": "hostile", '), status(400)),
        "deep JSON": (post(check, b"[" * 100_000), status(400, 413, 422)),
        "no type": (post(check, document, None), status(415)),
        "another type": (post(check, document, "text/plain"), status(415)),
        "an unknown option": (post(f"{check}&colour=red", document), status(400)),
        "a threshold above 1": (post(f"{check}&threshold=2", document), status(422)),
        "an unknown way to add": (post(f"{PATH}/check?add=sometimes", document), status(422)),
        "an index that is not there": (post("/v1/indexes/absent/query", document), status(404)),
        "a document that is not there": (bare("DELETE", f"{documents}/absent"), status(404)),
        "a method that is not there": (bare("PATCH", PATH), status(405)),
        "a path outside": (bare("GET", "/v1/indexes/..%2F..%2Fetc%2Fpasswd"), CLIENT_ERRORS),
        "a NUL in a path": (bare("GET", f"{documents}/a%00b"), CLIENT_ERRORS),
        "no text": (post(check, b'{"id": "hostile"}'), status(422)),
        "an id that is a list": (post(check, b'{"id": [1], "text": "a"}'), status(400, 422)),
        "no id": (post(documents, b'{"text": "a b c d"}'), status(422)),
        "a lone surrogate": (post(check, b'{"id": "h", "text": "\\ud800 a b"}'), status(400, 422)),
        "bytes that are no UTF-8": (post(check, b'{"id": "h", "text": "\xff"}'), status(400, 422)),
        "a giant length": (
            post(check, b"{", JSON, "Content-Length: 1000000000000"),
            status(413),
        ),
        "a negative length": (post(check, document, JSON, "Content-Length: -5"), CLIENT_ERRORS),
        "a body cut short": (
            post(check, b"{", JSON, "Content-Length: 1000"),
            CLIENT_ERRORS | {HUNG_UP},
        ),
        "lines cut short": (
            post(documents, b'{"id": 1', LINES, "Content-Length: 1000"),
            CLIENT_ERRORS | {200, HUNG_UP},
        ),
        "no gzip": (post(check, document, JSON, "Content-Encoding: gzip"), status(400, 422)),
        "an unknown encoding": (
            post(check, document, JSON, "Content-Encoding: rot13"),
            status(400, 415),
        ),
        "a gzip bomb": (post(check, bomb, JSON, "Content-Encoding: gzip"), status(413)),
        "a giant header": (
            post(check, document, JSON, "X-Long: " + "a" * 200_000),
            CLIENT_ERRORS | {HUNG_UP},
        ),
        "no HTTP": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", CLIENT_ERRORS | {HUNG_UP}),
        "bad lines": (post(documents, b"{\n\n\xff\n", LINES), status(200)),
    }
