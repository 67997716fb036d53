"""The LMDB environment of an index: opened once per process, grown when it is full."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import lmdb

from neardup.errors import NeardupError, SettingError
from neardup.index.disk import turns
from neardup.index.disk.damage import explained, require_sound, require_sound_front
from neardup.index.disk.turns import WaitedTooLongError, WriterLock
from neardup.system.files import allocate, allocated_bytes, make_sparse
from neardup.system.memory import has_addresses

DATA = "data.mdb"
LOCK = "lock.mdb"
FILES = (DATA, LOCK, turns.LOCK)
# Address space, not disk space: the file grows with its contents, or is sparse.
FIRST_MAP = 1 << 30
_GROWTH = 4
_READERS = 1024
# Size of LMDB's lock file: 64 bytes per reader, and less than a page in addition.
_LOCK_BYTES = 64 * _READERS + 4096
# Seconds between the two writes of a commit: normally microseconds, more on a busy machine.
_COMMITTING = 0.02

Found = TypeVar("Found")
_open: dict[tuple[int, int, int], Environment] = {}
_open_lock = threading.Lock()


class Environment:
    """Transactions on the files of one folder, for all threads of the process.

    LMDB allows a process to open a folder only once, so all `Index` objects of a folder share one
    environment: get it with `acquire`, and return it with `release`.
    """

    def __init__(self, path: Path, *, readonly: bool, sync: bool) -> None:
        self.path = path
        self.readonly = readonly
        self.sync = sync
        self.users = 1
        self._writing = threading.Lock()
        self._gate = threading.Condition()
        self._inside = 0
        self.map_number = 0  # changes when the map may have moved
        self._lmdb = self._opened(readonly)
        self._turn: WriterLock | None = None
        try:
            if not readonly:
                with explained(path, "opened"):
                    self._turn = WriterLock(path)
            with self.reading():
                require_sound(path / DATA)
            self._settle()
            self.key = _key(path)
            self._file = _file_key(path / DATA)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[Any]:
        """A read transaction: it sees one state, whatever is written meanwhile."""
        transaction = self._begin_reading()
        try:
            with explained(self.path, "read"):
                yield transaction
        finally:
            transaction.abort()
            with self._gate:
                self._inside -= 1
                self._gate.notify_all()

    def write(self, work: Callable[[Any], Found], timeout: float) -> Found:
        """Run `work` in a write transaction; other writers wait, up to `timeout` seconds.

        If the map is too small, it grows and `work` runs again from the start.
        """
        if self.readonly or self._turn is None:
            raise SettingError(f"{self.path} was opened read-only; open it for writing")
        until = time.monotonic() + timeout
        if not self._writing.acquire(timeout=timeout):
            raise WaitedTooLongError(turns.waited_too_long(self.path, timeout))
        with (
            _released(self._writing),
            self._turn.held(timeout, until),
            explained(self.path, "written"),
        ):
            self._require_in_place()
            while True:
                try:
                    with self._lmdb.begin(write=True, buffers=True) as transaction:
                        return work(transaction)
                except (lmdb.MapFullError, lmdb.MapResizedError):
                    self._grow()

    def is_free(self) -> bool:
        """Whether nobody is writing at this moment."""
        return self._turn is not None and not self._writing.locked() and self._turn.is_free()

    def flush(self) -> None:
        """Wait until all commits are on disk."""
        with explained(self.path, "written"):
            self._lmdb.sync(True)

    def used_bytes(self) -> int:
        """Size of the file on disk."""
        return allocated_bytes(self.path / DATA)

    def copy(self, transaction: Any, folder: Path) -> None:
        """Write the state that a transaction sees to another folder, compacted; writers go on."""
        with explained(folder, "written"):
            self._lmdb.copy(os.fsencode(folder), compact=True, txn=transaction)

    def close(self) -> None:
        """Close the files when the last reader is done: searches read the map without a copy."""
        with self._gate:
            self._gate.wait_for(lambda: self._inside == 0)
            self._lmdb.close()
        if self._turn is not None:
            self._turn.close()
            self._turn = None

    def _opened(self, readonly: bool) -> Any:
        with explained(self.path, "opened"):
            if (self.path / DATA).exists():
                require_sound_front(self.path / DATA)
            if readonly and not _file_size(self.path):
                raise NeardupError(
                    f"{self.path} holds no index; create one with neardup index create"
                )
            if not readonly:
                make_sparse(self.path / DATA)  # on Windows, LMDB makes it as large as the map
            _reserve(self.path / LOCK)
            environment = lmdb.open(
                os.fsencode(self.path),
                map_size=max(FIRST_MAP, _file_size(self.path)),
                max_readers=_READERS,
                readonly=readonly,
                create=False,  # the folder exists; on Windows, LMDB would misread its name
                sync=self.sync,
                max_spare_txns=8,
            )
            environment.reader_check()  # removes readers that died
            return environment

    def _settle(self) -> None:
        """Publish the last commit, if a writer was killed before it could.

        A commit is done when its page is in the file; the writer then writes its number into the
        lock file, from which readers choose the state they see. If the writer is killed in
        between, readers do not see the commit until the next write transaction, which looks into
        the file. Doing that here ensures that a commit which the first reader after the kill does
        not see never appears later.
        """
        if not self._is_unpublished():
            return
        time.sleep(_COMMITTING)  # a running writer is about to publish it
        if not self._is_unpublished():
            return
        if not self.readonly:
            with explained(self.path, "opened"):
                self._lmdb.begin(write=True).abort()
            return
        # LMDB does this for writers only, and a process can open a folder only once.
        self._lmdb.close()
        try:
            with self._opened(readonly=False) as writer, explained(self.path, "opened"):
                writer.begin(write=True).abort()
        except NeardupError as error:
            # Without write permission, it becomes visible when another process writes.
            if not isinstance(error.__cause__, lmdb.Error | OSError):
                raise
        self._lmdb = self._opened(readonly=True)

    def _is_unpublished(self) -> bool:
        with self.reading() as transaction:
            seen: int = transaction.id()
            return bool(self._lmdb.info()["last_txnid"] > seen)

    def _require_in_place(self) -> None:
        """Refuse to write to files that were removed or replaced."""
        if _file_key(self.path / DATA) != self._file:
            raise NeardupError(
                f"{self.path} was removed or replaced while it was open; nothing was written: "
                "close it and open it again"
            )

    def _begin_reading(self) -> Any:
        while True:
            with self._gate:
                self._inside += 1
            try:
                with explained(self.path, "read"):
                    return self._lmdb.begin(buffers=True)
            except BaseException as error:
                with self._gate:
                    self._inside -= 1
                    self._gate.notify_all()
                if not isinstance(error.__cause__, lmdb.MapResizedError):
                    raise
            self._grow()  # another process enlarged it

    def _grow(self) -> None:
        with self._gate:
            self._gate.wait_for(lambda: self._inside == 0)
            size = max(_GROWTH * self._lmdb.info()["map_size"], _file_size(self.path))
            _require_addresses(self.path, size)
            self._lmdb.set_mapsize(size)
            self.map_number += 1


@contextmanager
def _released(lock: threading.Lock) -> Iterator[None]:
    try:
        yield
    finally:
        lock.release()


def acquire(path: Path, *, readonly: bool, sync: bool) -> Environment:
    """The environment of an existing folder; opened unless it is already open."""
    with _open_lock:
        key = _key(path)
        found = _open.get(key)
        if found is None:
            found = Environment(path, readonly=readonly, sync=sync)
            _open[found.key] = found
            return found
        if found.readonly and not readonly:
            raise SettingError(f"{path} is already open read-only in this program; close it first")
        if found.sync != sync and not readonly:
            raise SettingError(f"{path} is already open with sync={found.sync}; close it first")
        found.users += 1
        return found


def release(environment: Environment) -> None:
    """Return an environment; the last user closes it."""
    with _open_lock:
        environment.users -= 1
        if not environment.users:
            _open.pop(environment.key, None)
            environment.close()


def _key(path: Path) -> tuple[int, int, int]:
    about = os.stat(path)
    return os.getpid(), about.st_dev, about.st_ino


def _reserve(lock: Path) -> None:
    """Allocate the whole lock file on disk, or raise an OSError.

    LMDB creates a sparse file and writes to it through a map, which kills the process if the disk
    is full.
    """
    if lock.is_file():
        about = lock.stat()
        if about.st_size >= _LOCK_BYTES and allocated_bytes(lock) >= about.st_size:
            return
    try:
        file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM, errno.EISDIR):
            return  # LMDB handles this for readers
        raise
    try:
        allocate(file, _LOCK_BYTES)
    finally:
        os.close(file)


def _file_key(data: Path) -> tuple[int, int] | None:
    try:
        about = os.stat(data)
    except FileNotFoundError:
        return None
    return about.st_dev, about.st_ino


def _require_addresses(path: Path, size: int) -> None:
    """Check for address space first: LMDB would unmap the old map, then fail, and lose both."""
    if not has_addresses(size):
        raise NeardupError(
            f"{path} needs {size:,} bytes of address space to grow, which the system does not "
            "give to this program; raise its limit (ulimit -v)"
        )


def _file_size(path: Path) -> int:
    data = path / DATA
    return data.stat().st_size if data.exists() else 0
