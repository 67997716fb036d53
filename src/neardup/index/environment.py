"""The LMDB environment of a durable index: opened once in a process, grown when it is full."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import lmdb

from neardup.errors import NeardupError, SettingError
from neardup.index.soundness import require_sound

DATA = "data.mdb"
# Addresses, not disk: the file grows with what is written.
FIRST_MAP = 1 << 30
_GROWTH = 4
_READERS = 1024

Found = TypeVar("Found")
_open: dict[tuple[int, int, int], Environment] = {}
_open_lock = threading.Lock()


class Environment:
    """Transactions on the files of one folder, for all threads of the process.

    LMDB lets a process open a folder only once, so all indexes of it share one of these:
    take it with `acquire` and give it back with `release`.
    """

    def __init__(self, path: Path, *, readonly: bool, sync: bool) -> None:
        self.path = path
        self.readonly = readonly
        self.sync = sync
        self.users = 1
        self._writing = threading.Lock()
        self._gate = threading.Condition()
        self._inside = 0
        self.map_number = 0  # another one when the map may lie elsewhere
        with self._explained("opened"):
            self._lmdb = lmdb.open(
                os.fspath(path),
                map_size=max(FIRST_MAP, _file_size(path)),
                max_readers=_READERS,
                readonly=readonly,
                create=not readonly,
                sync=sync,
                max_spare_txns=8,
            )
            self._lmdb.reader_check()  # forgets readers that died
        try:
            with self.reading():
                require_sound(self._lmdb, path / DATA)
        except BaseException:
            self._lmdb.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[Any]:
        """A transaction that sees one state, whatever is written meanwhile."""
        transaction = self._begin_reading()
        try:
            with self._explained("read"):
                yield transaction
        finally:
            transaction.abort()
            with self._gate:
                self._inside -= 1
                self._gate.notify_all()

    def write(self, work: Callable[[Any], Found]) -> Found:
        """Do all of `work` and commit it, or nothing of it; other writers wait.

        Where the map is too small it grows and `work` is done again from the start.
        """
        if self.readonly:
            raise SettingError(f"{self.path} was opened for reading only; open it for writing")
        with self._writing, self._explained("written"):
            while True:
                try:
                    with self._lmdb.begin(write=True, buffers=True) as transaction:
                        return work(transaction)
                except lmdb.MapFullError:
                    self._resize(_GROWTH * self._lmdb.info()["map_size"])
                except lmdb.MapResizedError:
                    self._resize(0)

    def flush(self) -> None:
        """Wait until the disk has all that was committed."""
        with self._explained("written"):
            self._lmdb.sync(True)

    def used_bytes(self) -> int:
        """What the file takes on disk."""
        return os.stat(self.path / DATA).st_blocks * 512

    def close(self) -> None:
        """Close the files."""
        self._lmdb.close()

    def _begin_reading(self) -> Any:
        while True:
            with self._gate:
                self._inside += 1
            try:
                with self._explained("read"):
                    return self._lmdb.begin(buffers=True)
            except BaseException as error:
                with self._gate:
                    self._inside -= 1
                    self._gate.notify_all()
                if not isinstance(error.__cause__, lmdb.MapResizedError):
                    raise
            self._resize(0)  # another process made it larger

    def _resize(self, size: int) -> None:
        with self._gate:
            self._gate.wait_for(lambda: self._inside == 0)
            self._lmdb.set_mapsize(size)
            self.map_number += 1

    @contextmanager
    def _explained(self, done: str) -> Iterator[None]:
        """Turn what LMDB says into a sentence that names the folder."""
        try:
            yield
        except (lmdb.MapFullError, lmdb.MapResizedError) as error:
            raise NeardupError(f"{self.path} has outgrown its map; open it again") from error
        except lmdb.LockError as error:
            raise NeardupError(
                f"{self.path} cannot be {done}: its lock file cannot be used ({error})"
            ) from error
        except (lmdb.Error, OSError) as error:
            undone = "; nothing of it was written" if done == "written" else ""
            raise NeardupError(
                f"{self.path} cannot be {done} as an index ({_reason(error)}){undone}"
            ) from error


def acquire(path: Path, *, readonly: bool, sync: bool) -> Environment:
    """The environment of a folder, which must be there; opened unless it is open already."""
    with _open_lock:
        key = _key(path)
        found = _open.get(key)
        if found is None:
            found = Environment(path, readonly=readonly, sync=sync)
            _open[_key(path)] = found
            return found
        if found.readonly and not readonly:
            raise SettingError(
                f"{path} is open for reading only in this program; close it there first"
            )
        if found.sync != sync and not readonly:
            raise SettingError(f"{path} is open with sync={found.sync} in this program")
        found.users += 1
        return found


def release(environment: Environment) -> None:
    """Give an environment back; the last one closes it."""
    with _open_lock:
        environment.users -= 1
        if not environment.users:
            _open.pop(_key(environment.path), None)
            environment.close()


def _key(path: Path) -> tuple[int, int, int]:
    about = os.stat(path)
    return os.getpid(), about.st_dev, about.st_ino


def _file_size(path: Path) -> int:
    data = path / DATA
    return data.stat().st_size if data.exists() else 0


def _reason(error: Exception) -> str:
    return str(error).split(": ", 1)[-1]
