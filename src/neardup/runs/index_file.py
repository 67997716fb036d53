"""Where the index of a run is stored, and when it is built."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_128_hexdigest

from neardup.atomic import TemporaryFolder
from neardup.atomic.unfinished import changing, unfinished_beside
from neardup.collection.source import Progress
from neardup.errors import InputError
from neardup.runs.build import FORMAT, build
from neardup.runs.convert import converted_rows
from neardup.runs.folder import RunFolder
from neardup.sphere.projection import cache_folder

INDEX = "explore.sqlite"
_KEPT_CONNECTIONS = 8
_ATTEMPTS = 3


class IndexFile:
    """The index of a run, opened to read; any number of threads may ask at once."""

    def __init__(self, path: Path, rows: dict[str, Path], about: dict[str, Any]) -> None:
        self.path, self.rows, self.about = path, rows, about
        self._free: deque[sqlite3.Connection] = deque()
        self._arrays: dict[str, NDArray[Any]] = {}
        self._mutex = threading.Lock()
        self.held: TemporaryFolder | None = None  # which would be removed with the index

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """A connection that no other thread uses meanwhile."""
        try:
            connection = self._free.pop()
        except IndexError:
            connection = self._new_connection()
        try:
            yield connection
        except sqlite3.DatabaseError as error:
            connection.close()
            raise self._damaged(error) from None
        if len(self._free) < _KEPT_CONNECTIONS:
            self._free.append(connection)
        else:
            connection.close()

    def _new_connection(self) -> sqlite3.Connection:
        """Another connection; `InputError` if another run is in the folder by now."""
        try:
            connection = _connected(self.path)
            rows = connection.execute("SELECT value FROM about WHERE name = 'identity'").fetchall()
        except sqlite3.DatabaseError as error:
            raise self._damaged(error) from None
        if rows != [(json.dumps(self.about["identity"]),)]:
            connection.close()
            raise InputError(f"{self.path.parent} holds another run by now; open it again")
        return connection

    def _damaged(self, error: sqlite3.Error) -> InputError:
        return InputError(f"{self.path} is damaged: {error}; delete it, and it is built again")

    def rows_of(self, statement: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """All rows that a statement selects."""
        with self.connection() as connection:
            return connection.execute(statement, values).fetchall()

    def array(self, name: str) -> NDArray[Any]:
        """A stored array; it is read once."""
        with self._mutex:
            found = self._arrays.get(name)
            if found is None:
                rows = self.rows_of("SELECT type, data FROM arrays WHERE name = ?", (name,))
                found = np.frombuffer(rows[0][1], np.dtype(rows[0][0]))
                self._arrays[name] = found
            return found

    def close(self) -> None:
        while self._free:
            self._free.pop().close()
        with self._mutex:
            self._arrays.clear()


def opened_index(
    folder: RunFolder, progress: Progress | None, *, read_only: bool
) -> tuple[RunFolder, IndexFile]:
    """The index of a run, built if it is missing, damaged or of another run.

    It is in the folder of the run; if that cannot or must not be written to, in the user's cache
    folder, or in a temporary folder. If the run is replaced meanwhile, the new one is opened.
    """
    for _ in range(_ATTEMPTS):
        for place in (folder.path, _cache_place(folder)):
            found = _valid(folder, place)
            if found is not None:
                return folder, found
        index = _built(folder, progress, read_only)
        folder = RunFolder(folder.path)
        if index.about["identity"] == folder.identity:
            return folder, index
        index.close()
    raise InputError(f"{folder.path} changes all the time; open it when nobody writes to it")


def _built(folder: RunFolder, progress: Progress | None, read_only: bool) -> IndexFile:
    for place in (*(() if read_only else (folder.path,)), _cache_place(folder)):
        if _can_hold(place, make=place != folder.path):
            with unfinished_beside(place.resolve()) as scratch:
                _build_in(folder, scratch, progress)
                names = [name for name in os.listdir(scratch) if name.startswith("explore.")]
                with changing:
                    for name in sorted(names, key=lambda name: name == INDEX):
                        os.replace(scratch / name, place / name)
            found = _valid(folder, place, was_built=True)
            if found is not None:
                return found
            break
    held = TemporaryFolder()
    _build_in(folder, held.path, progress)
    found = _valid(folder, held.path, was_built=True)
    if found is None:
        raise InputError(f"the index of {folder.path} cannot be read back from {held.path}")
    found.held = held
    return found


def _build_in(folder: RunFolder, scratch: Path, progress: Progress | None) -> None:
    """Build the index, with the rows as Parquet if they are not; temporary files go to `work`."""
    work = scratch / "work"
    work.mkdir()
    rows = _row_files(folder, scratch)
    if folder.format != "parquet":
        for kind in ("kept", "removed"):
            converted_rows(folder, kind, rows[kind])
    build(folder, scratch / INDEX, rows, work, progress)
    shutil.rmtree(work)


def _row_files(folder: RunFolder, place: Path) -> dict[str, Path]:
    """The Parquet files of the rows; those that had to be made are beside the index."""
    beside = folder.path if folder.format == "parquet" else place
    prefix = "" if folder.format == "parquet" else "explore."
    rows = {kind: beside / f"{prefix}{kind}.parquet" for kind in ("kept", "removed")}
    if folder.has("others.parquet"):
        rows["others"] = folder.path / "others.parquet"
    return rows


def _valid(folder: RunFolder, place: Path, *, was_built: bool = False) -> IndexFile | None:
    """The index in a folder, if it is there and of this run."""
    path, rows = place / INDEX, _row_files(folder, place)
    if not path.is_file() or not all(file.exists() for file in rows.values()):
        return None
    try:
        connection = _connected(path)
        try:
            found = dict(connection.execute("SELECT name, value FROM about").fetchall())
        finally:
            connection.close()
        about = {name: json.loads(value) for name, value in found.items()}
    except (sqlite3.DatabaseError, ValueError):
        return None
    if about.get("format") != FORMAT:
        return None
    if about.get("identity") != folder.identity and not was_built:
        return None
    return IndexFile(path, rows, about)


def _connected(path: Path) -> sqlite3.Connection:
    """A connection to an index, which nobody changes: a new one takes its place."""
    from urllib.parse import quote

    name = quote(os.fsencode(path.resolve()))
    connection = sqlite3.connect(
        f"file:{name}?mode=ro&immutable=1", uri=True, check_same_thread=False, isolation_level=None
    )
    # The folder of a run may come from elsewhere: nothing in its schema may call functions.
    connection.execute("PRAGMA trusted_schema=OFF")
    return connection


def _cache_place(folder: RunFolder) -> Path:
    key = xxh3_128_hexdigest(os.fsencode(folder.path.resolve()))
    return cache_folder() / "runs" / key


def _can_hold(place: Path, *, make: bool) -> bool:
    """Whether files can be moved into the folder from a hidden one beside it."""
    try:
        if make:
            place.mkdir(parents=True, exist_ok=True)
        place = place.resolve()
        writable = all(os.access(one, os.W_OK | os.X_OK) for one in (place, place.parent))
        return writable and place.stat().st_dev == place.parent.stat().st_dev
    except OSError:
        return False
