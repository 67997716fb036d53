"""Where the fingerprint of a document is, and its word count, by number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]
Places = NDArray[np.uint32]
_BITS = 14
_SIZE = 1 << _BITS


class RowChunks:
    """Places of rows and word counts under the numbers 0, 1, 2 …, in memory that is not moved.

    They are in chunks of a fixed size. In a full chunk, word counts take as few bytes as its
    largest needs, and none where all are the same.
    """

    def __init__(self) -> None:
        self._places: list[Places] = []
        self._words: list[NDArray[np.unsignedinteger]] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """The memory that is taken."""
        chunks = (*self._places, *self._words)
        return sum(chunk.nbytes if chunk.strides[0] else chunk.itemsize for chunk in chunks)

    def append(self, places: Places, words: Words) -> None:
        """Add documents under the next numbers."""
        done = 0
        while done < len(places):
            at = self._count % _SIZE
            if at == 0:
                self._places.append(np.empty(_SIZE, np.uint32))
                self._words.append(np.empty(_SIZE, np.uint32))
            size = min(_SIZE - at, len(places) - done)
            self._places[-1][at : at + size] = places[done : done + size]
            self._words[-1][at : at + size] = words[done : done + size]
            done += size
            self._count += size
            if self._count % _SIZE == 0:
                self._words[-1] = _packed(self._words[-1])

    def places(self, numbers: NDArray[np.int64]) -> Places:
        """The places of the rows of some numbers."""
        chunks = self._places
        found = (chunks[number >> _BITS][number % _SIZE] for number in numbers.tolist())
        return np.fromiter(found, np.uint32, len(numbers))

    def words(self, numbers: NDArray[np.int64]) -> Words:
        """The word counts of some numbers."""
        chunks = self._words
        found = (chunks[number >> _BITS][number % _SIZE] for number in numbers.tolist())
        return np.fromiter(found, np.uint32, len(numbers))


def _packed(words: NDArray[np.unsignedinteger]) -> NDArray[np.unsignedinteger]:
    most = words.max()
    narrow = words.astype(np.min_scalar_type(most))
    if words.min() == most:
        return np.broadcast_to(narrow[:1].copy(), words.shape)
    return narrow
