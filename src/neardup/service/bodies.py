"""Request bodies: read within limits of size and time, unpacked on the way."""

from __future__ import annotations

import asyncio
import sys
import zlib
from collections.abc import Awaitable, Callable, Generator
from typing import Any

from neardup.service.limits import Limits, size_words
from neardup.service.problems import Problem

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Receive = Callable[[], Awaitable[Any]]
# What is unpacked at once, however much a packed piece holds.
_UNPACKED = 1 << 20
# The largest window of zstd that is accepted: 8 MB, what RFC 8878 recommends to support.
_WINDOW_LOG = 23


class Disconnected(Exception):  # noqa: N818 - no mistake of anybody
    """The client is gone: nobody is left to be answered."""


class Body:
    """The body of one request; `read` and `next` may wait, but not for ever."""

    def __init__(self, receive: Receive, headers: dict[bytes, bytes], limits: Limits) -> None:
        self._receive = receive
        self._limits = limits
        self.ended = False
        self.received = 0
        self.size_read = 0  # by `read`, unpacked
        self.size = _content_length(headers)
        encoding = headers.get(b"content-encoding", b"identity").decode("latin-1").strip().lower()
        self._unpacker = _unpacker(encoding)

    def require_fit(self) -> None:
        """Refuse a body that says that it is larger than the limit, before any of it is read."""
        if self.size is not None and self.size > self._limits.body:
            raise self._too_large()

    async def read(self) -> bytes:
        """The whole body, unpacked."""
        self.require_fit()
        if self._unpacker is None:
            first = await self._piece()
            if self.ended:
                if len(first) > self._limits.body:
                    raise self._too_large()
                self.size_read = len(first)
                return first
            pieces, size = [first], len(first)
        else:
            pieces, size = [], 0
        while size <= self._limits.body:
            # No more than what decides: a client that waits is answered at the limit.
            piece = await self.next(min(_UNPACKED, self._limits.body - size + 1))
            if not piece:
                self.size_read = size
                return b"".join(pieces)
            pieces.append(piece)
            size += len(piece)
        raise self._too_large()

    async def next(self, size: int) -> bytes:
        """At least `size` bytes, fewer only at the end, unpacked; b"" after the end."""
        pieces: list[bytes] = []
        found = 0
        while found < size:
            piece = self._unpacker.take() if self._unpacker is not None else b""
            if not piece:
                if self.ended:
                    if self._unpacker is not None:
                        self._unpacker.require_end()
                    break
                piece = await self._piece()
                if self._unpacker is not None:
                    self._unpacker.feed(piece)
                    continue
            pieces.append(piece)
            found += len(piece)
        return b"".join(pieces)

    async def drain(self, seconds: float) -> None:
        """Forget what is still coming, for a moment, so that the client sees the answer."""
        try:
            async with _Within(seconds):
                while not self.ended:
                    await self._piece(seconds)
        except (Problem, Disconnected, TimeoutError, asyncio.TimeoutError):
            return

    async def _piece(self, seconds: float | None = None) -> bytes:
        wait = self._limits.body_seconds if seconds is None else seconds
        try:
            message = await _InTime(self._receive(), wait)
        except (TimeoutError, asyncio.TimeoutError):
            self.ended = True
            raise Problem(
                "timeout",
                f"no part of the body arrived for {wait:g} seconds; send the request again",
            ) from None
        if message["type"] != "http.request":
            self.ended = True
            raise Disconnected
        piece: bytes = message.get("body", b"")
        self.received += len(piece)
        self.ended = not message.get("more_body", False)
        return piece

    def _too_large(self) -> Problem:
        most = size_words(self._limits.body)
        what = "the body" if self.size is None else f"the body of {size_words(self.size)}"
        if self._unpacker is not None:
            what = "the unpacked body"
        return Problem(
            "body_too_large",
            f"{what} is larger than --max-body allows ({most}); send fewer documents at once, or "
            "stream them as application/x-ndjson, which has no limit",
        )


