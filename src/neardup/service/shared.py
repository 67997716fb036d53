"""A few numbers that all processes of the service see, in memory that they share."""

from __future__ import annotations

import mmap

_GENERATION, _READY, _DRAINING = range(3)


class Shared:
    """Made by the supervisor before it starts a process."""

    def __init__(self) -> None:
        self._numbers = memoryview(mmap.mmap(-1, 4096)).cast("q")

    @property
    def generation(self) -> int:
        """Changes when an index is created or deleted; only the writer changes it."""
        return self._numbers[_GENERATION]

    def next_generation(self) -> None:
        self._numbers[_GENERATION] += 1

    @property
    def writer_is_ready(self) -> bool:
        return bool(self._numbers[_READY])

    @writer_is_ready.setter
    def writer_is_ready(self, ready: bool) -> None:
        self._numbers[_READY] = ready

    @property
    def is_draining(self) -> bool:
        """Whether the service is being stopped."""
        return bool(self._numbers[_DRAINING])

    def drain(self) -> None:
        self._numbers[_DRAINING] = 1
