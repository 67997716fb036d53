"""The writes of one index: they wait in a queue, and a thread commits them together."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from neardup.index import Index
from neardup.index.store import Change
from neardup.service.metrics import Counters

_MOST_TOGETHER = 256
_BYTES_TOGETHER = 32 << 20


@dataclass(frozen=True, eq=False)
class Write:
    """A write that waits: what it does, what is made of the result, and who is told.

    `prepare` makes the work for a transaction, outside of it; for a write that is `alone`, it does
    everything by itself. `finish` makes the answer of the result. Both run in the thread of the
    queue; `reply` gets the answer, or an exception, in the event loop.
    """

    size: int
    prepare: Callable[[Index], Any]
    finish: Callable[[Any], Any]
    reply: Callable[[Any], None]
    alone: bool = False


class WriteQueue:
    """A thread that takes what waits and commits it in one transaction.

    While a transaction waits for the disk, the next writes arrive: the busier the service is, the
    more of them share a commit.
    """

    def __init__(
        self,
        name: str,
        index: Index,
        counters: Counters,
        deliver: Callable[[WriteQueue, list[tuple[Write, Any]]], None],
    ) -> None:
        self.name = name
        self.index = index
        self.waiting = 0  # those who use it, counted by the event loop
        self.is_closed = False
        self._counters = counters
        self._deliver = deliver
        self._queue: SimpleQueue[Write | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name=f"write-{name}", daemon=True)
        self._thread.start()

    def put(self, write: Write) -> None:
        self.waiting += 1
        self._queue.put(write)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep the queue from being closed for want of use."""
        self.waiting += 1
        try:
            yield
        finally:
            self.waiting -= 1

    def close(self) -> None:
        """Do what waits, then close the index; blocks."""
        self._queue.put(None)
        self._thread.join()
        self.index.close()

    def _run(self) -> None:
        ends = False
        while not ends:
            write = self._queue.get()
            group: list[Write] = []
            size = 0
            while write is not None:
                group.append(write)
                size += write.size
                if write.alone or len(group) >= _MOST_TOGETHER or size >= _BYTES_TOGETHER:
                    break
                try:
                    write = self._queue.get_nowait()
                except Empty:
                    break
            ends = write is None
            if group:
                self._commit(group)

    def _commit(self, group: list[Write]) -> None:
        """Run a group; one that is `alone` comes last, after the others."""
        outcomes: list[tuple[Write, Any]] = []
        works: list[Callable[[Change], Any]] = []
        together: list[Write] = []
        for write in group:
            if not write.alone:
                try:
                    works.append(write.prepare(self.index))
                    together.append(write)
                except Exception as error:
                    outcomes.append((write, error))
        if works:
            began = time.perf_counter()
            results = self.index.change_all(works)
            self._counters.observe("commit_seconds", time.perf_counter() - began)
            self._counters.observe("commit_requests", len(works))
            for write, result in zip(together, results, strict=True):
                outcomes.append((write, _finished(write, result)))
        if group[-1].alone:
            try:
                result = group[-1].prepare(self.index)
            except Exception as error:
                result = error
            outcomes.append((group[-1], _finished(group[-1], result)))
        self._deliver(self, outcomes)


def _finished(write: Write, result: Any) -> Any:
    if isinstance(result, Exception):
        return result
    try:
        return write.finish(result)
    except Exception as error:
        return error
