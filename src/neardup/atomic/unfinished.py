"""Hidden folders for work that is not finished, removed however the work ends.

Each is locked by its process for as long as that lives. What `kill -9` left behind is therefore
told from what a living process still writes, and is removed by the next run with the same output.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from neardup.errors import NeardupError

_MARK = "neardup-unfinished-"
_RANDOM_LETTERS = 8  # that tempfile appends
_LONGEST_NAME = 200  # bytes; most file systems take 255
NEW, OLD = "new", "old"

# Held while an output takes its place, so that nobody can end the process half-way.
changing = threading.RLock()
_folders: dict[Path, int] = {}  # with the descriptor that locks each
_written: set[Path] = set()


@contextmanager
def unfinished_beside(target: Path) -> Iterator[Path]:
    """Give a folder on the file system of `target`; it goes at the end, with all that is in it."""
    clear_abandoned(target)
    folder = _locked_folder(target.parent, _prefix(target))
    try:
        yield folder
    finally:
        _remove(folder)


def clear_abandoned(target: Path) -> None:
    """Remove what processes left behind that were killed while they wrote `target`.

    What such a process had moved aside to put the new in its place is restored.
    """
    for folder in _abandoned(target.parent, _prefix(target)):
        if (folder / OLD).exists() and not os.path.lexists(target):
            (folder / OLD).rename(target)
        shutil.rmtree(folder, ignore_errors=True)


class TemporaryFolder:
    """A folder for temporary files, removed with this object, at the end of a `with` or on exit."""

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
    """Note that an output is complete; called while `changing` is held."""
    _written.add(target)


def written(path: str | os.PathLike[str]) -> bool:
    """Whether this process has written that output."""
    return Path(os.path.realpath(path)) in _written


def abandon() -> None:
    """Remove all that is unfinished; the process must end right after this.

    Other threads may go on until then: nothing of theirs can begin or take its place any more.
    """
    changing.acquire()
    for folder in list(_folders):
        # Under another name first, so that nobody puts another file into it meanwhile.
        name, letters = folder.name[:-_RANDOM_LETTERS], folder.name[-_RANDOM_LETTERS:]
        hidden = folder.with_name(name + letters[::-1])
        try:
            folder.rename(hidden)
        except OSError:  # it is gone already, or the name is taken
            hidden = folder
        shutil.rmtree(hidden, ignore_errors=True)


def _prefix(target: Path) -> str:
    return f".{os.fsdecode(os.fsencode(target.name)[:_LONGEST_NAME])}.{_MARK}"


def _locked_folder(place: Path, prefix: str) -> Path:
    with changing:
        while True:
            folder = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
            descriptor = _lock(folder)
            if descriptor is not None:
                _folders[folder] = descriptor
                return folder


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    descriptor = _folders.pop(folder, None)
    if descriptor is not None:
        os.close(descriptor)


def _lock(folder: Path) -> int | None:
    """Lock a folder; None if another process has taken it for an abandoned one by then."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError:  # no locks here, so nothing of this file system is ever taken for abandoned
        return descriptor
    if folder.exists():
        return descriptor
    os.close(descriptor)
    return None


def _abandoned(place: Path, prefix: str) -> Iterator[Path]:
    """Our folders of that name whose process is dead, each locked while it is looked at."""
    try:
        entries = os.listdir(place)
    except OSError:  # who may not list a folder may still write to it
        return
    for name in entries:
        if not name.startswith(prefix) or len(name) != len(prefix) + _RANDOM_LETTERS:
            continue
        try:
            folder = os.open(place / name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:  # another user's, or no folder at all
            continue
        try:
            if os.fstat(folder).st_uid == os.geteuid() and _is_free(folder):
                yield place / name
        finally:
            os.close(folder)


def _is_free(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # its process lives, or there are no locks here
        return False
    return True
