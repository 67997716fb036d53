"""Records divided into partitions, in memory up to a limit, then in a temporary file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import NeardupError

Records = NDArray[Any]


class Spill:
    """Records of one kind, in `partitions` that are read one at a time.

    A partition has its records in the order in which they were added. Up to `memory` bytes are
    held; what is more goes to a file, which is gone with this object.
    """

    def __init__(self, kind: np.dtype[Any], partitions: int, memory: int) -> None:
        self._kind, self._count, self._memory = kind, partitions, memory
        self._held: list[list[Records]] = [[] for _ in range(partitions)]
        self._held_bytes = 0
        self._stored: list[list[tuple[int, int]]] = [[] for _ in range(partitions)]
        self._file: IO[bytes] | None = None
        self.records = 0

    def __len__(self) -> int:
        return self._count

    def add(self, records: Records, partition: NDArray[np.integer[Any]]) -> None:
        """Add records, each to its partition."""
        order = np.argsort(partition, kind="stable")
        bounds = np.searchsorted(partition[order], np.arange(self._count + 1))
        # Without names of fields, which NumPy would compare whenever it puts arrays together.
        ordered = records[order].view((np.void, self._kind.itemsize))
        for number in np.flatnonzero(np.diff(bounds)).tolist():
            self._held[number].append(ordered[bounds[number] : bounds[number + 1]])
        self.records += len(records)
        self._held_bytes += records.nbytes
        if self._held_bytes > self._memory:
            self._store()

    def partition(self, number: int) -> Records:
        """The records of one partition."""
        plain = np.dtype((np.void, self._kind.itemsize))
        parts = [np.zeros(0, plain)]
        for at, count in self._stored[number]:
            assert self._file is not None
            self._file.seek(at)
            parts.append(np.fromfile(self._file, plain, count))
        return np.concatenate([*parts, *self._held[number]]).view(self._kind)

    def __iter__(self) -> Iterator[Records]:
        return map(self.partition, range(self._count))

    def _store(self) -> None:
        try:
            if self._file is None:
                # Closed and deleted with this object.
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
            at = self._file.seek(0, 2)
            for number, parts in enumerate(self._held):
                if parts:
                    together = np.concatenate(parts)
                    self._write(together)
                    self._stored[number].append((at, len(together)))
                    at += together.nbytes
                    parts.clear()
        except OSError as error:
            raise NeardupError(
                f"what was found does not fit the memory, and {tempfile.gettempdir()} cannot take "
                f"it: {error.strerror or error}; set TMPDIR to a folder with more room, or give "
                "more memory"
            ) from error
        self._held_bytes = 0

    def _write(self, records: Records) -> None:
        assert self._file is not None
        left = records.view(np.uint8).data
        while left:
            left = left[self._file.write(left) :]
