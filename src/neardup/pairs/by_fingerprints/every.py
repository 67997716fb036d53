"""`all`: compare everything with everything."""

from __future__ import annotations

from dataclasses import dataclass

from neardup.kernels.hamming_join import RowPairs, join_all
from neardup.pairs.by_fingerprints.plan import Plan, pairs_of
from neardup.pairs.by_fingerprints.rows import Rows
from neardup.pairs.costs import Costs


@dataclass(frozen=True, repr=False)
class EveryPair(Plan):
    """Every pair is a candidate: complete at any distance, and the square of n in work.

    It does not promise to end soon: a million fingerprints are half a trillion comparisons.
    """

    bits: int
    name = "all"

    @property
    def tables(self) -> int:
        """The fingerprints as they are."""
        return 1

    @property
    def guarantee(self) -> int:
        """Whatever the distance."""
        return self.bits

    @property
    def promise(self) -> str:
        return "finds every pair, but the work grows with the square of the number"

    def recall(self, similarity: float, n: int | None = None) -> float:
        """Nothing is missed."""
        return 1.0

    def expected_candidates(self, n: int) -> float:
        """All pairs."""
        return pairs_of(n)

    def memory(self, n: int) -> int:
        """Nothing is kept beside the fingerprints."""
        return 0

    def seconds(self, n: int, costs: Costs, pairs: float | None = None) -> float:
        """A comparison for each pair."""
        return costs.brute_force(pairs_of(n) if pairs is None else pairs, self.bits)

    def join(
        self,
        left: Rows,
        right: Rows | None,
        *,
        max_distance: int | None,
        threads: int,
        most_pairs: int | None = None,
    ) -> RowPairs:
        """Compare tile by tile."""
        other = None if right is None else right.array
        return join_all(
            left.array, other, max_distance=max_distance, most_pairs=most_pairs, threads=threads
        )
