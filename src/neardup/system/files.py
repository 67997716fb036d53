"""Files: reading at a place, flushing, their space on disk, their owner."""

from __future__ import annotations

import os
import stat
import sys

if sys.platform == "win32":
    from neardup.system import windows

    # Bytes as they are: without it, the C library writes "\r\n" for "\n".
    BINARY = os.O_BINARY

    def read_at(descriptor: int, count: int, place: int) -> bytes:
        """Read up to `count` bytes from `place` on; only one thread at a time may do so."""
        os.lseek(descriptor, place, os.SEEK_SET)
        return os.read(descriptor, count)

    def flush(path: str | os.PathLike[str]) -> None:
        """Flush a file to disk; of a folder, Windows does so by itself."""
        if os.path.isdir(path):
            return
        _flush(path, os.O_RDWR)  # Windows flushes only what may be written to

    def allocated_bytes(path: str | os.PathLike[str]) -> int:
        """The space that a file takes on disk: less than its size if it is sparse."""
        return windows.allocated_bytes(os.fspath(path))

    def make_sparse(path: str | os.PathLike[str]) -> None:
        """Make a file, if it is missing, whose unwritten parts take no space, if possible."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
        try:
            windows.make_sparse(descriptor)
        finally:
            os.close(descriptor)

    def allocate(descriptor: int, size: int) -> None:
        """Make a file at least so large, with disk space for all of it."""
        if os.fstat(descriptor).st_size < size:
            os.ftruncate(descriptor, size)  # sparse only if asked for

    def size_limit() -> int | None:
        """The largest file that this process may write, if there is a limit."""
        return None

    def is_ours(status: os.stat_result) -> bool:
        """Whether a file belongs to the user; Windows decides by permissions alone."""
        return True

    def resemble(new: str | os.PathLike[str], old: os.stat_result) -> None:
        """Give a new file the permissions of the old one that it replaces."""
        os.chmod(new, stat.S_IMODE(old.st_mode))

    def remove_unless_open(path: str | os.PathLike[str]) -> bool:
        """Remove a file; False if another program has it open."""
        try:
            os.unlink(path)
        except PermissionError:
            return False
        return True

    def hint_of(error: OSError) -> str:
        """What else an error may mean, to be added to its message."""
        open_elsewhere = " (it may be open in another program; close that one)"
        return open_elsewhere if isinstance(error, PermissionError) else ""

    def is_null(status: os.stat_result) -> bool:
        """Whether this is the null device, the only character device that Windows names."""
        return stat.S_ISCHR(status.st_mode)

    def same_device(one: os.stat_result, other: os.stat_result) -> bool:
        """Whether both are the same device."""
        return stat.S_ISCHR(one.st_mode) and stat.S_ISCHR(other.st_mode)

    def enlarge_pipe(descriptor: int, size: int) -> None:
        """Let a pipe hold this much, if the system can: Windows cannot."""

else:
    import fcntl
    import resource
    from contextlib import suppress

    BINARY = 0

    def read_at(descriptor: int, count: int, place: int) -> bytes:
        """Read up to `count` bytes from `place` on."""
        return os.pread(descriptor, count, place)

    def flush(path: str | os.PathLike[str]) -> None:
        """Flush a file or folder to disk."""
        _flush(path, os.O_RDONLY)

    def allocated_bytes(path: str | os.PathLike[str]) -> int:
        """The space that a file takes on disk: less than its size if it is sparse."""
        return os.stat(path).st_blocks * 512

    def make_sparse(path: str | os.PathLike[str]) -> None:
        """Nothing to do: unwritten parts of files take no space, unless a file system cannot."""

    def allocate(descriptor: int, size: int) -> None:
        """Make a file at least so large, with disk space for all of it."""
        if sys.platform == "darwin":  # where written files are not sparse
            present = os.fstat(descriptor).st_size
            os.pwrite(descriptor, bytes(max(0, size - present)), present)
        else:
            os.posix_fallocate(descriptor, 0, size)

    def size_limit() -> int | None:
        """The largest file that this process may write, if there is a limit (`ulimit -f`)."""
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
        return None if limit == resource.RLIM_INFINITY else limit

    def is_ours(status: os.stat_result) -> bool:
        """Whether a file belongs to the user."""
        return status.st_uid == os.geteuid()

    def resemble(new: str | os.PathLike[str], old: os.stat_result) -> None:
        """Give a new file the permissions of the old one that it replaces; as root, its owner."""
        if os.geteuid() == 0:
            os.chown(new, old.st_uid, old.st_gid)
        os.chmod(new, stat.S_IMODE(old.st_mode))

    def remove_unless_open(path: str | os.PathLike[str]) -> bool:
        """Remove a file; False if another program has it open, which only Windows minds."""
        os.unlink(path)
        return True

    def hint_of(error: OSError) -> str:
        """What else an error may mean, to be added to its message."""
        return ""

    def is_null(status: os.stat_result) -> bool:
        """Whether this is the null device."""
        return same_device(status, os.stat(os.devnull))

    def same_device(one: os.stat_result, other: os.stat_result) -> bool:
        """Whether both are the same device."""
        return one.st_rdev == other.st_rdev

    def enlarge_pipe(descriptor: int, size: int) -> None:
        """Let a pipe hold this much, if the system can: 64 KiB unless Linux is asked for more."""
        if sys.platform == "linux":
            with suppress(OSError):  # not a pipe, or more than the user may have
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, size)


def _flush(path: str | os.PathLike[str], mode: int) -> None:
    descriptor = os.open(path, mode)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
