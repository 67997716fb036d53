"""Two folders that change places at one stroke, where the system can do that."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path

_CURRENT_FOLDER = -100  # AT_FDCWD
_EXCHANGE = 2  # RENAME_EXCHANGE
_UNABLE = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM}


def exchange(one: Path, other: Path) -> bool:
    """Let two folders change places; False where the system or file system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:  # a C library from before 2018
        return False
    names = (os.fsencode(one), os.fsencode(other))
    if rename(_CURRENT_FOLDER, names[0], _CURRENT_FOLDER, names[1], _EXCHANGE) == 0:
        return True
    failed = ctypes.get_errno()
    if failed in _UNABLE:
        return False
    raise OSError(failed, os.strerror(failed), os.fspath(other))
