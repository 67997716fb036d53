"""uvicorn's HTTP protocol with deadlines and limits that it lacks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from neardup.service.limits import Limits, size_words
from neardup.service.problems import MEDIA_TYPE, Problem


class _Corked:
    """A transport that sends the headers of an answer together with the first piece of its body.

    uvicorn writes them one after the other, which makes two system calls and two packets.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._held = b""
        self.expects_head = True
        self.get_extra_info = transport.get_extra_info
        self.is_closing = transport.is_closing
        self.pause_reading = transport.pause_reading
        self.resume_reading = transport.resume_reading
        self.abort = transport.abort

    def write(self, data: bytes) -> None:
        if self.expects_head and not data.startswith(b"HTTP/1.1 100"):
            self._held, self.expects_head = data, False
            return
        held, self._held = self._held, b""
        self._transport.write(held + data)

    def complete(self) -> None:
        """An answer is complete; one to HEAD has no body that the headers could wait for."""
        if self._held:
            self.write(b"")
        self.expects_head = True

    def close(self) -> None:
        if self._held:
            self.write(b"")
        self._transport.close()


class BoundedProtocol(HttpToolsProtocol):
    """Closes connections that are too slow, or whose headers are too large."""

    limits = Limits()
    # Notes that a request was refused before it reached the application, and returns its id.
    refused: Callable[[Problem, str | None], str] = staticmethod(lambda problem, client: "-")

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._deadline: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._in_headers = False
        self._header_bytes = 0
        self._incomplete = 0  # bytes that have arrived before the headers were complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(cast(asyncio.Transport, _Corked(transport)))
        self._expect_headers()

    def on_response_complete(self) -> None:
        cast(_Corked, self.transport).complete()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._got_headers()
        if self._stalled is not None:
            self._stalled.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        is_between = self.cycle is None or self.cycle.response_complete
        begins_in_headers = self._in_headers or is_between
        super().data_received(data)
        if self._in_headers:  # the parser holds what may be one endless header
            if self._deadline is None:
                self._expect_headers()
            if begins_in_headers:
                self._incomplete += len(data)
            if self._incomplete > self.limits.headers:
                self._too_large()

    def eof_received(self) -> bool | None:  # type: ignore[override]
        """Answer a client that has sent its request and closed its side."""
        cycle = self.cycle
        if cycle is None or cycle.response_complete or cycle.more_body:
            return None
        cycle.keep_alive = False
        return True

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self.loop.call_later(self.limits.body_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None
        super().resume_writing()

    def on_message_begin(self) -> None:
        self._header_bytes = 0
        self._in_headers = True
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value) + 4)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._got_headers()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        if self.transport.is_closing():
            return
        self._refuse(Problem("invalid_request", "the request is not valid HTTP/1.1; repair it"))

    def _count(self, size: int) -> None:
        self._header_bytes += size
        if self._header_bytes > self.limits.headers:
            self._too_large()
            raise ValueError("headers are too large")  # the parser stops

    def _expect_headers(self) -> None:
        self._deadline = self.loop.call_later(self.limits.header_seconds, self._too_slow)

    def _got_headers(self) -> None:
        self._in_headers = False
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        self._incomplete = 0

    def _too_large(self) -> None:
        if not self.transport.is_closing():
            most = size_words(self.limits.headers)
            self._refuse(
                Problem("headers_too_large", f"the headers are larger than {most}; send fewer")
            )

    def _too_slow(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            self._refuse(
                Problem(
                    "timeout",
                    "no complete headers arrived within "
                    f"{self.limits.header_seconds:g} seconds; send the request again",
                )
            )

    def _refuse(self, problem: Problem) -> None:
        """Answer without the application, and close the connection."""
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete and not cycle.more_body:
            cycle.keep_alive = False  # the answer to the request before comes first
            self.transport.pause_reading()
            return
        request_id = self.refused(problem, self.client[0] if self.client else None)
        body = problem.body(request_id)
        head = (
            f"content-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\n"
            f"x-request-id: {request_id}\r\nx-content-type-options: nosniff\r\n"
            "connection: close\r\n\r\n"
        )
        self.transport.write(STATUS_LINE[problem.status] + head.encode())
        self.transport.write(body)
        self.transport.close()
