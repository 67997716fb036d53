"""Fingerprints and word counts by number, in memory that grows without being copied."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_BITS = 14
_SIZE = 1 << _BITS


class RowChunks:
    """Rows under the numbers 0, 1, 2 …, in chunks of a fixed size."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._chunks: list[tuple[NDArray[np.uint64], NDArray[np.uint32]]] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """The memory that is taken."""
        return sum(rows.nbytes + words.nbytes for rows, words in self._chunks)

    def append(self, rows: NDArray[np.uint64], words: NDArray[np.uint32]) -> None:
        """Add rows under the next numbers."""
        done = 0
        while done < len(rows):
            at = self._count % _SIZE
            if at == 0:
                empty = np.empty((_SIZE, self._width), np.uint64), np.empty(_SIZE, np.uint32)
                self._chunks.append(empty)
            size = min(_SIZE - at, len(rows) - done)
            last_rows, last_words = self._chunks[-1]
            last_rows[at : at + size] = rows[done : done + size]
            last_words[at : at + size] = words[done : done + size]
            done += size
            self._count += size

    def rows(self, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The rows of some numbers."""
        found = np.empty((len(numbers), self._width), np.uint64)
        for place, number in enumerate(numbers.tolist()):
            found[place] = self._chunks[number >> _BITS][0][number % _SIZE]
        return found

    def words(self, numbers: NDArray[np.int64]) -> NDArray[np.uint32]:
        """The word counts of some numbers."""
        found = np.empty(len(numbers), np.uint32)
        for place, number in enumerate(numbers.tolist()):
            found[place] = self._chunks[number >> _BITS][1][number % _SIZE]
        return found
