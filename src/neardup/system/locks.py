"""Locks on open files, between processes; the system ends them with the process.

They are advisory on Linux and macOS. On Windows they are on a byte that no file reaches, so that
they do not keep others from reading the file.
"""

from __future__ import annotations

import sys
import time

_PAUSE = 0.005

if sys.platform == "win32":
    from neardup.system import windows

    def try_lock(descriptor: int) -> bool:
        """Lock the file of a descriptor; False if it is locked by another one.

        An OSError if the file system has no locks.
        """
        return windows.try_lock(descriptor)

    def lock(descriptor: int) -> None:
        """Lock the file of a descriptor, however long that takes."""
        while not windows.try_lock(descriptor):
            time.sleep(_PAUSE)

    def unlock(descriptor: int) -> None:
        """Unlock the file; closing the descriptor does that, too."""
        windows.unlock(descriptor)

else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Lock the file of a descriptor; False if it is locked by another one.

        An OSError if the file system has no locks.
        """
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def lock(descriptor: int) -> None:
        """Lock the file of a descriptor, however long that takes."""
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def unlock(descriptor: int) -> None:
        """Unlock the file; closing the descriptor does that, too."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)
