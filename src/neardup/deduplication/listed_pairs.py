"""Lists of pairs: batch by batch, from memory or a temporary file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from neardup.frozen import dataclass
from neardup.pairs.all_pairs import PAIRS_AT_ONCE, PairBatch, joined
from neardup.pairs.search import FoundPairs

Places = NDArray[np.int64]


class PairList(Protocol):
    """Pairs by their places (a < b, in order), which can be read several times.

    Places go on through the other collection. Exact copies are not listed.
    """

    def __len__(self) -> int: ...
    def batches(self, most: int = PAIRS_AT_ONCE) -> Iterator[PairBatch]: ...
    def close(self) -> None: ...


@dataclass(frozen=True, eq=False)
class HeldPairs:
    """Pairs in memory."""

    pairs: PairBatch

    @classmethod
    def of(cls, found: FoundPairs) -> HeldPairs:
        """The pairs of a search."""
        return cls(PairBatch(found.a, found.b, found.distance, found.similarity))

    def __len__(self) -> int:
        return len(self.pairs.a)

    def batches(self, most: int = PAIRS_AT_ONCE) -> Iterator[PairBatch]:
        for begin in range(0, len(self), most):
            yield self.pairs.take(slice(begin, begin + most))

    def close(self) -> None:
        """Nothing to release."""


@dataclass(frozen=True, eq=False)
class StricterPairs:
    """The pairs of a list that reach a threshold; `distance` for the number of differing bits."""

    pairs: PairList
    threshold: float
    by_distance: bool

    @cached_property
    def _count(self) -> int:
        return sum(len(batch.a) for batch in self.batches())

    def __len__(self) -> int:
        return self._count

    def batches(self, most: int = PAIRS_AT_ONCE) -> Iterator[PairBatch]:
        for batch in self.pairs.batches(most):
            if self.by_distance:
                holds = batch.distance <= self.threshold
            else:
                holds = batch.similarity >= self.threshold
            yield batch.take(holds)

    def close(self) -> None:
        self.pairs.close()


@dataclass(frozen=True, eq=False)
class PairsBeside:
    """The pairs of a list, and some more in memory, which are in order."""

    pairs: PairList
    more: PairBatch

    def __len__(self) -> int:
        return len(self.pairs) + len(self.more)

    def batches(self, most: int = PAIRS_AT_ONCE) -> Iterator[PairBatch]:
        return with_copies(self.pairs, self.more, most)

    def close(self) -> None:
        self.pairs.close()


def with_copies(pairs: PairList, copies: PairBatch, most: int) -> Iterator[PairBatch]:
    """The pairs of a list and the given ones, both in order, as one list in order."""
    begin = 0
    for batch in pairs.batches(most):
        end = begin
        if len(batch.a):
            a, b = batch.a[-1], batch.b[-1]
            end = int(np.searchsorted(copies.a, a, "left"))
            same = int(np.searchsorted(copies.a, a, "right"))
            end += int(np.searchsorted(copies.b[end:same], b))
        if end > begin:
            batch = joined([batch, copies.take(slice(begin, end))]).in_order()
        yield from HeldPairs(batch).batches(most)
        begin = end
    yield from HeldPairs(copies.take(slice(begin, None))).batches(most)
