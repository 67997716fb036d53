"""Every pair, listed: for those who ask for more than the stars."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from neardup.collection.collected import Collected
from neardup.collection.settings import DedupSettings
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.pairs.search import search

Places = NDArray[np.int64]
PAIRS_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class PairBatch:
    """Some pairs by their places, which go on through the other collection; a < b, in order."""

    a: Places
    b: Places
    distance: NDArray[np.uint16]
    similarity: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.a)

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_] | slice) -> PairBatch:
        """Some of the pairs."""
        return PairBatch(self.a[rows], self.b[rows], self.distance[rows], self.similarity[rows])


class PairSpool:
    """Pairs in order, to be read batch by batch, several times."""

    def __init__(self, pairs: PairBatch) -> None:
        self._pairs = pairs

    def __len__(self) -> int:
        return len(self._pairs)

    def batches(self, most: int = PAIRS_AT_ONCE) -> Iterator[PairBatch]:
        """The pairs, at most `most` at a time."""
        for begin in range(0, len(self), most):
            yield self._pairs.take(slice(begin, begin + most))

    def close(self) -> None:
        """Release the pairs."""


def find_all_pairs(
    left: Collected,
    right: Collected | None,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
    *,
    floor: float,
    within: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> PairSpool:
    """Every pair of similarity `floor` or more (hamming: up to that distance), without copies.

    Pairs are within `left`; with `right`, between `left` and `right` and, with `within`, within
    `left` too.
    """
    down = replace(settings, threshold=floor)
    parts = []
    if right is None or within:
        found = search([left], fingerprinter, down)
        parts.append(PairBatch(found.a, found.b, found.distance, found.similarity))
    if right is not None:
        found = search([left, right], fingerprinter, down)
        parts.append(PairBatch(found.a, found.b + len(left), found.distance, found.similarity))
    together = PairBatch(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("a", "b", "distance", "similarity")
        )
    )
    return PairSpool(together.take(np.lexsort((together.b, together.a))))
