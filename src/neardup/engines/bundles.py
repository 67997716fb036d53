"""Messages as rows of a shuffle: those to one task travel together, if need be by way of a relay.

A shuffle costs some work for each row and each pair of tasks, whatever they exchange. So the
messages that a task sends to another are bundled into few rows. Where very many tasks send to very
many, rows go to relays first: senders and receivers form groups, and a relay passes on all that one
group sends to another. With n tasks on both sides, each then exchanges rows with √n others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from neardup.engines.exchange import Message
from neardup.frozen import dataclass

SCHEMA = "to int, task int, blob binary"
# Messages of so many bytes wait to be bundled; those to one task wait no longer than this.
HELD_BYTES, _BUNDLE_BYTES = 128 << 20, 1 << 20
_BATCH_BYTES, _BATCH_ROWS = 4 << 20, 256
_NUMBER = np.dtype("<i8")

Route = Callable[[int], int]


@dataclass(frozen=True)
class Relays:
    """The grid of relays between two steps: a row for a group of senders, a column of receivers."""

    senders: int
    receivers: int

    @property
    def rows(self) -> int:
        return math.isqrt(self.senders - 1) + 1

    @property
    def columns(self) -> int:
        return math.isqrt(self.receivers - 1) + 1

    @property
    def count(self) -> int:
        return self.rows * self.columns

    def between(self, sender: int, receiver: int) -> int:
        """The relay for what one task sends to another."""
        row = sender * self.rows // self.senders
        return row * self.columns + receiver * self.columns // self.receivers


def rows_of(messages: Iterable[Message], route: Route) -> Iterator[pa.RecordBatch]:
    """Messages as rows in bounded batches; `route` gives what leads a row to a task."""
    to: list[int] = []
    tasks: list[int] = []
    blobs: list[bytes] = []
    size = 0
    for task, blob in _bundled(messages):
        to.append(route(task))
        tasks.append(task)
        blobs.append(blob)
        size += len(blob)
        if size >= _BATCH_BYTES or len(blobs) >= _BATCH_ROWS:
            yield _batch(to, tasks, blobs)
            to, tasks, blobs, size = [], [], [], 0
    if blobs:
        yield _batch(to, tasks, blobs)


def messages_of(batches: Iterable[pa.RecordBatch | pa.Table]) -> Iterator[Message]:
    """The messages that were made rows of."""
    for batch in batches:
        tasks, blobs = (batch.column(name).to_pylist() for name in ("task", "blob"))
        for task, blob in zip(tasks, blobs, strict=True):
            yield from _opened(task, blob)


def _bundled(messages: Iterable[Message]) -> Iterator[tuple[int, bytes]]:
    """Tasks and bundles of messages to them, in the order in which they were sent."""
    held: dict[int, list[Message]] = {}
    sizes: dict[int, int] = {}
    total = 0
    for message in messages:
        task, size = message.to, len(message.blob)
        held.setdefault(task, []).append(message)
        sizes[task] = sizes.get(task, 0) + size
        total += size
        if sizes[task] >= _BUNDLE_BYTES:
            total -= sizes.pop(task)
            yield task, _closed(held.pop(task))
        elif total >= HELD_BYTES:
            yield from ((task, _closed(some)) for task, some in held.items())
            held, sizes, total = {}, {}, 0
    yield from ((task, _closed(some)) for task, some in held.items())


def _closed(messages: Sequence[Message]) -> bytes:
    """A bundle: how many messages, their tags, their lengths, their blobs."""
    tags = [message.tag for message in messages]
    lengths = [len(message.blob) for message in messages]
    numbers = np.array([len(messages), *tags, *lengths], _NUMBER)
    return b"".join((numbers.tobytes(), *(message.blob for message in messages)))


def _opened(task: int, bundle: bytes) -> Iterator[Message]:
    count = int.from_bytes(bundle[: _NUMBER.itemsize], "little")
    numbers = np.frombuffer(bundle, _NUMBER, 2 * count, _NUMBER.itemsize)
    at = (1 + 2 * count) * _NUMBER.itemsize
    for tag, length in numbers.reshape(2, count).T.tolist():
        yield Message(task, tag, bundle[at : at + length])
        at += length


def _batch(to: list[int], tasks: list[int], blobs: list[bytes]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {
            "to": pa.array(to, pa.int32()),
            "task": pa.array(tasks, pa.int32()),
            "blob": pa.array(blobs, pa.binary()),
        }
    )
