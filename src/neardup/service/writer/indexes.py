"""The indexes that the writer has open: opened, created and deleted by name."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from neardup.errors import InputError
from neardup.features.idf import IdfTable
from neardup.index import Index
from neardup.index.disk.opening import is_index, wanted
from neardup.service.data_root import DataRoot
from neardup.service.problems import Problem, no_index
from neardup.service.results import Row, index_row
from neardup.service.shared import Shared
from neardup.service.writer.write_queue import WriteQueue

MOST_OPEN = 256
# Folders that are no indexes: not yet, or no longer.
_TRASH = ".aside-"
_COMPARED = (
    *("scheme", "similarity", "threshold", "complete", "ttl", "max_distance", "plan"),
    *("store_text", "store_features"),
)


class OpenIndexes:
    """Opening, creating and deleting take turns; using an open index does not wait for them."""

    def __init__(
        self,
        root: DataRoot,
        shared: Shared,
        serving: Callable[[str, Index], WriteQueue],
        pool: Executor,
    ) -> None:
        self._root = root
        self._shared = shared
        self._serving = serving
        self._pool = pool
        self._turn = asyncio.Lock()
        self._open: dict[str, WriteQueue] = {}
        for path in root.indexes.glob(f"{_TRASH}*"):  # of a process that was killed
            shutil.rmtree(path, ignore_errors=True)

    def get(self, name: str) -> WriteQueue | None:
        """The index, if it is open."""
        return self._open.get(name)

    async def opened(self, name: str, *, create: bool = False) -> WriteQueue:
        """Open an index; `create` makes one with the default settings if there is none."""
        path = self._root.index(name)
        async with self._turn:
            found = self._open.get(name)
            if found is not None:
                return found
            is_new = not is_index(path)
            if is_new and not create:
                raise no_index(name)
            return await self._open_at(name, path, {}, is_new=is_new)

    async def create(self, name: str, settings: dict[str, Any]) -> tuple[Row, bool]:
        """Create an index, or require that it has these settings; return whether it is new."""
        path = self._root.index(name)
        try:
            if settings.get("idf") is not None:
                path_of_idf = str(self._root.inside(settings["idf"]))
                settings["idf"] = await self._in_thread(IdfTable.load, path_of_idf)
        except InputError as error:
            raise Problem("invalid_setting", f"idf: {error}") from None
        async with self._turn:
            found = self._open.get(name)
            is_new = found is None and not is_index(path)
            if found is None:
                found = await self._open_at(name, path, settings if is_new else {}, is_new=is_new)
            if not is_new:
                await self._in_thread(require_same, name, found.index, settings)
            return index_row(name, found.index), is_new

    async def delete(self, name: str) -> None:
        """Delete an index; what waits for it is done first."""
        path = self._root.index(name)
        async with self._turn:
            if not is_index(path):
                raise no_index(name)
            await self._close(name)
            trash = path.with_name(f"{_TRASH}{os.urandom(8).hex()}")
            path.rename(trash)
            self._shared.next_generation()
        await self._in_thread(shutil.rmtree, trash)

    async def close(self) -> None:
        """Do what waits, and close everything."""
        async with self._turn:
            for name in list(self._open):
                await self._close(name)

    async def _open_at(
        self, name: str, path: Path, settings: dict[str, Any], *, is_new: bool
    ) -> WriteQueue:
        if len(self._open) >= MOST_OPEN:
            await self._make_room()
        if is_new and path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise Problem(
                "name_taken",
                f"indexes/{name} is there, but it is not an index; choose another name, or move it "
                "away",
            )
        if is_new:
            await self._in_thread(_create_at, path, settings)
            settings = {}
        index = await self._in_thread(lambda: Index(path, **settings))
        queue = self._open[name] = self._serving(name, index)
        if is_new:
            self._shared.next_generation()
        return queue

    async def _close(self, name: str) -> None:
        """Close an index, if it is open; nothing is put into its queue from now on."""
        queue = self._open.pop(name, None)
        if queue is not None:
            queue.seal()
            await self._in_thread(queue.close)

    async def _make_room(self) -> None:
        """Close an index that nobody waits for, that which was opened first."""
        for name, queue in list(self._open.items()):
            if not queue.waiting:
                await self._close(name)
                return
        raise Problem(
            "queue_full",
            f"{MOST_OPEN} indexes are being written at the moment; try again in a second",
            retry_after=1,
        )

    async def _in_thread(self, work: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, *arguments)


def _create_at(path: Path, settings: dict[str, Any]) -> None:
    """Create an index aside and rename it, so that nobody opens one that is half created."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f"{_TRASH}{os.urandom(8).hex()}")
    try:
        Index(aside, **settings).close()
        aside.rename(path)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise


def require_same(name: str, index: Index, settings: dict[str, Any]) -> None:
    """Raise a problem that names the first setting that an index has otherwise."""
    asked, _ = wanted({key: value for key, value in settings.items() if value is not None})
    for setting in _COMPARED:
        has, given = getattr(index.settings, setting), getattr(asked, setting)
        if has != given:
            raise Problem(
                "settings_differ",
                f"the index {name} has {setting} {has}, but {given} was asked for; settings are "
                "fixed when an index is created: use another name, or delete the index first",
            )
