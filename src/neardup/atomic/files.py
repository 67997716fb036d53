"""Atomic files: they appear complete or not at all."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from neardup.atomic.unfinished import (
    NEW,
    TemporaryFolder,
    changing,
    took_place,
    unfinished_beside,
)
from neardup.errors import NeardupError
from neardup.system import files


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path to write to; on success it replaces `path`, else it is removed.

    Links are followed, and an existing file keeps its permissions. If `path` is a pipe or a
    character device such as /dev/null, the complete content is copied to it at the end.
    """
    require_writable(path)
    try:
        if _is_stream(path):
            with TemporaryFolder() as folder:
                yield folder / NEW
                with (folder / NEW).open("rb") as done, open(path, "wb", buffering=0) as stream:
                    shutil.copyfileobj(done, stream)
            return
        target = Path(os.path.realpath(path))
        with unfinished_beside(target) as folder:
            new = folder / target.name
            yield new
            if target.exists():
                files.resemble(new, target.stat())
                synchronize(new)
            with changing:
                os.replace(new, target)
                took_place(target)
    except OSError as error:
        raise unwritable(path, error) from error


def require_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a path that no file can be written to, before any work is done."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        require_folder_of(path)
        return
    except OSError as error:
        raise unwritable(path, error) from None
    kind = found.st_mode
    if stat.S_ISDIR(kind):
        raise NeardupError(f"cannot write {path}: it is a folder; name a file for the output")
    if stat.S_ISBLK(kind) or stat.S_ISSOCK(kind):
        noun = "a block device" if stat.S_ISBLK(kind) else "a socket"
        raise NeardupError(f"cannot write {path}: it is {noun}; name a file for the output")
    for name, descriptor in (("output", 1), ("error", 2)):
        if _is_standard(found, descriptor):
            raise NeardupError(
                f"cannot write {path}: it is standard {name}, where messages are printed; name a "
                "file or a named pipe for the output"
            )
    if not os.access(path, os.W_OK):
        raise NeardupError(
            f"cannot write {path}: it is write-protected; choose another name for the output"
        )
    if stat.S_ISREG(kind):
        target = os.path.realpath(path)
        if not os.path.exists(target):
            raise NeardupError(f"cannot write {path}: it was removed; name a file for the output")
        require_folder_of(target)


def require_folder_of(path: str | os.PathLike[str]) -> None:
    """Refuse an output whose folder does not exist or is write-protected."""
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise NeardupError(
            f"cannot write {path}: there is no folder {folder}; make it, or choose another place "
            "for the output"
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise NeardupError(
            f"cannot write {path}: the folder {folder} is write-protected; choose another place "
            "for the output"
        )


def unwritable(path: str | os.PathLike[str], error: OSError) -> NeardupError:
    """The error to raise when the system refuses to write an output."""
    # Arrow's errors have an errno, but no strerror.
    reason = error.strerror if error.errno is None else os.strerror(error.errno)
    return NeardupError(f"cannot write {path}: {reason or error}{files.hint_of(error)}")


def synchronize(path: Path) -> None:
    """Flush a file or folder to disk, before it replaces an older one."""
    files.flush(path)


def _is_stream(path: str | os.PathLike[str]) -> bool:
    try:
        kind = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(kind)


def _is_standard(found: os.stat_result, descriptor: int) -> bool:
    """Whether the output is also what a standard stream prints to; /dev/null is allowed."""
    try:
        printed = os.fstat(descriptor)
        null = os.stat(os.devnull)
    except OSError:
        return False
    return os.path.samestat(found, printed) and not os.path.samestat(found, null)
