"""Memory of this process, as the system counts it."""

from __future__ import annotations

import mmap
import sys

if sys.platform == "win32":
    from neardup.system import windows

    def peak_bytes() -> int:
        """The most memory that this process ever held."""
        return windows.peak_bytes()

    def has_addresses(size: int) -> bool:
        """Whether this process may map so many more bytes; Windows sets no limit."""
        return size < 1 << 47

else:
    import resource

    # macOS counts in bytes, Linux in KiB.
    _UNIT = 1 if sys.platform == "darwin" else 1024

    def peak_bytes() -> int:
        """The most memory that this process ever held."""
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT

    def has_addresses(size: int) -> bool:
        """Whether this process may map so many more bytes (`ulimit -v` limits them)."""
        try:
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
            mmap.mmap(-1, size, flags=flags, prot=mmap.PROT_READ).close()
        except (OSError, ValueError, OverflowError):
            return False
        return True
