"""Messages between the workers and the writer: length, then MessagePack, over a Unix socket.

A call is (number, operation, arguments), an answer is (number, result, problem). Answers come in
any order; the number says to which call one belongs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import msgspec

_PREFIX = 8
# A portion of a stream is the largest message; anything longer is not ours.
MOST_BYTES = 1 << 31


class Call(NamedTuple):
    """What a worker asks the writer to do."""

    number: int
    operation: str
    arguments: Any


class Answer(NamedTuple):
    """What the writer answers: the result, or a problem as `Problem.packed` returns it."""

    number: int
    result: Any
    problem: tuple[str, str, int | None] | None


_encoder = msgspec.msgpack.Encoder()
_decode_call = msgspec.msgpack.Decoder(Call).decode
_decode_answer = msgspec.msgpack.Decoder(Answer).decode


def packed(message: Call | Answer) -> bytearray:
    """A message with its length."""
    buffer = bytearray(_PREFIX)
    _encoder.encode_into(message, buffer, _PREFIX)
    buffer[:_PREFIX] = (len(buffer) - _PREFIX).to_bytes(_PREFIX, "little")
    return buffer


class Frames(asyncio.Protocol):
    """One end of a connection; `received` is called with each message that arrives."""

    def __init__(
        self,
        decode: Callable[[bytes | bytearray | memoryview], Any],
        received: Callable[[Frames, Any], None],
        lost: Callable[[Frames], None],
    ) -> None:
        self._decode = decode
        self._received = received
        self._lost = lost
        self._buffer = bytearray()
        self._unsent: list[bytearray] = []
        self._writable = asyncio.Event()
        self._writable.set()
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.set_write_buffer_limits(high=4 << 20)

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        self._writable.set()
        self._lost(self)

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    async def writable(self) -> None:
        """Wait until the other end has taken most of what was sent."""
        await self._writable.wait()

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer
        buffer += data
        begin, size = 0, len(buffer)
        while size - begin >= _PREFIX:
            length = int.from_bytes(buffer[begin : begin + _PREFIX], "little")
            if length > MOST_BYTES:
                assert self.transport is not None
                self.transport.abort()
                return
            end = begin + _PREFIX + length
            if size < end:
                break
            with memoryview(buffer) as view:
                message = self._decode(view[begin + _PREFIX : end])
            self._received(self, message)
            begin = end
        if begin:
            del buffer[:begin]

    def send(self, message: Call | Answer) -> bool:
        """Send a message; False if the connection is gone.

        Messages of one turn of the event loop are sent together: a system call costs more than
        all the rest.
        """
        if self.transport is None or self.transport.is_closing():
            return False
        if not self._unsent:
            asyncio.get_running_loop().call_soon(self._flush)
        self._unsent.append(packed(message))
        return True

    def _flush(self) -> None:
        unsent, self._unsent = self._unsent, []
        if self.transport is not None:
            self.transport.write(b"".join(unsent))

    def close(self) -> None:
        if self.transport is not None:
            self.transport.close()


def calls(
    received: Callable[[Frames, Call], None], lost: Callable[[Frames], None]
) -> Callable[[], Frames]:
    """Makes the writer's ends of connections."""
    return lambda: Frames(_decode_call, received, lost)


def answers(
    received: Callable[[Frames, Answer], None], lost: Callable[[Frames], None]
) -> Callable[[], Frames]:
    """Makes the workers' ends of connections."""
    return lambda: Frames(_decode_answer, received, lost)
