"""Outputs that appear complete or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from neardup.errors import NeardupError


def require_place(path: str | os.PathLike[str]) -> None:
    """Refuse, before any work, a name that nothing can be written under."""
    target = Path(path)
    folder = target.parent
    try:
        os.lstat(target)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise NeardupError(
            f"cannot write {target}: {error.strerror}; choose another place for the output"
        ) from None
    if not folder.is_dir():
        raise NeardupError(f"cannot write {target}: there is no folder {folder}; make it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise NeardupError(
            f"cannot write {target}: {folder} is not yours to write to; choose another place for "
            "the output"
        )


def require_file_place(path: str | os.PathLike[str]) -> None:
    """The same for a file, which a folder cannot become."""
    if Path(path).is_dir():
        raise NeardupError(f"cannot write {path}: it is a folder; name a file for the output")
    require_place(path)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a path beside `path` to write to; on success it takes that name, else it is removed."""
    target = Path(path)
    require_file_place(target)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise NeardupError(
            f"cannot write {target}: {error.strerror}; choose another place for the output"
        ) from None
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        os.chmod(unfinished, 0o666 & ~_umask())
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
