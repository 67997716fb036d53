"""Windows of lengths as S4 cuts them, and the pairs that their borders keep apart."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.fingerprints import Fingerprints
from neardup.kernels import thread_count
from neardup.kernels.join import join_windows
from neardup.lab.reproduce_published import WIKIPEDIA_DOCUMENTS

LONGEST_ARTICLE = 1_000_000


@dataclass(frozen=True, eq=False)
class WindowedPairs:
    """Pairs within each limit: how many, how many a border keeps apart, how many a document has.

    They are counted as they are found, so millions of them take no memory.
    """

    limits: tuple[int, ...]
    pairs: NDArray[np.int64]
    lost: NDArray[np.int64]
    duplicates: NDArray[np.int64]

    @classmethod
    def none(cls, limits: tuple[int, ...], documents: int) -> WindowedPairs:
        """Nothing counted yet."""
        return cls(
            limits,
            np.zeros(len(limits), np.int64),
            np.zeros(len(limits), np.int64),
            np.zeros((len(limits), documents), np.int64),
        )

    def add(
        self,
        a: NDArray[np.int64],
        b: NDArray[np.int64],
        distance: NDArray[np.uint16],
        windows: NDArray[np.int64],
    ) -> None:
        """Count some pairs; duplicates are those that the seed's windows let it find."""
        apart = windows[a] != windows[b]
        for row, limit in enumerate(self.limits):
            near = distance <= limit
            self.pairs[row] += near.sum()
            self.lost[row] += (near & apart).sum()
            together = near & ~apart
            for side in (a, b):
                self.duplicates[row] += np.bincount(
                    side[together], minlength=self.duplicates.shape[1]
                )


def disjoint_windows(words: NDArray[Any], share: Fraction) -> NDArray[np.int64]:
    """For each document its window: from the shortest on, lengths up to (1 + share) × the first.

    That is how the seed cuts the sorted lengths; what follows a border begins the next window.
    """
    lengths, place = np.unique(words, return_inverse=True)
    numbers = np.zeros(len(lengths), np.int64)
    first, number = 0, 0
    while first < len(lengths):
        longest = int(int(lengths[first]) * (1 + share))
        stop = int(np.searchsorted(lengths, longest, "right"))
        numbers[first:stop] = number
        first, number = stop, number + 1
    return numbers[place]


def most_windows(share: Fraction) -> int:
    """How many windows there are if every length up to that of the longest article occurs."""
    return int(disjoint_windows(np.arange(1, LONGEST_ARTICLE + 1), share).max()) + 1


def least_comparisons(share: Fraction) -> int:
    """The fewest that the seed's documents can need: when all windows are equally full."""
    size = WIKIPEDIA_DOCUMENTS / most_windows(share)
    return int(WIKIPEDIA_DOCUMENTS * (size - 1) / 2)


def windowed_pairs(
    found: Fingerprints,
    share: Fraction,
    windows: NDArray[np.int64],
    limits: tuple[int, ...],
    threads: int | None,
    pairs_at_once: int = 1 << 22,
) -> WindowedPairs:
    """Count the pairs of similar lengths within each limit, and those a border keeps apart.

    About `pairs_at_once` comparisons are made at a time, which bounds the memory.
    """
    (filled,) = np.nonzero(~found.empty)
    order = filled[np.argsort(found.words[filled], kind="stable")]
    words = found.words[order].astype(np.int64)
    most = words * (share.numerator + share.denominator) // share.denominator
    stops = np.searchsorted(words, most, "right")
    work = np.cumsum(stops - np.arange(len(stops)) - 1)
    counted = WindowedPairs.none(limits, len(found))
    start = 0
    while start < len(order):
        done = work[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(work, done + pairs_at_once, "right")))
        here = order[start : stops[stop - 1]]
        ends = np.full(len(here), len(here))
        ends[: stop - start] = stops[start:stop] - start
        near = join_windows(
            np.ascontiguousarray(found.array[here]),
            ends,
            max_distance=max(limits),
            threads=thread_count(threads),
        )
        first = near.a < stop - start  # the others' turn comes with their own stretch
        counted.add(here[near.a[first]], here[near.b[first]], near.distance[first], windows)
        start = stop
    return counted
