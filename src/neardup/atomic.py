"""Outputs that appear complete or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from neardup.errors import NeardupError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a path beside `path` to write to; on success it takes that name, else it is removed."""
    target = Path(path)
    if target.is_dir():
        raise NeardupError(f"cannot write {target}: it is a folder; name a file for the output")
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
