"""NDJSON and Arrow bodies: read portion by portion, answered when the last one is done.

A stream is worked on by a thread, which asks the event loop for bytes and for the writer's answers.
Answers are kept in a temporary file until the whole body is read: many clients read nothing before
they have sent everything, and would wait for each other with a server that answers on the way.
"""

from __future__ import annotations

import asyncio
import io
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, BinaryIO, TypeVar, cast

import numpy as np
import pyarrow as pa

from neardup.errors import InputError
from neardup.read.limits import TooLong, printable, too_long
from neardup.read.lines import whole_lines
from neardup.service.arrow_messages import require_plain
from neardup.service.exchange import ARROW, NDJSON, Exchange
from neardup.service.limits import size_words
from neardup.service.problems import Problem
from neardup.service.results import Row, lines
from neardup.service.service import Service

_IN_MEMORY = 1 << 20
_ROWS_AT_ONCE = 4096
# A portion is bounded by its lines, too: millions of them fit into a few megabytes.
_LINES_AT_ONCE = 8192
Found = TypeVar("Found")


class Stream:
    """A stream of one request, as its thread sees it."""

    def __init__(self, service: Service, exchange: Exchange) -> None:
        self.service = service
        self.exchange = exchange
        # Closed by `streamed`.
        self.answers = cast(BinaryIO, tempfile.SpooledTemporaryFile(_IN_MEMORY))  # noqa: SIM115
        self.done = 0  # lines
        self._faults = 0
        self._loop = asyncio.get_running_loop()

    def wait(self, work: Awaitable[Found]) -> Found:
        """The result of a coroutine, which runs in the event loop."""
        found: Found = self.later(work).result()
        return found

    def later(self, work: Awaitable[Found]) -> Any:
        """Start a coroutine; its result is awaited later."""
        return asyncio.run_coroutine_threadsafe(cast(Any, work), self._loop)

    def blocks(self, size: int) -> Iterator[bytes | TooLong]:
        """The lines of an NDJSON body, in blocks of about `size` bytes."""
        for block in whole_lines(cast(BinaryIO, self), size, self.service.limits.text):
            if isinstance(block, TooLong):
                yield block
            else:
                yield from _pieces(block, _LINES_AT_ONCE)

    def read(self, size: int) -> bytes:
        """The next bytes of the body."""
        return self.wait(self.exchange.body.next(size))

    def too_long(self, line: TooLong) -> None:
        """Answer a line that is too long."""
        what = too_long(line.size, self.service.limits.text).replace("document", "text")
        fault = Problem("text_too_long", f"line {self.done + 1}: it is {what}")
        self.rows([{"id": None, "error": fault.row()}])

    def rows(self, rows: list[Row]) -> None:
        """Answer the next lines."""
        faults = sum("error" in row for row in rows)
        self.answered(lines(rows, self.done + 1), len(rows), faults)

    def answered(self, answers: bytes, count: int, faults: int) -> None:
        """Keep the answers to the next lines, some of them faults; too many end the stream."""
        self.answers.write(answers)
        if self.answers.tell() > self.service.limits.answers:
            largest = size_words(self.service.limits.answers)
            raise Problem(
                "answers_too_large",
                f"the answers are larger than {largest}; send the lines in several requests, or "
                "ask for fewer matches with limit",
            )
        self.done += count
        self._faults += faults
        most = self.service.limits.faults
        if self._faults > most:
            last = answers.rstrip(b"\n").rpartition(b"\n")[2].decode(errors="replace")
            raise Problem(
                "invalid_document",
                f"more than {most:,} lines are wrong, the last answer is {last:.300}; repair them "
                "and send the stream again",
            )


async def streamed(
    service: Service,
    exchange: Exchange,
    work: Callable[[Stream], None],
    media_type: str = NDJSON,
) -> None:
    """Run `work` in a thread, then send the answers that it wrote."""
    if service.streams >= service.limits.streams:
        raise Problem(
            "queue_full",
            f"{service.streams} streams are being read already; nothing was done: try again in a "
            "few seconds",
            retry_after=2,
        )
    service.streams += 1
    stream = Stream(service, exchange)
    try:
        try:
            await asyncio.get_running_loop().run_in_executor(None, work, stream)
        except Problem as problem:
            if not stream.done:
                raise
            raise Problem(
                problem.code,
                f"{problem.detail} (the first {stream.done:,} lines or rows were done before that; "
                "all of them can be sent again)",
                retry_after=problem.retry_after,
            ) from None
        size = stream.answers.tell()
        stream.answers.seek(0)
        await exchange.answer_file(stream.answers, size, media_type)
    finally:
        service.streams -= 1
        stream.answers.close()


def _pieces(block: bytes, most: int) -> Iterator[bytes]:
    """A block of lines in pieces of at most `most` lines."""
    if block.count(b"\n") < most:
        yield block
        return
    feeds = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
    begin = 0
    for end in feeds[most - 1 :: most].tolist():
        yield block[begin:end]
        begin = end + 1
    yield block[begin:]


async def arrow_batches(exchange: Exchange) -> list[pa.RecordBatch]:
    """The batches of an Arrow body, checked in full: a wrong offset would read anywhere."""
    data = await exchange.body.read()

    def read() -> list[pa.RecordBatch]:
        try:
            require_plain(data)
            with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
                found = []
                for batch in reader:
                    batch.validate(full=True)
                    found += [
                        batch.slice(begin, _ROWS_AT_ONCE)
                        for begin in range(0, batch.num_rows, _ROWS_AT_ONCE)
                    ]
                return found
        except (pa.ArrowException, OSError, ValueError) as error:
            raise InputError(
                f"the body is not a valid Arrow IPC stream: {printable(str(error))}"
            ) from None

    return await asyncio.get_running_loop().run_in_executor(None, read)


async def answer_arrow(
    exchange: Exchange, batches: list[pa.RecordBatch], schema: pa.Schema
) -> None:
    """Answer with an Arrow stream."""
    out = io.BytesIO()
    with pa.ipc.new_stream(out, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    size = out.tell()
    out.seek(0)
    await exchange.answer_file(out, size, ARROW)