def _content_length(headers: dict[bytes, bytes]) -> int | None:
    given = headers.get(b"content-length")
    return int(given) if given is not None and given.isdigit() else None


class _InTime:
    """Awaits something for a limited time; what is there already needs no timer."""

    def __init__(self, work: Awaitable[Any], seconds: float) -> None:
        self._steps = work.__await__()
        self._seconds = seconds

    def __await__(self) -> Generator[Any, Any, Any]:
        try:
            first = next(self._steps)
        except StopIteration as done:
            return done.value
        return (yield from self._rest(first).__await__())

    async def _rest(self, first: Any) -> Any:
        async with _Within(self._seconds):
            return await _Resumed(first, self._steps)


class _Resumed:
    """The rest of something awaited, of which the first step was made."""

    def __init__(self, first: Any, steps: Generator[Any, Any, Any]) -> None:
        self._first = first
        self._steps = steps

    def __await__(self) -> Generator[Any, Any, Any]:
        awaited = self._first
        try:
            while True:
                try:
                    found = yield awaited
                except BaseException as error:
                    awaited = self._steps.throw(error)
                else:
                    awaited = self._steps.send(found)
        except StopIteration as done:
            return done.value


class _Within:
    """`asyncio.timeout` of Python 3.11, which 3.10 does not have, for one await."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None
        self._is_late = False

    async def __aenter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None

        def late() -> None:
            self._is_late = True
            task.cancel()

        self._timer = asyncio.get_running_loop().call_later(self._seconds, late)

    async def __aexit__(self, kind: type[BaseException] | None, *error: object) -> None:
        assert self._timer is not None
        self._timer.cancel()
        if self._is_late and kind is asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and hasattr(task, "uncancel"):
                task.uncancel()
            raise asyncio.TimeoutError from None


class _Unpacker:
    """Packed members or frames, one after the other, unpacked in pieces of bounded size."""

    def __init__(self, name: str, new: Callable[[], Any], wrong: type[Exception]) -> None:
        self._name = name
        self._new = new
        self._wrong = wrong
        self._one = new()
        self._waiting = b""
        self._inside = False  # a member has begun and not ended

    def feed(self, data: bytes) -> None:
        self._waiting += data

    def take(self) -> bytes:
        """The next piece; b"" if more packed data are needed."""
        while self._waiting or (self._inside and not self._one.needs_input):
            given, self._waiting = self._waiting, b""
            self._inside = True
            try:
                piece: bytes = self._one.decompress(given, _UNPACKED)
            except self._wrong as error:
                raise Problem(
                    "invalid_encoding",
                    f"the body is not valid {self._name}: {error}; send it again",
                ) from None
            if self._one.eof:
                self._waiting, self._inside = self._one.unused_data, False
                self._one = self._new()
            if piece:
                return piece
        return b""

    def require_end(self) -> None:
        """Refuse a body that was cut off."""
        if self._inside:
            raise Problem("invalid_encoding", f"the {self._name} body is cut off; send it again")


class _GzipMember:
    """One gzip member, with the interface of a zstd decompressor."""

    def __init__(self) -> None:
        self._made = zlib.decompressobj(wbits=31)
        self._rest = b""

    def decompress(self, data: bytes, most: int) -> bytes:
        piece = self._made.decompress(self._rest + data, most)
        self._rest = self._made.unconsumed_tail
        return piece

    @property
    def needs_input(self) -> bool:
        return not self._rest

    @property
    def eof(self) -> bool:
        return self._made.eof

    @property
    def unused_data(self) -> bytes:
        return self._made.unused_data


def _zstd_frame() -> Any:
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _WINDOW_LOG})


def _unpacker(encoding: str) -> _Unpacker | None:
    if encoding == "identity":
        return None
    if encoding == "gzip":
        return _Unpacker("gzip", _GzipMember, zlib.error)
    if encoding == "zstd":
        return _Unpacker("zstd", _zstd_frame, zstd.ZstdError)
    raise Problem(
        "unsupported_media_type",
        f"Content-Encoding {encoding!r:.40} is not supported; use gzip, zstd or none",
    )
