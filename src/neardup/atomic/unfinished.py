"""Hidden folders for unfinished work, removed however the work ends.

Each is locked while its process runs. The lock distinguishes folders that a running process still
writes to from those that `kill -9` left behind, which the next run with the same output removes.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from neardup.errors import NeardupError
from neardup.system.folders import FolderLock, folder_of

_MARK = "neardup-unfinished-"
_RANDOM_LETTERS = 8  # appended by tempfile
_LONGEST_NAME = 200  # bytes; most file systems take 255
NEW, OLD = "new", "old"

# Held while an output is put in place, so that the process cannot be ended halfway.
changing = threading.RLock()
_folders: dict[Path, FolderLock] = {}
_written: set[Path] = set()


@contextmanager
def unfinished_beside(target: Path) -> Iterator[Path]:
    """Yield a folder on the file system of `target`; it is removed at the end with its contents."""
    clear_abandoned(target)
    folder = _locked_folder(target.parent, _prefix(target))
    try:
        yield folder
    finally:
        _remove(folder)


def clear_abandoned(target: Path) -> None:
    """Remove what killed processes left behind when they were writing `target`.

    If such a process had moved the old output aside, it is restored.
    """
    for folder in _abandoned(target.parent, _prefix(target)):
        if (folder / OLD).exists() and not os.path.lexists(target):
            (folder / OLD).rename(target)
        shutil.rmtree(folder, ignore_errors=True)


class TemporaryFolder:
    """A folder for temporary files, removed with this object, after a `with` block, or on exit."""

    def __init__(self) -> None:
        place = Path(tempfile.gettempdir())
        for abandoned in _abandoned(place, _MARK):
            shutil.rmtree(abandoned, ignore_errors=True)
        try:
            self.path = _locked_folder(place, _MARK)
        except OSError as error:
            raise NeardupError(
                f"cannot make a temporary folder in {place}: {error.strerror}; set TMPDIR to "
                "another folder"
            ) from None
        self._removal = weakref.finalize(self, _remove, self.path)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *error: object) -> None:
        self._removal()


def took_place(target: Path) -> None:
    """Record that an output is complete; call it while holding `changing`."""
    _written.add(target)


def written(path: str | os.PathLike[str]) -> bool:
    """Whether this process has completed this output."""
    return Path(os.path.realpath(path)) in _written


def abandon() -> None:
    """Remove all unfinished work; the process must end right after this.

    Other threads may run until then, but can no longer start or complete an output.
    """
    changing.acquire()
    for folder in list(_folders):
        # Rename it first, so that no thread adds another file meanwhile.
        name, letters = folder.name[:-_RANDOM_LETTERS], folder.name[-_RANDOM_LETTERS:]
        hidden = folder.with_name(name + letters[::-1])
        try:
            folder.rename(hidden)
        except OSError:  # already removed, or the name is taken
            hidden = folder
        shutil.rmtree(hidden, ignore_errors=True)
        lock = _folders.pop(folder, None)
        if lock is not None and not hidden.exists():
            lock.release()


def shortened(name: str) -> str:
    """A file name that leaves room for a prefix and a suffix."""
    return os.fsdecode(os.fsencode(name)[:_LONGEST_NAME])


def _prefix(target: Path) -> str:
    return f".{shortened(target.name)}.{_MARK}"


def _locked_folder(place: Path, prefix: str) -> Path:
    with changing:
        while True:
            folder = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
            lock = _lock(folder)
            if lock is not None:
                _folders[folder] = lock
                return folder


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    lock = _folders.pop(folder, None)
    if lock is not None:
        lock.release()


def _lock(folder: Path) -> FolderLock | None:
    """Lock a folder; None if another process has removed it as abandoned."""
    try:
        lock = FolderLock(folder)
    except FileNotFoundError:
        return None
    try:
        is_taken = lock.take()
    except OSError:  # no locks on this file system, so nothing on it counts as abandoned
        return lock
    if is_taken and lock.is_in_place():
        return lock
    lock.release()
    return None


def _abandoned(place: Path, prefix: str) -> Iterator[Path]:
    """Yield our folders with this prefix whose process is dead, each locked meanwhile."""
    try:
        entries = os.listdir(place)
    except OSError:  # not listable, but perhaps writable
        return
    for name in {folder_of(name) for name in entries}:
        if not name.startswith(prefix) or len(name) != len(prefix) + _RANDOM_LETTERS:
            continue
        try:
            lock = FolderLock(place / name)
        except OSError:  # another user's, or not a folder
            continue
        try:
            if _is_free(lock):
                yield place / name
        finally:
            lock.release()


def _is_free(lock: FolderLock) -> bool:
    try:
        return lock.take()
    except OSError:  # there are no locks
        return False
