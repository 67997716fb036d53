"""Items of benchmarks in documents. The twin is `reference.contamination`."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.frozen import dataclass
from neardup.kernels import _native
from neardup.kernels.columns import string_buffers

Numbers = NDArray[np.int64]
Columns = dict[str, Numbers]

# At most so many hits of an item are listed for one document.
MOST_HITS = 100
# Of equal windows in one field of an item, so many are looked for.
MOST_REPEATS = 16


@dataclass(frozen=True, eq=False)
class Found:
    """What was found in some documents, as tables of numbers, in the order of the documents.

    `hits` are the runs of words, `items` has a row for each document and item with hits,
    `documents` one for each document with hits. `ranges` are the stretches of documents that are
    hits of items of which the document has a large enough share. `words` counts those of all
    documents.
    """

    hits: Columns
    items: Columns
    documents: Columns
    ranges: Columns
    words: int


class BenchmarkIndex:
    """Where runs of words of items are looked up.

    Args:
        min_words: Words of a hit, at least.
        short_words: An item that has fewer than `min_words` words in all of its fields is looked
            for as a whole, by its longest field, if that has at least so many.
        max_items: A hit has some `min_words` words that no more items than this have.
    """

    def __init__(
        self, *, min_words: int, short_words: int, max_items: int, isa: str = "auto"
    ) -> None:
        self._native = _native.BenchmarkIndex(
            min_words=min_words, short_words=short_words, max_items=max_items
        )
        self._isa = isa

    def add(self, fields: pa.Array, item_of: NDArray[np.uint32], items: int) -> NDArray[np.bool_]:
        """Add items; field i is one of the item `item_of[i]`, in ascending order from 0.

        Returns which fields are looked for.
        """
        data, offsets = string_buffers(fields)
        used = self._native.add(data, offsets, item_of, items=items, isa=self._isa)
        return used.view(np.bool_)

    def begin_next(self) -> None:
        """Begin another benchmark: its items are never the same as earlier ones."""
        self._native.begin_next()

    def finish(self) -> None:
        """Make the tables; nothing is added after that."""
        self._native.finish()

    def __len__(self) -> int:
        return len(self._native)

    @property
    def bytes(self) -> int:
        """The memory that it takes."""
        return self._native.bytes

    @property
    def words(self) -> Numbers:
        """The words of each item that count for its share; 0 if it is too short.

        These are the words that are looked for, without those of runs that too many items have,
        unless all are such.
        """
        return self._native.words_of()

    @property
    def begins(self) -> Numbers:
        """Where the words of each item begin among those of all items."""
        return self._native.item_begins()

    def counted(self) -> NDArray[np.bool_]:
        """Which of the words of all items count."""
        return self._native.counted().view(np.bool_)

    @property
    def same_as(self) -> Numbers:
        """The first item of the same benchmark with the same words; its hits are those of all."""
        return self._native.same_as()

    @property
    def common_count(self) -> int:
        """How many runs of `min_words` words are in too many items to be looked for."""
        return self._native.common_count

    def common(self) -> tuple[Numbers, Numbers, Numbers]:
        """The most frequent of these: an item, the first word in it, and the number of items."""
        return self._native.common()

    def scan(self, documents: pa.Array, *, least_share: float = 0.0) -> Found:
        """Find the items in documents; any number of threads may do so at once."""
        data, offsets = string_buffers(documents)
        return Found(**self._native.scan(data, offsets, least_share=least_share, isa=self._isa))


def word_places(text: bytes, numbers: NDArray[np.uint64]) -> tuple[Numbers, ...]:
    """Where the words with these numbers, ascending, begin and end: in bytes, in characters.

    >>> [places.tolist() for places in word_places("«À la»".encode(), np.array([0, 1], np.uint64))]
    [[2, 5], [4, 7], [1, 3], [2, 5]]
    """
    return _native.word_places(np.frombuffer(text, np.uint8), numbers)
