"""`probe:k`: flip up to k bits of each fingerprint and look the result up in the sorted set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.kernels.hamming_join import RowPairs
from neardup.pairs.by_fingerprints.plan import Plan, pairs_of
from neardup.pairs.by_fingerprints.rows import Rows, pairs_in_order, require_fewer
from neardup.pairs.costs import Costs
from neardup.pairs.recall import bit_agreement, within_chance

MOST_PROBES = 10_000_000


@dataclass(frozen=True, repr=False)
class ProbePlan(Plan):
    """Every pair within k bits: all patterns of up to k flipped bits are looked up.

    The number of patterns, not of fingerprints, sets the price: 65 for k = 1 on 64 bits, 2,081
    for k = 2, 43,745 for k = 3. It does not promise any pair beyond k, and refuses a larger
    `max_distance`.
    """

    is_exact = True
    name: str
    bits: int
    k: int

    @classmethod
    def of_flips(cls, k: int, bits: int) -> ProbePlan:
        """Flip up to k of the bits."""
        plan = cls(f"probe:{k}", bits, k)
        if k > bits:
            raise SettingError(
                f"candidates='{plan.name}' flips more than the {bits} bits there are"
            )
        if plan.probes > MOST_PROBES:
            raise SettingError(
                f"candidates='{plan.name}' would look up {plan.probes:,} patterns for each "
                f"fingerprint of {bits} bits; take candidates='blocks:{k}'"
            )
        return plan

    @property
    def probes(self) -> int:
        """How many patterns are looked up for each fingerprint."""
        return sum(comb(self.bits, flips) for flips in range(self.k + 1))

    @property
    def tables(self) -> int:
        """One sorted set."""
        return 1

    @property
    def guarantee(self) -> int:
        """All patterns of k flips are tried."""
        return self.k

    @property
    def promise(self) -> str:
        return f"finds every pair up to distance {self.k} and none beyond"

    def recall(self, similarity: float, n: int | None = None) -> float:
        """The chance that a pair of that cosine differs in k bits at most."""
        return within_chance(self.bits, self.k, bit_agreement(similarity))

    def expected_candidates(self, n: int) -> float:
        """Random pairs within k bits."""
        return pairs_of(n) * within_chance(self.bits, self.k, 0.5)

    def memory(self, n: int) -> int:
        """The sorted set, its order, and one pattern of every fingerprint with its place."""
        return n * (2 * 8 * -(-self.bits // 64) + 3 * 8)

    def seconds(self, n: int, costs: Costs, pairs: float | None = None) -> float:
        """A binary search for each pattern of each fingerprint."""
        return costs.probes(n, self.probes)

    def join(
        self,
        left: Rows,
        right: Rows | None,
        *,
        max_distance: int | None,
        threads: int,
        most_pairs: int | None = None,
    ) -> RowPairs:
        """Look up every pattern of every left row; repeated rows on the right are all found."""
        searched = left if right is None else right
        keys = _sortable(searched.array)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        limit = self.k if max_distance is None else min(self.k, max_distance)
        found: list[RowPairs] = []
        for flips, pattern in _patterns(self.bits, limit, left.array.shape[1]):
            wanted = _sortable(left.array ^ pattern)
            first = np.searchsorted(keys, wanted, "left")
            counts = np.searchsorted(keys, wanted, "right") - first
            (a,) = np.nonzero(counts)
            a, first, counts = a, first[a], counts[a]
            within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
            b = order[np.repeat(first, counts) + within]
            a = np.repeat(a, counts)
            if right is None:
                a, b = a[a < b], b[a < b]
            if len(a):
                found.append(RowPairs(a, b, np.full(len(a), flips, np.uint16)))
                require_fewer(found, most_pairs)
        return pairs_in_order(found)


def _patterns(bits: int, most: int, words: int) -> Iterator[tuple[int, NDArray[np.uint64]]]:
    """Every way to flip up to `most` bits, fewest first."""
    for flips in range(most + 1):
        for places in combinations(range(bits), flips):
            pattern = np.zeros(words, np.uint64)
            for place in places:
                pattern[place // 64] |= np.uint64(1 << (63 - place % 64))
            yield flips, pattern


def _sortable(rows: NDArray[np.uint64]) -> NDArray[np.generic]:
    """Rows as single values that NumPy can sort and search."""
    if rows.shape[1] == 1:
        return np.ascontiguousarray(rows[:, 0])
    as_bytes = np.ascontiguousarray(rows.astype(">u8"))
    return as_bytes.view(f"V{8 * rows.shape[1]}").ravel()
