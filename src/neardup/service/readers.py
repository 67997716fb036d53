"""The indexes that a worker reads: opened by name, and dropped when they are deleted."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from neardup.errors import NeardupError, SettingError
from neardup.index import Index
from neardup.index.disk.damage import DamagedIndexError
from neardup.index.disk.opening import is_index, is_made
from neardup.index.lines import LineFormat
from neardup.service.data_root import DataRoot
from neardup.service.limits import Limits
from neardup.service.problems import no_index
from neardup.service.shared import Shared

MOST_OPEN = 256
# A question with more text than this takes some ten milliseconds and is answered by a thread, so
# that others need not wait for it.
_LONG = 1 << 19
Found = TypeVar("Found")


class Reader:
    """An open index. `index` is for short questions, `apart` for those that hold locks for long.

    Its files are closed when the last request that uses it has let go of it.
    """

    def __init__(self, name: str, index: Index, apart: Index, identity: Any, longest: int) -> None:
        self.name = name
        self.index = index
        self.apart = apart
        self.identity = identity
        self.form = LineFormat(index.scheme, max_document=longest, objects_only=True)

    async def ask(self, size: int, question: Callable[[Index], Found]) -> Found:
        """Ask the index; `size` is the amount of text."""
        if size <= _LONG:
            return question(self.index)
        return await asyncio.get_running_loop().run_in_executor(None, question, self.index)

    async def ask_apart(self, question: Callable[[Index], Found]) -> Found:
        """Ask what takes long whatever the size of the question."""
        return await asyncio.get_running_loop().run_in_executor(None, question, self.apart)


class Readers:
    """Opens indexes for reading; the writer counts generations whenever one appears or goes.

    `threads` is for one question: with as many workers as cores, each has one.
    """

    def __init__(self, root: DataRoot, limits: Limits, shared: Shared, threads: int) -> None:
        self._root = root
        self._threads = threads
        self._limits = limits
        self._shared = shared
        self._generation = shared.generation
        self._open: dict[str, Reader] = {}
        self._turn = asyncio.Lock()

    async def get(self, name: str) -> Reader:
        """The index of that name; a problem if there is none."""
        if self._generation == self._shared.generation:
            found = self._open.pop(name, None)
            if found is not None:
                self._open[name] = found  # the one that was not asked for longest comes first
                return found
        return await self._opened(name)

    def exists(self, name: str) -> bool:
        """Whether there is an index of that name."""
        try:
            return is_index(self._root.index(name))
        except SettingError:
            return False

    def names(self) -> list[str]:
        """The names of all indexes, in order."""
        try:
            found = os.listdir(self._root.indexes)
        except FileNotFoundError:
            return []
        return sorted(filter(self.exists, found))

    def close(self) -> None:
        self._open = {}

    async def _opened(self, name: str) -> Reader:
        path = self._root.index(name)
        async with self._turn:
            if self._generation != self._shared.generation:
                await self._follow()
            found = self._open.get(name)
            if found is not None:
                return found
            while len(self._open) >= MOST_OPEN:
                del self._open[next(iter(self._open))]
            reader = await self._open_at(name, path)
            self._open[name] = reader
            return reader

    async def _open_at(self, name: str, path: Path) -> Reader:
        """Open an index; again if it was deleted and created anew meanwhile."""

        def opened() -> Reader:
            identity = _identity(path)
            index = Index(path, readonly=True, create=False, threads=self._threads)
            apart = Index(path, readonly=True, create=False, threads=self._threads)
            return Reader(name, index, apart, identity, self._limits.text)

        while is_index(path):
            generation = self._shared.generation
            try:
                reader: Reader = await self._in_thread(opened)
            except DamagedIndexError:
                raise
            except (NeardupError, OSError):
                is_there = await self._in_thread(lambda: _is_there(path))
                if self._shared.generation == generation:
                    if is_there:
                        raise
                    break  # just being deleted or created
            else:
                if _identity(path) == reader.identity:
                    return reader
        raise no_index(name)

    async def _follow(self) -> None:
        """Drop the indexes that were deleted, or replaced by others of the same name."""
        generation = self._shared.generation
        for name, reader in list(self._open.items()):
            if _identity(self._root.index(name)) != reader.identity:
                del self._open[name]
        self._generation = generation

    async def _in_thread(self, work: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(None, work)


def _is_there(path: Path) -> bool:
    """Whether a folder holds an index, sound or not."""
    try:
        return is_made(path)
    except (NeardupError, OSError):
        return is_index(path)


def _identity(path: Any) -> tuple[int, int] | None:
    try:
        about = os.stat(path)
    except OSError:
        return None
    return about.st_dev, about.st_ino
