"""Spooling: what can be read only once is copied to a temporary file, if the disk has room."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from typing import BinaryIO

from neardup.atomic import TemporaryFolder
from neardup.errors import InputError

_BLOCK = 1 << 20
_LOOK_EVERY = 64 << 20
# So much of the disk, or a twentieth of a small one, is left to others.
_LEFT_FREE = 1 << 30
_NULL = "/dev/null"


class Spool:
    """Holds copies as long as it lives."""

    def __init__(self) -> None:
        self._folder = TemporaryFolder()
        self._copies = 0

    def store(self, stream: BinaryIO, name: str) -> str:
        """Copy a stream, as it is, and give the path of the copy."""
        path = self._folder.path / str(self._copies)
        self._copies += 1
        with path.open("wb") as copy:
            copy_stream(stream, copy, name)
        return os.fspath(path)


def copy_stream(stream: BinaryIO, copy: BinaryIO, name: str) -> None:
    """Copy to the end, unless the disk for temporary files would be full."""
    folder = tempfile.gettempdir()
    copied = looked = 0
    while block := stream.read(_BLOCK):
        try:
            copy.write(block)
        except OSError as error:
            raise _no_room(name, copied, folder, error.strerror or str(error)) from error
        copied += len(block)
        if copied - looked >= _LOOK_EVERY:
            looked = copied
            disk = shutil.disk_usage(folder)
            if disk.free < min(_LEFT_FREE, disk.total // 20):
                raise _no_room(name, copied, folder, f"{disk.free / 1e6:,.0f} MB are left")


def _no_room(name: str, copied: int, folder: str, why: str) -> InputError:
    return InputError(
        f"{name} has to be copied to {folder}, since it can be read only once, and after "
        f"{copied / 1e6:,.0f} MB there is no room ({why}); point TMPDIR to a larger disk, or store "
        "the input in a file"
    )


def refuse_endless(name: str, status: os.stat_result, *, is_terminal: bool) -> None:
    """Refuse devices and sockets, which have no end or cannot be opened."""
    if stat.S_ISSOCK(status.st_mode):
        what = "a socket"
    elif stat.S_ISBLK(status.st_mode):
        what = "a disk"
    elif stat.S_ISCHR(status.st_mode) and not is_terminal and not _is_null(status):
        what = "a device"
    else:
        return
    raise InputError(f"{name} is {what}, not a file or a pipe; name what holds documents")


def _is_null(status: os.stat_result) -> bool:
    return status.st_rdev == os.stat(_NULL).st_rdev
