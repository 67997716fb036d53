"""The runs that the pages of a worker show: opened once, closed when nobody looks any more."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from neardup.errors import NeardupError
from neardup.runs import Run, open_run
from neardup.service.data_root import DataRoot
from neardup.service.jobs import result_folder
from neardup.system import locks

MOST_OPEN = 8
# The first page of a large run waits this long for its index; then it says how far that is.
_PATIENCE = 5.0
_IDLE = 600.0
_SECONDS_BETWEEN_LOOKS = 5.0
# Beside the results: workers that are asked for the same run build its index once.
_LOCK = ".explore.lock"

Identity = tuple[int, int, int, int]


class NoRunError(NeardupError):
    """A job without results: unknown, not done, or deleted."""


class OpeningError(NeardupError):
    """The index of a run is being built; `share` of it is done, if that is known."""

    def __init__(self, share: float | None) -> None:
        super().__init__("the index of this run is being built; try again in a few seconds")
        self.share = share


@dataclass(eq=False)
class _Opened:
    run: Run
    identity: Identity
    users: int = 0
    is_dropped: bool = False
    used: float = field(default_factory=time.monotonic)


@dataclass(eq=False)
class _Opening:
    share: float | None = None
    done: asyncio.Future[Run] = field(init=False)


class OpenRuns:
    """Runs by the ids of their jobs, for one event loop; at most eight are kept open."""

    def __init__(self, root: DataRoot) -> None:
        self._root = root
        self._open: dict[str, _Opened] = {}  # the one that was not asked for longest comes first
        self._opening: dict[str, _Opening] = {}
        self._threads = ThreadPoolExecutor(1, "open-runs")
        self._timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def using(self, id: str) -> AsyncIterator[Run]:
        """The run of a job, which stays open meanwhile; `NoRunError`, `OpeningError`."""
        opened = await self._get(id)
        opened.users += 1
        try:
            yield opened.run
        except Exception:
            if self._identity(id) != opened.identity:  # deleted while the page was made
                raise NoRunError(id) from None
            raise
        finally:
            opened.users -= 1
            opened.used = time.monotonic()
            if opened.is_dropped and not opened.users:
                opened.run.close()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for id in list(self._open):
            self._drop(id)
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _get(self, id: str) -> _Opened:
        identity = self._identity(id)
        found = self._open.get(id)
        if found is not None and found.identity != identity:
            self._drop(id)
            found = None
        if identity is None:
            raise NoRunError(id)
        if found is None:
            opening = self._opening.get(id) or self._begin(id, identity)
            await asyncio.wait([opening.done], timeout=_PATIENCE)
            if not opening.done.done():
                raise OpeningError(opening.share)
            opening.done.result()  # raises what went wrong
            found = self._open.get(id)
            if found is None:  # deleted at once
                raise NoRunError(id)
        self._open[id] = self._open.pop(id)
        return found

    def _begin(self, id: str, identity: Identity) -> _Opening:
        folder = result_folder(self._root, id)
        assert folder is not None
        opening = self._opening[id] = _Opening()
        opening.done = asyncio.get_running_loop().run_in_executor(
            self._threads, self._opened, folder, opening
        )
        opening.done.add_done_callback(lambda done: self._ended(id, identity, done))
        return opening

    def _opened(self, folder: Path, opening: _Opening) -> Run:
        """Open a run, in a thread."""

        def told(done: int, total: int | None, documents: int) -> None:
            opening.share = min(1.0, done / total) if total else None

        try:
            with _locked(folder.parent / _LOCK):
                run = open_run(folder, progress=told)
        except OSError as error:
            if not folder.exists():
                raise NoRunError(str(folder)) from None
            raise NeardupError(f"the run cannot be opened: {error.strerror or error}") from None
        # As the jobs themselves see it; where the data folder is concerns nobody.
        run.path = folder.relative_to(self._root.path)
        return run

    def _ended(self, id: str, identity: Identity, done: asyncio.Future[Run]) -> None:
        del self._opening[id]
        if done.cancelled() or done.exception() is not None:
            return  # whoever waits is told; the next one tries again
        self._open[id] = _Opened(done.result(), identity)
        while len(self._open) > MOST_OPEN:
            self._drop(next(iter(self._open)))
        if self._timer is None:
            self._look()

    def _look(self) -> None:
        """Close the runs of deleted jobs, whose files take space until then, and forgotten ones."""
        now = time.monotonic()
        for id, opened in list(self._open.items()):
            is_idle = not opened.users and now - opened.used > _IDLE
            if is_idle or self._identity(id) != opened.identity:
                self._drop(id)
        self._timer = None
        if self._open:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(_SECONDS_BETWEEN_LOOKS, self._look)

    def _drop(self, id: str) -> None:
        opened = self._open.pop(id)
        opened.is_dropped = True
        if not opened.users:
            opened.run.close()

    def _identity(self, id: str) -> Identity | None:
        folder = result_folder(self._root, id)
        if folder is None:
            return None
        try:
            found = os.stat(folder / "summary.json")
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        locks.lock(file)
        yield
    finally:
        os.close(file)
