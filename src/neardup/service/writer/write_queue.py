"""The writes of one index: those that have arrived are committed together."""

from __future__ import annotations

import asyncio
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
# A write that is larger may take longer than others may wait for.
_QUICK_BYTES, _QUICK_BYTES_TOGETHER = 1 << 16, 1 << 20


@dataclass(frozen=True, eq=False)
class Write:
    """A write that waits: what it does, what is made of the result, and who is told.

    `prepare` makes the work for a transaction, outside of it; for a write that is `alone`, it does
    everything by itself. `finish` makes the answer of the result. `reply` gets the answer, or an
    exception, in the event loop. A `quick` one stores at most one document.
    """

    size: int
    prepare: Callable[[Index], Any]
    finish: Callable[[Any], Any]
    reply: Callable[[Any], None]
    alone: bool = False
    quick: bool = False


Outcomes = list[tuple[Write, Any]]


class WriteQueue:
    """Commits the writes of an index, many in one transaction.

    While a transaction waits for the disk, the next writes arrive: the busier the service is, the
    more of them share a commit. Short transactions are made by the event loop itself: a thread
    would double their cost, as only one of the two can run at a time. All others, which may take
    seconds, are made by a thread, so that nobody waits for them but who writes to the same index.
    """

    def __init__(
        self,
        name: str,
        index: Index,
        counters: Counters,
        deliver: Callable[[WriteQueue, Outcomes], None],
    ) -> None:
        self.name = name
        self.index = index
        self.waiting = 0  # those who use it, counted by the event loop
        self.is_closed = False
        self.preparing: asyncio.Future[None] | None = None  # done when the last portion is put
        self._counters = counters
        self._deliver = deliver
        self._loop = asyncio.get_running_loop()
        self._arrived: list[Write] = []
        self._in_thread = 0
        self._queue: SimpleQueue[Write | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name=f"write-{name}", daemon=True)
        self._thread.start()

    def put(self, write: Write) -> None:
        """Take a write; it is committed with all others that arrive in this turn of the loop."""
        self.waiting += 1
        if not self._arrived:
            self._loop.call_soon(self._take)
        self._arrived.append(write)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep the queue from being closed for want of use."""
        self.waiting += 1
        try:
            yield
        finally:
            self.waiting -= 1

    def seal(self) -> None:
        """Take no more; call it before `close`, in the event loop."""
        self.is_closed = True
        self._hand_over()

    def close(self) -> None:
        """Do what waits, then close the index; blocks."""
        self._queue.put(None)
        self._thread.join()
        self.index.close()

    def _take(self) -> None:
        if self._are_quick(self._arrived):
            group, self._arrived = self._arrived, []
            self._deliver(self, self._commit(group))
        else:
            self._hand_over()

    def _are_quick(self, writes: list[Write]) -> bool:
        return (
            not self._in_thread
            and 0 < len(writes) <= _MOST_TOGETHER
            and all(write.quick and write.size <= _QUICK_BYTES for write in writes)
            and sum(write.size for write in writes) <= _QUICK_BYTES_TOGETHER
            and self.index.adds_quickly(len(writes))
        )

    def _hand_over(self) -> None:
        """Let the thread do what has arrived."""
        arrived, self._arrived = self._arrived, []
        self._in_thread += len(arrived)
        for write in arrived:
            self._queue.put(write)

    def _delivered(self, outcomes: Outcomes) -> None:
        self._in_thread -= len(outcomes)
        self._deliver(self, outcomes)

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
                self._loop.call_soon_threadsafe(self._delivered, self._commit(group))

    def _commit(self, group: list[Write]) -> Outcomes:
        """Run a group; one that is `alone` comes last, after the others."""
        outcomes: Outcomes = []
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
        return outcomes


def _finished(write: Write, result: Any) -> Any:
    if isinstance(result, Exception):
        return result
    try:
        return write.finish(result)
    except Exception as error:
        return error
