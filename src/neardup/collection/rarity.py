"""How rare words are in the documents of a run, for models, which compare whole texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import pyarrow as pa

from neardup import kernels
from neardup.features.idf import IdfCounter, IdfTable


def whole_texts(columns: Sequence[pa.Array]) -> pa.Array:
    """The columns of each record, joined by spaces.

    >>> whole_texts([pa.array(["Ann", ""]), pa.array(["Lee", "Bo"])]).to_pylist()
    ['Ann Lee', ' Bo']
    """
    texts = [column.cast(pa.large_string()).fill_null("") for column in columns]
    if len(texts) == 1:
        return texts[0]
    import pyarrow.compute as pc  # models of records need it

    return pc.binary_join_element_wise(*texts, pa.scalar(" ", pa.large_string()))


class Rarity:
    """Counts the documents of each word and of each run of three characters, batch by batch.

    All collections of a run are counted together, before a table is asked for.
    """

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        self._words, self._characters = IdfCounter("word:1"), IdfCounter("char:3")

    @classmethod
    def of(cls, batches: Iterable[Sequence[pa.Array]], threads: int = 1) -> Rarity:
        """Count the documents of all batches of columns."""
        rarity = cls(threads)
        for columns in batches:
            rarity.add(columns)
        return rarity

    def add(self, columns: Sequence[pa.Array]) -> None:
        """Count documents, given by the columns that are compared."""
        texts = whole_texts(columns)
        for counter, shingle in ((self._words, ("word", 1)), (self._characters, ("char", 3))):
            offsets, hashes, _ = kernels.find_sets(texts, [shingle], threads=self._threads)
            counter.add(offsets, hashes)

    @cached_property
    def words(self) -> IdfTable:
        return self._words.table()

    @cached_property
    def characters(self) -> IdfTable:
        return self._characters.table()
