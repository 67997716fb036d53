"""Errors of LMDB and the disk, and checks that find damage before LMDB follows broken pages.

LMDB reads through a memory map and trusts its pages: a missing page kills the process, and a
corrupt one makes it read anywhere. So all pages are checked when an index is opened. The values in
the pages are checked when they are read, with or without a checksum.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import lmdb

from neardup.errors import InputError, NeardupError
from neardup.kernels.index_tables import check_pages
from neardup.system.files import size_limit

_TRIES, _PAUSE = 8, 0.01


_UNDONE = "; nothing was written, and the earlier contents are safe"
_PROBE = 1 << 20
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class DamageError(ValueError):
    """What is wrong with stored bytes, in a few words; `damage_told` adds the index."""


class FullDiskError(NeardupError):
    """A change of an index needs space that there is not; nothing was changed."""


class BrokenEnvironmentError(NeardupError):
    """A write failed in a way after which the index must be closed and opened again."""


class DamagedIndexError(InputError):
    """An index cannot be read because its bytes are not as they were written."""


@contextmanager
def damage_told(path: Path) -> Iterator[None]:
    """Turn a ValueError into a DamagedIndexError that names the index and what to do.

    Use it only around code that reads stored bytes: every ValueError counts as damage.
    """
    try:
        yield
    except NeardupError:
        raise
    except (ValueError, OverflowError) as error:
        raise DamagedIndexError(
            f"the index {path} is damaged ({error}); restore it from a backup, or create it again"
        ) from error


def require_sound_front(data: Path) -> None:
    """Check the first pages, which LMDB reads on opening; an empty file passes, it is new."""
    if os.path.getsize(data):
        _settled(data, lambda file: check_pages(file, front_only=True))


def require_sound(data: Path) -> None:
    """Check that all pages are connected as LMDB requires.

    The caller holds a read transaction, so that no page is reused during the check.
    """
    _settled(data, check_pages)


def _settled(data: Path, check: Callable[[int], None]) -> None:
    """Repeat a failed check: another process may be writing one of the first two pages."""
    with damage_told(data.parent), data.open("rb") as file:
        for _ in range(_TRIES - 1):
            try:
                return check(file.fileno())
            except ValueError:
                time.sleep(_PAUSE)
        check(file.fileno())


@contextmanager
def explained(path: Path, done: str) -> Iterator[None]:
    """Turn an LMDB error during opening, reading or writing into a NeardupError."""
    try:
        yield
    except (lmdb.MapFullError, lmdb.MapResizedError) as error:
        raise NeardupError(f"{path} has outgrown its map; open it again") from error
    except lmdb.LockError as error:
        raise NeardupError(
            f"{path} cannot be {done}: its lock file cannot be used ({_reason(error)})"
        ) from error
    except lmdb.ReadersFullError as error:
        raise NeardupError(
            f"{path} cannot be {done}: too many programs are reading it; close some"
        ) from error
    except lmdb.PanicError as error:
        raise BrokenEnvironmentError(
            f"{path} cannot be {done}: an earlier write failed; close it and open it again"
        ) from error
    except (lmdb.Error, OSError) as error:
        full = None if done == "read" else _full_disk(path, error)
        kind = NeardupError if full is None else FullDiskError
        raise kind(
            f"{path} cannot be {done}: {full or _reason(error)}"
            f"{_UNDONE if done == 'written' else ''}"
        ) from error


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error).split(": ", 1)[-1]


def _full_disk(path: Path, error: Exception) -> str | None:
    """Which limit was reached, if a write failed for lack of space; else None.

    LMDB reports a partial write as an input/output error, like a broken disk; a trial write tells
    the two apart.
    """
    code = next((code for code in _FULL if os.strerror(code) in str(error)), None)
    if code is None and os.strerror(errno.EIO) in str(error):
        code = _refused(path)
    if code == errno.EFBIG:
        return "its file has reached the file size limit (ulimit -f); raise the limit"
    if code == errno.EDQUOT:
        return f"the disk quota for {path} is used up; free some space and try again"
    if code == errno.ENOSPC:
        room = shutil.disk_usage(path).free
        return (
            f"the disk that holds it is full ({room:,} bytes are free); free some space and try "
            "again"
        )
    return None


def _refused(path: Path) -> int | None:
    """The error code of a trial write in the folder; None if it succeeds."""
    limit = size_limit()
    if limit is not None and _largest_file(path) + _PROBE > limit:
        return errno.EFBIG
    try:
        with tempfile.TemporaryFile(dir=path) as file:
            file.write(bytes(_PROBE))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return error.errno if error.errno in _FULL else None
    return None


def _largest_file(path: Path) -> int:
    return max((file.stat().st_size for file in path.iterdir()), default=0)
