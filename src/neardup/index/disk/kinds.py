"""The two kinds of index: what a segment and the tail consist of.

An index by distance finds fingerprints by the masks of a plan, one by similarity finds sets of
features.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from neardup.index.settings import IndexSettings
from neardup.kernels.index_tables import Matches, MemoryTables, merge_segments, pack_segment
from neardup.kernels.set_index import SetPlan, SetTail, pack_sets

if TYPE_CHECKING:
    from neardup.index.disk.block import Block
    from neardup.index.disk.records import Segment, Stored

Numbers = NDArray[np.uint64]
# An LMDB value is limited to 4 GB, and is held in memory while it is written.
_MOST_BYTES = 1_500_000_000
# Bytes of a set in the tables of a segment: bands and a bitmap, or a prefix as well.
_SET_BYTES, _COMPLETE_BYTES = 250, 1000
# The tail has at most this many documents, which every open index holds in memory.
MOST_IN_TAIL = 1024
# Weighted sets have no bitmaps, so that a query compares with every one of them.
MOST_WEIGHTED_IN_TAIL = 128


class TailTables(ABC):
    """The tables of the newest documents, in memory."""

    @abstractmethod
    def add_block(self, block: Block, revision: int) -> None:
        """Add the documents of a block."""

    @abstractmethod
    def remove(self, number: int, row: bytes, revision: int) -> None:
        """Remove a document."""


class TailOfRows(TailTables):
    """Fingerprints in the tables of a plan; all revisions are one."""

    def __init__(self, masks: NDArray[np.uint64], bits: int) -> None:
        self._tables = MemoryTables(masks, bits)

    def add_block(self, block: Block, revision: int) -> None:
        entries = block.entries(whole=False)
        filled = entries.filled
        self._tables.add(block.numbers()[filled], np.ascontiguousarray(entries.rows[filled]))

    def add(self, numbers: Numbers, rows: NDArray[np.uint64]) -> None:
        """Add documents that are not empty."""
        self._tables.add(numbers, np.ascontiguousarray(rows))

    def remove(self, number: int, row: bytes, revision: int) -> None:
        self._tables.remove(np.array([number], np.uint64), np.frombuffer(row, np.uint64)[None])

    def query(
        self, rows: NDArray[np.uint64], *, max_distance: int, limit: int | None, threads: int
    ) -> Matches:
        return self._tables.query(rows, max_distance=max_distance, limit=limit, threads=threads)

    def query_one(
        self, row: bytes, *, max_distance: int, limit: int | None
    ) -> list[tuple[int, int]]:
        return self._tables.query_one(row, max_distance=max_distance, limit=limit)


class TailOfSets(TailTables):
    """Sets of features, each from one revision to another."""

    def __init__(self, plan: SetPlan) -> None:
        self.sets = SetTail(plan)

    def add_block(self, block: Block, revision: int) -> None:
        if block.has_features:
            self.sets.add_block(block.feature_block(block.data), revision)

    def remove(self, number: int, row: bytes, revision: int) -> None:
        self.sets.remove(number, revision)


class Kind(ABC):
    """How the documents of an index are found."""

    tail_size: int
    most: int  # documents in a segment

    @abstractmethod
    def tail(self) -> TailTables:
        """The tables of an empty tail."""

    @abstractmethod
    def pack(self, stored: Stored, first: int, last: int) -> bytes:
        """The tables of a segment of the documents with these numbers."""

    @abstractmethod
    def merge(
        self, stored: Stored, segments: Sequence[Segment], dead: Numbers, alive: Numbers
    ) -> bytes:
        """The tables of neighbouring segments in one, without the dead; both lists ascend."""


class ByDistance(Kind):
    """Fingerprints, found by the masks of a plan."""

    def __init__(self, masks: NDArray[np.uint64], bits: int) -> None:
        self.masks, self.bits = masks, bits
        self.tail_size = MOST_IN_TAIL
        tables, words = (int(size) for size in masks.shape)
        self.most = _MOST_BYTES // (8 * words + 12 + 9 * tables)

    def tail(self) -> TailOfRows:
        return TailOfRows(self.masks, self.bits)

    def pack(self, stored: Stored, first: int, last: int) -> bytes:
        numbers, rows = [], []
        for block in stored.blocks_between(first, last):
            entries = block.entries(whole=False)
            numbers.append(block.numbers()[entries.filled])
            rows.append(entries.rows[entries.filled])
        return pack_segment(
            np.concatenate(numbers),
            np.ascontiguousarray(np.concatenate(rows)),
            self.masks,
            self.bits,
        )

    def merge(
        self, stored: Stored, segments: Sequence[Segment], dead: Numbers, alive: Numbers
    ) -> bytes:
        return merge_segments([stored.segment(each.key).data for each in segments], dead)


class BySimilarity(Kind):
    """Sets of features, found by MinHash bands or by their rarest features."""

    def __init__(self, plan: SetPlan, threads: int) -> None:
        self.plan = plan
        self._threads = threads
        self.tail_size = MOST_WEIGHTED_IN_TAIL if plan.weighted else MOST_IN_TAIL
        self.most = _MOST_BYTES // (_SET_BYTES if plan.bands else _COMPLETE_BYTES)

    def tail(self) -> TailOfSets:
        return TailOfSets(self.plan)

    def pack(self, stored: Stored, first: int, last: int) -> bytes:
        return pack_sets(self.plan, stored.feature_blocks(first, last), None, self._threads)

    def merge(
        self, stored: Stored, segments: Sequence[Segment], dead: Numbers, alive: Numbers
    ) -> bytes:
        # Made anew from the features: a larger table needs more bits of each key than a smaller
        # one has. Blocks also hold records of documents that died before the last merge.
        blocks = stored.feature_blocks(segments[0].first, segments[-1].last)
        return pack_sets(self.plan, blocks, alive, self._threads)


def kind_of(settings: IndexSettings, threads: int) -> Kind:
    """The kind of index that the settings ask for."""
    if settings.sets is not None:
        return BySimilarity(settings.sets, threads)
    assert settings.plan is not None
    return ByDistance(settings.plan.mask_rows(), settings.plan.bits)
