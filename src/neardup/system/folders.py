"""Folders: locks on them, and swapping two."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from contextlib import suppress
from pathlib import Path

from neardup.system import files, locks

_CURRENT_FOLDER = -100  # AT_FDCWD
_EXCHANGE = 2  # RENAME_EXCHANGE
UNABLE = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM}

if sys.platform == "win32":
    # Windows locks no folders, and moves none in which a file is open: the file is beside it.
    _SUFFIX = ".lock"
else:
    _SUFFIX = ""


def folder_of(name: str) -> str:
    """The name of a folder, from its own or that of its lock."""
    return name.removesuffix(_SUFFIX) if _SUFFIX else name


class FolderLock:
    """A lock on a folder, held until `release` or until the process ends, however it ends.

    FileNotFoundError or another OSError if there is no such folder, or if it is a link or belongs
    to somebody else.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        if sys.platform == "win32":
            if folder.is_symlink():
                raise NotADirectoryError(errno.ENOTDIR, "it is a link", os.fspath(folder))
            self._file = folder.with_name(folder.name + _SUFFIX)
            self._descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT)
        else:
            self._descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            if not files.is_ours(os.fstat(self._descriptor)):
                os.close(self._descriptor)
                raise PermissionError(errno.EPERM, "it belongs to another user")

    def take(self) -> bool:
        """Take the lock; False if another process holds it, OSError if there are no locks."""
        return locks.try_lock(self._descriptor)

    def is_in_place(self) -> bool:
        """Whether the folder is still where it was: its last holder may have removed it."""
        if sys.platform == "win32":
            return self._folder.is_dir()
        try:
            return os.path.samestat(os.stat(self._folder), os.fstat(self._descriptor))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Let go of the folder."""
        os.close(self._descriptor)
        if sys.platform == "win32":
            # Windows refuses while another process has it open; that one then removes it.
            with suppress(OSError):
                os.unlink(self._file)


def move_into_place(new: Path, target: Path) -> None:
    """Rename a folder to a name that is free, or that of an empty folder."""
    if sys.platform == "win32" and target.exists():
        target.rmdir()  # Windows renames nothing onto what is there
    new.rename(target)


def exchange(one: Path, other: Path) -> bool:
    """Swap two folders atomically; False if the system or file system cannot."""
    if sys.platform != "linux":
        return False
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:  # glibc before 2.28 (2018)
        return False
    names = (os.fsencode(one), os.fsencode(other))
    if rename(_CURRENT_FOLDER, names[0], _CURRENT_FOLDER, names[1], _EXCHANGE) == 0:
        return True
    failed = ctypes.get_errno()
    if failed in UNABLE:
        return False
    raise OSError(failed, os.strerror(failed), os.fspath(other))
