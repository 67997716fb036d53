"""Errors of LMDB and the disk, and damage found before LMDB follows broken pages.

LMDB reads through a map and trusts its pages: one that is not there ends the program, and one that
is garbage leads it anywhere. So they are walked through when an index is opened. What the pages
hold is checked when it is read, whether it has a checksum or not.
"""

from __future__ import annotations

import errno
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import lmdb

from neardup.errors import InputError, NeardupError
from neardup.kernels.index_tables import check_pages

_TRIES, _PAUSE = 8, 0.01


class DamageError(ValueError):
    """What is wrong with stored bytes, in a few words; `damage_told` says of which index."""


class DamagedIndexError(InputError):
    """An index cannot be read, because its bytes are not those that were written."""


@contextmanager
def damage_told(path: Path) -> Iterator[None]:
    """Say of which index something is damaged, and what to do.

    Only what reads stored bytes belongs in here: a ValueError is taken for damage.
    """
    try:
        yield
    except NeardupError:
        raise
    except (ValueError, OverflowError) as error:
        raise DamagedIndexError(
            f"the index {path} is damaged ({error}); restore it from a copy, or make it anew"
        ) from error


def require_sound_front(data: Path) -> None:
    """Refuse a file that LMDB could not even open; one without bytes is about to be filled."""
    if os.path.getsize(data):
        _settled(data, lambda file: check_pages(file, front_only=True))


def require_sound(data: Path) -> None:
    """Refuse a file whose pages do not hang together as they should.

    The caller is in a transaction, so that no page that is looked at is used anew meanwhile.
    """
    _settled(data, check_pages)


def _settled(data: Path, check: Callable[[int], None]) -> None:
    """Check more than once: another process may be writing one of the first two pages."""
    with damage_told(data.parent), data.open("rb") as file:
        for _ in range(_TRIES - 1):
            try:
                return check(file.fileno())
            except ValueError:
                time.sleep(_PAUSE)
        check(file.fileno())


_UNDONE = "; nothing of it was written, and what was there before is safe"
_PROBE = 1 << 20
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def explained(path: Path, done: str) -> Iterator[None]:
    """Turn what LMDB says while an index is opened, read or written into a sentence."""
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
            f"{path} cannot be {done}: too many programs read it at once; close some"
        ) from error
    except lmdb.PanicError as error:
        raise NeardupError(
            f"{path} cannot be {done}: a write failed before; close it and open it again"
        ) from error
    except (lmdb.Error, OSError) as error:
        reason = (None if done == "read" else _full_disk(path, error)) or _reason(error)
        raise NeardupError(
            f"{path} cannot be {done}: {reason}{_UNDONE if done == 'written' else ''}"
        ) from error


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error).split(": ", 1)[-1]


def _full_disk(path: Path, error: Exception) -> str | None:
    """What there is no room on, if that is why a write failed.

    A write for which there is room in part is an input/output error to LMDB, as is one to a disk
    that is broken; so another write is tried.
    """
    code = next((code for code in _FULL if os.strerror(code) in str(error)), None)
    if code is None and os.strerror(errno.EIO) in str(error):
        code = _refused(path)
    if code == errno.EFBIG:
        return "its file has reached the limit on the size of files (ulimit -f); raise the limit"
    if code == errno.EDQUOT:
        return f"the disk quota for {path} is used up; free some space, and do it again"
    if code == errno.ENOSPC:
        free = os.statvfs(path)
        room = free.f_bavail * free.f_frsize
        return (
            f"the disk that holds it is full ({room:,} bytes are free); free some space, and do "
            "it again"
        )
    return None


def _refused(path: Path) -> int | None:
    """Why nothing more can be written beside a file; None if it can."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if limit != resource.RLIM_INFINITY and _largest_file(path) + _PROBE > limit:
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
