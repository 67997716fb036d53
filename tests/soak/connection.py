"""One connection to the server, kept open: requests in, statuses and parsed bodies out."""

from __future__ import annotations

import http.client
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

HOST = "127.0.0.1"
SECONDS = 30
# The server closes a connection that is idle for long, at which moment a request would be lost.
IDLE_SECONDS = 1
JSON, LINES, PROBLEM = "application/json", "application/x-ndjson", "application/problem+json"


class NoAnswerError(Exception):
    """No answer: the connection was refused or ended. What was asked may have been done."""


@dataclass(frozen=True)
class Answer:
    """A status, the parsed body, and the seconds to wait before it is tried again, if it says."""

    status: int
    body: Any
    retry_after: float | None


class Connection:
    """Connects when it is first used, and again after it was broken."""

    def __init__(self, port: int) -> None:
        self._http = http.client.HTTPConnection(HOST, port, timeout=SECONDS)
        self._used = time.monotonic()

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        """A request with JSON; raises NoAnswerError without a complete answer."""
        response = self._sent(method, path, None if body is None else orjson.dumps(body), JSON)
        try:
            said = response.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise NoAnswerError(repr(error)) from error
        return _answer(response, said)

    def lines(self, path: str, lines: Sequence[bytes]) -> tuple[Answer | None, list[Any]]:
        """A stream of NDJSON: the lines that were answered, also if the connection broke then.

        A status other than 200 comes back as an answer.
        """
        response = self._sent("POST", path, b"\n".join(lines) + b"\n", LINES)
        told: list[Any] = []
        try:
            if response.status != 200:
                return _answer(response, response.read()), told
            while line := response.readline():
                if line.endswith(b"\n"):
                    told.append(orjson.loads(line))
            response.read()  # which ends it: reading lines to the last byte does not
        except (OSError, http.client.HTTPException):
            self.close()
            return None, told
        return _answer(response, b""), told

    def close(self) -> None:
        self._http.close()

    def _sent(
        self, method: str, path: str, content: bytes | None, kind: str
    ) -> http.client.HTTPResponse:
        if time.monotonic() - self._used > IDLE_SECONDS:
            self.close()
        self._used = time.monotonic()
        try:
            self._http.request(method, path, content, {"Content-Type": kind} if content else {})
            return self._http.getresponse()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise NoAnswerError(repr(error)) from error


def _answer(response: http.client.HTTPResponse, said: bytes) -> Answer:
    waits = response.headers.get("Retry-After")
    kind = response.headers.get("Content-Type", "").split(";")[0]
    parsed = orjson.loads(said) if kind in (JSON, PROBLEM) else said
    return Answer(response.status, parsed, None if waits is None else float(waits))
