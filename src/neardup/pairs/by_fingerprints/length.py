"""`length:0.2`: compare only documents whose numbers of words differ by no more than a share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.kernels.hamming_join import RowPairs, join_all, join_windows
from neardup.pairs.by_fingerprints.plan import Plan
from neardup.pairs.by_fingerprints.rows import Rows, pairs_in_order, require_fewer
from neardup.pairs.costs import Costs

# Left rows compared at a time, where two collections are.
_STRETCH = 256


@dataclass(frozen=True, repr=False)
class LengthPlan(Plan):
    """Every pair in which the longer document has at most (1 + share) × the words of the shorter.

    Sorted by words, each document is compared with all that follow within the share, so no
    pair is lost at the border of a window. It does not promise near-duplicates of very different
    lengths, such as a page and its excerpt, and its work still grows with the square of n.
    """

    needs_words = True
    name: str
    bits: int
    share: Fraction

    @classmethod
    def of_share(cls, share: Fraction, bits: int) -> LengthPlan:
        """Word counts that differ by up to `share` of the smaller one."""
        return cls(f"length:{float(share):g}", bits, share)

    @property
    def tables(self) -> int:
        """One sorting, by words."""
        return 1

    @property
    def guarantee(self) -> None:
        """No distance is promised: pairs of other lengths are left out."""
        return None

    @property
    def promise(self) -> str:
        return (
            f"finds every pair whose word counts differ by at most {float(self.share):.0%}, "
            "and no other"
        )

    def recall(self, similarity: float, n: int | None = None) -> None:
        """Unknown: it depends on the lengths, not on the bits."""
        return None

    def expected_candidates(self, n: int) -> None:
        """Unknown without the word counts; `comparisons` tells by them."""
        return None

    def comparisons(self, words: NDArray[Any], others: NDArray[Any] | None = None) -> int:
        """How many pairs of documents with these word counts are inside the windows, exactly."""
        ordered = np.sort(words)
        if others is None:
            return int((self._stops(ordered) - np.arange(len(ordered)) - 1).sum())
        others = np.sort(others)
        first = np.searchsorted(self._limit(others), ordered, "left")
        last = np.searchsorted(others, self._limit(ordered), "right")
        return int((last - first).sum())

    def words_of(self, rows: Rows) -> NDArray[Any]:
        """The word counts that the plan cannot do without."""
        if rows.words is None:
            raise SettingError(
                f"candidates='{self.name}' needs the documents' word counts, which an array does "
                "not have; give Fingerprints"
            )
        return rows.words

    def memory(self, n: int) -> int:
        """One sorted copy, its order, and where each window ends."""
        return n * (8 * -(-self.bits // 64) + 4 * 8)

    def seconds(self, n: int, costs: Costs, pairs: float | None = None) -> None:
        """Unknown without the word counts."""
        return None

    def join(
        self,
        left: Rows,
        right: Rows | None,
        *,
        max_distance: int | None,
        threads: int,
        most_pairs: int | None = None,
    ) -> RowPairs:
        """All pairs inside the windows; between two, a stretch of left rows at a time."""
        order = np.argsort(self.words_of(left), kind="stable")
        ordered = left.take(order)
        if right is not None:
            return self._between(ordered, order, right, max_distance, threads, most_pairs)
        stops = self._stops(self.words_of(ordered))
        near = join_windows(
            ordered.array,
            stops,
            max_distance=max_distance,
            most_pairs=most_pairs,
            threads=threads,
        )
        x, y = order[near.a], order[near.b]
        return pairs_in_order([RowPairs(np.minimum(x, y), np.maximum(x, y), near.distance)])

    def _between(
        self,
        left: Rows,
        left_order: NDArray[np.int64],
        right: Rows,
        max_distance: int | None,
        threads: int,
        most_pairs: int | None,
    ) -> RowPairs:
        """Left rows in order of words, some at a time, with all right rows they may go with."""
        right_order = np.argsort(self.words_of(right), kind="stable")
        right = right.take(right_order)
        left_words, right_words = self.words_of(left), self.words_of(right)
        reach = self._limit(right_words)
        found = []
        for start, stop in self._stretches(left_words):
            first = np.searchsorted(reach, left_words[start], "left")
            last = np.searchsorted(right_words, self._limit(left_words[stop - 1]), "right")
            some, others = left.take(slice(start, stop)), right.take(slice(first, last))
            near = join_all(
                some.array,
                others.array,
                max_distance=max_distance,
                most_pairs=most_pairs,
                threads=threads,
            )
            a, b = near.a + start, near.b + first
            x, y = left_words[a], right_words[b]
            inside = np.maximum(x, y) <= self._limit(np.minimum(x, y))
            found.append(
                RowPairs(left_order[a[inside]], right_order[b[inside]], near.distance[inside])
            )
            require_fewer(found, most_pairs)
        return pairs_in_order(found)

    def _stretches(self, words: NDArray[Any]) -> Iterator[tuple[int, int]]:
        """Cut ordered word counts so that each stretch is short and of similar lengths."""
        start = 0
        stops = self._stops(words)
        while start < len(words):
            stop = min(int(stops[start]), start + _STRETCH)
            yield start, stop
            start = stop

    def _stops(self, ordered: NDArray[Any]) -> NDArray[np.int64]:
        """For each document in order of words, where those too long for it begin."""
        stops = np.searchsorted(ordered, self._limit(ordered), "right")
        return np.asarray(stops, np.int64)

    def _limit(self, words: Any) -> Any:
        """The most words that go with so many."""
        # In whole numbers: 1.1 × 30 is a little more than 33 in floating point.
        most = self.share.numerator + self.share.denominator
        return np.asarray(words, np.int64) * most // self.share.denominator
