"""The machine: its instruction sets, its memory, and how many threads to use on it."""

from __future__ import annotations

import os

from neardup.errors import SettingError
from neardup.kernels import _native

MOST_THREADS = 1024  # more than any machine has cores; each takes a stack and some buffers


def available_isas() -> list[str]:
    """The instruction sets that the kernels can use on this machine, slowest first."""
    return _native.available_isas()


def thread_count(threads: int | None) -> int:
    """The number of threads to use; None is one for each core this process may run on."""
    if threads is None:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    if (
        isinstance(threads, bool)
        or not isinstance(threads, int)
        or not 1 <= threads <= MOST_THREADS
    ):
        raise SettingError(f"threads={threads!r} must be a whole number from 1 to {MOST_THREADS:,}")
    return threads


def release_memory() -> None:
    """Return freed memory to the system; call it after freeing much."""
    _native.release_memory()


def keep_freed_memory() -> None:
    """Let this process use freed memory again instead of returning it to the system.

    It is for programs that go through data in batches, and concerns all that the process does: not
    for a library to decide. Arrow is given the same allocator, so that both use the same memory. A
    job touches up to a tenth fewer new pages, each of which the system must clear.
    """
    import pyarrow as pa  # not needed to know the machine

    _native.keep_freed_memory()
    pa.set_memory_pool(pa.system_memory_pool())
