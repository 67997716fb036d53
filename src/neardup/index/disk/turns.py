"""Writers take turns: threads of one process share a transaction, processes wait for each other.

A commit waits for the disk. The changes that threads ask for meanwhile are made together in the
next transaction, so that throughput grows with the number of threads, while each call still returns
only when its change is durable.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeVar

from neardup.errors import NeardupError
from neardup.system import locks

LOCK = "writer.lock"
_MOST_TOGETHER = 1024
_FIRST_PAUSE, _LONGEST_PAUSE = 0.0002, 0.005

Work = TypeVar("Work")
Done = TypeVar("Done")


class WaitedTooLongError(NeardupError):
    """A change has waited longer than the timeout; nothing was changed."""


class _Request(Generic[Work, Done]):
    """One piece of work, and how it ended. `ready` is held until then, or until it is to lead."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.ready = threading.Lock()
        self.leads = False
        self.is_done = False
        self.result: Done | None = None
        self.error: BaseException | None = None


class Grouped(Generic[Work, Done]):
    """Runs the work of many threads in groups: `run` takes a list of work, and returns results.

    If a group fails, its members run again one by one, so that an error concerns only its cause; a
    time-out concerns all of them.
    """

    def __init__(
        self, run: Callable[[list[Work]], list[Done]], too_long: Callable[[], str]
    ) -> None:
        self._run = run
        self._too_long = too_long
        self._lock = threading.Lock()
        self._queue: list[_Request[Work, Done]] = []
        self._busy = False

    def submit(self, work: Work, timeout: float) -> Done:
        """Run one piece of work, perhaps together with that of other threads."""
        request: _Request[Work, Done] = _Request(work)
        with self._lock:
            if self._busy:
                request.ready.acquire()
                self._queue.append(request)
                leads = False
            else:
                self._busy = leads = True
        if not leads:
            self._wait(request, timeout)
            leads = request.leads
        if leads:
            self._lead(request)
        if request.error is not None:
            raise request.error
        return request.result  # type: ignore[return-value]

    def _wait(self, request: _Request[Work, Done], timeout: float) -> None:
        try:
            if request.ready.acquire(timeout=timeout):
                return
            with self._lock:
                if request in self._queue:
                    raise WaitedTooLongError(self._too_long())
            request.ready.acquire()  # it is being written
        except BaseException:  # too late, or interrupted
            with self._lock:
                if request in self._queue:
                    self._queue.remove(request)
                elif request.leads:
                    self._pass_on()
            raise

    def _lead(self, request: _Request[Work, Done]) -> None:
        with self._lock:
            group = [request, *self._queue[: _MOST_TOGETHER - 1]]
            del self._queue[: _MOST_TOGETHER - 1]
        others = group[1:]
        try:
            self._run_group(group)
        except BaseException as error:  # the leader was interrupted: others go on without it
            request.error = error
            with self._lock:
                self._queue[:0] = [other for other in others if not other.is_done]
            others = [other for other in others if other.is_done]
        finally:
            with self._lock:
                self._pass_on()
            for other in others:
                other.ready.release()

    def _pass_on(self) -> None:
        """Let the next one lead, if anyone waits; the caller holds the lock."""
        self._busy = bool(self._queue)
        if self._queue:
            leader = self._queue.pop(0)
            leader.leads = True
            leader.ready.release()

    def _run_group(self, group: list[_Request[Work, Done]]) -> None:
        try:
            results = self._run([request.work for request in group])
        except Exception as error:
            if len(group) > 1 and not isinstance(error, WaitedTooLongError):
                for request in group:
                    self._run_group([request])
                return
            for request in group:
                request.error, request.is_done = error, True
            return
        for request, result in zip(group, results, strict=True):
            request.result, request.is_done = result, True


class WriterLock:
    """A lock file that one process holds while it writes; LMDB's own lock knows no time-out."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)

    @contextmanager
    def held(self, timeout: float, until: float) -> Iterator[None]:
        """Hold the lock; a `WaitedTooLongError` if another process does not let go of it in time.

        `until` is when the timeout ends, by `time.monotonic`.
        """
        self._take(timeout, until)
        try:
            yield
        finally:
            locks.unlock(self._file)

    def is_free(self) -> bool:
        """Whether no process holds the lock at this moment."""
        if not locks.try_lock(self._file):
            return False
        locks.unlock(self._file)
        return True

    def close(self) -> None:
        os.close(self._file)

    def _take(self, timeout: float, until: float) -> None:
        pause = _FIRST_PAUSE
        while not locks.try_lock(self._file):
            if time.monotonic() >= until:
                raise WaitedTooLongError(waited_too_long(self._folder, timeout))
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


def waited_too_long(folder: Path, timeout: float) -> str:
    """The message of a time-out."""
    return (
        f"{folder} is being written by another program or thread, which has not finished in "
        f"{timeout:g} s; nothing was changed: try again later, or open it with a longer timeout"
    )
