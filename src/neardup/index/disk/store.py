"""The store of the index on disk: a folder with an LMDB environment."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from neardup.atomic import TemporaryFolder
from neardup.errors import NeardupError
from neardup.features.idf import IdfTable
from neardup.index.disk import change as merging, environment as environments
from neardup.index.disk.change import DiskChange, Packing
from neardup.index.disk.damage import DamageError, damage_told
from neardup.index.disk.environment import Environment
from neardup.index.disk.id_table import in_sorted
from neardup.index.disk.records import (
    FORMAT_KEY,
    IDF_KEY,
    SETTINGS_KEY,
    STATE_KEY,
    Dead,
    Mapped,
    State,
    Stored,
)
from neardup.index.disk.view import DiskView, Tail
from neardup.index.entries import Entries
from neardup.index.match import Match
from neardup.index.settings import IndexSettings
from neardup.index.store import Change, Store
from neardup.kernels.index_tables import MemoryTables, segment_rows

FORMAT = "neardup index 1"
Found = TypeVar("Found")


class DiskStore(Store):
    """Documents in a folder, for any number of readers and one writer at a time."""

    def __init__(
        self, environment: Environment, settings: IndexSettings, idf: IdfTable | None
    ) -> None:
        self._environment = environment
        self._path = environment.path
        self.settings = settings
        self.idf = idf
        self._packing = Packing(settings.plan.mask_rows(), settings.plan.bits, merging.MOST_IN_TAIL)
        self._lock = threading.Lock()
        self._tail = Tail(*self._packing.plan)
        self._dead = Dead()
        self._mapped = Mapped()

    @contextmanager
    def view(self) -> Iterator[DiskView]:
        """The state of the last commit, for one thread at a time, as threads share the tail."""
        with self._lock, damage_told(self._path), self._environment.reading() as transaction:
            yield self._seen(DiskView, transaction, reads=True)

    def nearest(self, row: bytes, max_distance: int, limit: int | None) -> list[Match]:
        with self.view() as view:
            return view.nearest(row, max_distance, limit)

    def change(self, work: Callable[[Change], Found]) -> Found:
        """Run `work` in one transaction."""

        def attempt(transaction: Any) -> Found:
            change = self._seen(DiskChange, transaction, reads=False)
            change.packing = self._packing
            found = work(change)
            change.finish()
            return found

        with self._lock, damage_told(self._path):
            return self._environment.write(attempt)

    def entries(self, *, whole: bool = True) -> Iterator[Entries]:
        """One transaction for each block, so that a slow reader delays no writer."""
        with self.view() as view:
            alive = view.numbers()
        first = 0
        while True:
            with self.view() as view:
                assert isinstance(view, DiskView)
                found = view.stored.block(first)
                if found is None:
                    return
                numbers = found.numbers()
                first = int(numbers[-1]) + 1
                some = found.entries(whole=whole).take(np.flatnonzero(in_sorted(numbers, alive)))
            if len(some):
                yield some

    def sizes(self) -> dict[str, int]:
        """Bytes of segments, id tables and the file."""
        with self.view() as view:
            assert isinstance(view, DiskView)
            keys = [segment.key for segment in view.state.segments]
            return {
                "segments": sum(len(view.stored.segment(key)) for key in keys),
                "ids": sum(view.stored.id_table(key).nbytes for key in keys),
                "file": self._environment.used_bytes(),
            }

    def largest_buckets(self, count: int) -> list[int]:
        """Load all fingerprints into tables in memory, and count there."""
        tables = MemoryTables(*self._packing.plan)
        with self.view() as view:
            assert isinstance(view, DiskView)
            for segment in view.state.segments:
                numbers, rows = segment_rows(view.stored.segment(segment.key))
                alive = ~in_sorted(numbers, view.dead[segment.key])
                tables.add(numbers[alive], np.ascontiguousarray(rows[alive]))
            view.tail.add_to(tables)
        return tables.largest_buckets(count)

    def flush(self) -> None:
        """Wait until all commits are on disk."""
        self._environment.flush()

    def close(self) -> None:
        """Close the files, unless another `Index` of this program uses them."""
        with self._lock:
            self._mapped = Mapped()
            environments.release(self._environment)

    def _seen(self, kind: Callable[..., Found], transaction: Any, *, reads: bool) -> Found:
        words = self.settings.scheme.row_words
        stored = Stored(transaction, self._mapped, adds=reads, row_words=words)
        state = stored.state()
        self._mapped.follow(state, self._environment.map_number)
        self._tail.follow(stored, state)
        return kind(stored, state, self._tail, self._dead)


def open_store(
    path: Path, chosen: Mapping[str, Any], *, create: bool, readonly: bool, sync: bool
) -> DiskStore:
    """Open the index in a folder, or create it; an existing one must have the given settings."""
    creates = create and not readonly
    if creates and not is_index(path):
        _wanted(chosen)  # wrong settings raise before anything is created
    is_new = _require_place(path, create=creates)
    try:
        return _opened(path, chosen, creates=creates, readonly=readonly, sync=sync)
    except BaseException:
        if is_new:
            _unmake(path)
        raise


def _opened(
    path: Path, chosen: Mapping[str, Any], *, creates: bool, readonly: bool, sync: bool
) -> DiskStore:
    environment = environments.acquire(path, readonly=readonly, sync=sync)
    try:
        with environment.reading() as transaction:
            held = _read(Stored(transaction, Mapped(), adds=False), path)
        if held is None:
            if not creates:
                raise NeardupError(f"{path} holds no index; create one with neardup index create")
            held = _made(environment, *_wanted(chosen))
        else:
            held[0].require(chosen, str(path))
        return DiskStore(environment, *held)
    except BaseException:
        environments.release(environment)
        raise


def is_made(path: Path) -> bool:
    """Whether a folder holds an index; an interrupted run may have left an empty environment."""
    if not is_index(path):
        return False
    environment = environments.acquire(path, readonly=not os.access(path, os.W_OK), sync=True)
    try:
        with environment.reading() as transaction:
            return not Stored(transaction, Mapped(), adds=False).is_empty()
    finally:
        environments.release(environment)


def _unmake(path: Path) -> None:
    """Remove the folder of an index that could not be created, unless it has other files."""
    with suppress(OSError):
        for name in environments.FILES:
            (path / name).unlink(missing_ok=True)
        path.rmdir()


def _require_place(path: Path, *, create: bool) -> bool:
    """Check the path and create the folder if needed; return whether it is new."""
    try:
        if not path.exists():
            if not create:
                raise NeardupError(
                    f"there is no index {path}; create one with neardup index create"
                )
            try:
                path.mkdir()
            except OSError as error:
                raise NeardupError(f"cannot create {path}: {error.strerror}") from None
            return True
        if not path.is_dir():
            raise NeardupError(f"{path} is a file, but an index is a folder; name another path")
        if not (path / environments.DATA).is_file() and (not create or any(path.iterdir())):
            raise NeardupError(f"{path} is a folder, but not an index; name another one")
        return False
    except OSError as error:
        raise NeardupError(f"{path} cannot be opened: {error.strerror}") from None
    except ValueError as error:  # a character that is invalid in paths
        raise NeardupError(f"{str(path)!r} cannot be an index: {error}") from None


def _wanted(chosen: Mapping[str, Any]) -> tuple[IndexSettings, IdfTable | None]:
    """The settings of a new index, and its idf table if it needs one."""
    settings = IndexSettings.of(chosen)
    given = chosen.get("idf")
    table = given if given is None or isinstance(given, IdfTable) else IdfTable.load(given)
    settings.fingerprinter(chosen.get("hash"), table, 1)
    return settings if table is None else settings.with_idf(table), table


def _made(
    environment: Environment, settings: IndexSettings, table: IdfTable | None
) -> tuple[IndexSettings, IdfTable | None]:
    """Write settings and an empty state in one transaction."""

    def write(transaction: Any) -> None:
        stored = Stored(transaction, Mapped(), adds=False)
        stored.put_about(FORMAT_KEY, FORMAT.encode())
        stored.put_about(SETTINGS_KEY, settings.to_bytes())
        stored.put_about(STATE_KEY, State.new().to_bytes())
        if table is not None:
            stored.put_about(IDF_KEY, _saved(table))

    environment.write(write)
    return settings, table


def _read(stored: Stored, path: Path) -> tuple[IndexSettings, IdfTable | None] | None:
    """The settings of an index; None if nothing was ever committed."""
    if stored.is_empty():
        return None
    data = stored.about(FORMAT_KEY)
    if data is None:
        raise NeardupError(
            f"{path} belongs to another program: it is an LMDB environment, but not an index; name "
            "another folder"
        )
    found = bytes(data).decode(errors="replace")
    if found != FORMAT:
        raise NeardupError(
            f"{path} is {found}, but this version reads {FORMAT}; use the version that wrote it"
        )
    with damage_told(path):
        return _settings(stored)


def _settings(stored: Stored) -> tuple[IndexSettings, IdfTable | None]:
    try:
        settings = IndexSettings.of_bytes(bytes(stored.about(SETTINGS_KEY) or b""))
        data = stored.about(IDF_KEY)
        table = None if data is None else _loaded(bytes(data))
    except (NeardupError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamageError(f"its settings cannot be read: {error}") from error
    if (settings.scheme.idf or None) != (None if table is None else table.content):
        raise DamageError("its idf table is not the one that it was made with")
    return settings, table


def _saved(table: IdfTable) -> bytes:
    with TemporaryFolder() as folder:
        path = folder / "idf.parquet"
        table.save(path)
        return path.read_bytes()


def _loaded(data: bytes) -> IdfTable:
    with TemporaryFolder() as folder:
        path = folder / "idf.parquet"
        path.write_bytes(data)
        return IdfTable.load(path)


def is_index(path: str | os.PathLike[str]) -> bool:
    """Whether a folder has the data file of an index."""
    return os.path.isfile(Path(path, environments.DATA))
