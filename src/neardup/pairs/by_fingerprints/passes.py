"""A search in passes: some rows of `a` at a time, so that memory stays within a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.errors import NeardupError, SettingError
from neardup.kernels.hamming_join import RowPairs, TooManyPairsError
from neardup.pairs.by_fingerprints.length import LengthPlan
from neardup.pairs.by_fingerprints.plan import Plan, pairs_of
from neardup.pairs.by_fingerprints.rows import GroupedSide, no_pairs, pairs_in_order, require_fewer
from neardup.pairs.recall import within_chance

# Pairs of documents that are made at once; a document with more partners still gets them all.
PAIRS_AT_ONCE = 1 << 20
# What a pair takes while it is found, sorted and handed over.
PAIR_BYTES = 64
_FIRST_ROWS = 1 << 14
# Near-duplicates of a row to reckon with, before any have been seen.
_LIKELY_PARTNERS = 64
_GROWTH = 8
_FEWEST_ROWS = 1 << 10

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Passes:
    """Searches one collection, or two, by blocks of rows of the first.

    Half of the memory is for the join, which sets how many rows meet at once; the other half is
    for the pairs of a pass, whose number is learnt from the passes before. A pass that finds more
    than there is room for stops and begins again with half as many rows; a single row gets all its
    partners.
    """

    plan: Plan
    left: GroupedSide
    right: GroupedSide | None
    max_distance: int | None
    threads: int
    memory: int
    progress: Progress | None = None

    def __post_init__(self) -> None:
        self._rows_at_once()  # too little memory is refused now, not with the first batch

    def __iter__(self) -> Iterator[RowPairs]:
        """Pairs of documents' places, by (a, b), in portions."""
        rows = len(self.left.side.rows)
        tile = self._rows_at_once()
        most_pairs = max(1, self.memory // 2 // PAIR_BYTES)
        whole = self._join_whole(most_pairs) if self.plan.needs_all else None
        start, size = 0, self._rows_for(most_pairs)
        while start < rows:
            stop = min(rows, start + min(size, tile))
            groups = self.left.groups_between(start, stop)
            try:
                most = most_pairs if stop - start > 1 else None
                found = self._join(groups, start, tile, most) if whole is None else whole.of(groups)
            except TooManyPairsError:
                size = (stop - start) // 2
                continue
            yield from self._expanded(found, start, stop)
            fitting = (stop - start) * most_pairs // (2 * max(1, len(found)))
            size = max(1, min(fitting, (stop - start) * _GROWTH))
            start = stop
            if self.progress:
                self.progress(start, rows)

    @property
    def _other(self) -> GroupedSide:
        return self.left if self.right is None else self.right

    def _rows_at_once(self) -> int:
        """How many rows of each side the join may be given."""
        rows = max(len(self.left.distinct), len(self._other.distinct), 1)
        words = self.left.distinct.array.shape[1]
        row_bytes = self.plan.memory(1 << 20) / (1 << 20) + 8 * words
        if self.plan.needs_all:
            needed = int(2 * 2 * rows * row_bytes)
            if needed > self.memory:
                raise SettingError(
                    f"candidates='{self.plan}' works on the whole collection and needs about "
                    f"{needed / 1e6:,.1f} MB; give more memory, or take candidates='auto'"
                )
            return rows
        fitting = int(self.memory / 2 / (2 * row_bytes))
        if fitting < min(rows, _FEWEST_ROWS):
            needed = int(2 * 2 * _FEWEST_ROWS * row_bytes) + 1
            raise SettingError(
                f"memory of {self.memory:,} bytes is too little to work in; "
                f"give at least {needed / 1e6:,.1f}MB"
            )
        return min(fitting, rows)

    def _rows_for(self, most_pairs: int) -> int:
        """Rows to begin with: their candidates should fit, as far as one can tell beforehand."""
        rows = max(1, len(self._other.side.rows))
        if self.max_distance is not None:
            bits = self.plan.bits
            expected = pairs_of(rows) * within_chance(bits, self.max_distance, 0.5)
        elif isinstance(self.plan, LengthPlan):
            expected = self.plan.comparisons(self.plan.words_of(self._other.side.rows))
        else:
            expected = self.plan.expected_candidates(rows) or 0.0
        partners = max(_LIKELY_PARTNERS, 2 * expected / rows)
        return max(1, min(_FIRST_ROWS, int(most_pairs / partners)))

    def _join(
        self, groups: NDArray[np.int64], start: int, tile: int, most_pairs: int | None
    ) -> RowPairs:
        """Pairs of the given left groups with all others that can follow, as group numbers."""
        some = self.left.distinct.take(groups)
        others = np.arange(len(self._other.distinct))
        if self.right is None:
            others = others[self.left.lasts > start]
        found = []
        for first in range(0, len(others), tile):
            part = others[first : first + tile]
            near = self.plan.join(
                some,
                self._other.distinct.take(part),
                max_distance=self.max_distance,
                threads=self.threads,
                most_pairs=most_pairs,
            )
            found.append(RowPairs(groups[near.a], part[near.b], near.distance))
            require_fewer(found, most_pairs)
        return found[0] if len(found) == 1 else pairs_in_order(found)

    def _join_whole(self, most_pairs: int) -> _Neighbours:
        """All pairs of groups at once, in both directions where there is one collection."""
        other = None if self.right is None else self.right.distinct
        try:
            near = self.plan.join(
                self.left.distinct,
                other,
                max_distance=self.max_distance,
                threads=self.threads,
                most_pairs=most_pairs // 2,
            )
        except TooManyPairsError:
            raise NeardupError(
                f"candidates='{self.plan}' works on the whole collection and finds more than "
                f"{most_pairs // 2:,} pairs, which is all that memory of {self.memory / 1e6:,.0f} "
                "MB holds; give more memory, a smaller max_distance, or candidates='auto'"
            ) from None
        if self.right is not None:
            return _Neighbours(near)
        here = np.arange(len(self.left.distinct))
        itself = RowPairs(here, here, np.zeros(len(here), np.uint16))
        return _Neighbours(pairs_in_order([near, RowPairs(near.b, near.a, near.distance), itself]))

    def _expanded(self, pairs: RowPairs, start: int, stop: int) -> Iterator[RowPairs]:
        """Pairs of groups as pairs of documents, for the rows from `start` to `stop`."""
        pairs = self._without_lone_ones(pairs)
        first, last = _Neighbours(pairs).bounds(self.left.groups.group_of[start:stop])
        (paired,) = np.nonzero(last > first)
        rows, first, last = start + paired, first[paired], last[paired]
        sums = np.concatenate([[0], np.cumsum(self._other.sizes[pairs.b])])
        totals = np.cumsum(sums[last] - sums[first])
        begin = 0
        while begin < len(rows):
            done = totals[begin - 1] if begin else 0
            end = int(np.searchsorted(totals, done + PAIRS_AT_ONCE, "right"))
            end = max(end, begin + 1)
            part = slice(begin, end)
            portion = self._of_rows(pairs, rows[part], first[part], last[part])
            if len(portion):
                yield portion
            begin = end

    def _without_lone_ones(self, pairs: RowPairs) -> RowPairs:
        """Leave out groups of one document that were paired with themselves: most of them."""
        if self.right is not None:
            return pairs
        kept = (pairs.a != pairs.b) | (self.left.sizes[pairs.a] > 1)
        return RowPairs(pairs.a[kept], pairs.b[kept], pairs.distance[kept])

    def _of_rows(
        self,
        pairs: RowPairs,
        rows: NDArray[np.int64],
        first: NDArray[np.int64],
        last: NDArray[np.int64],
    ) -> RowPairs:
        """Each row with every member of the groups that its own group is paired with."""
        other = self._other
        a, near = rows.repeat(last - first), _ranges(first, last - first)
        groups = pairs.b[near]
        sizes = other.sizes[groups]
        a, distance = a.repeat(sizes), pairs.distance[near].repeat(sizes)
        b = other.members[_ranges(other.starts[groups], sizes)]
        if self.right is None:
            later = a < b
            a, b, distance = a[later], b[later], distance[later]
        if not len(a):
            return no_pairs()
        order = np.lexsort((b, a))
        places, partners = self.left.side.places, other.side.places
        return RowPairs(places[a[order]], partners[b[order]], distance[order])


@dataclass(frozen=True, eq=False)
class _Neighbours:
    """Pairs sorted by their first group, to be asked for one group or another."""

    pairs: RowPairs

    def bounds(self, groups: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the pairs of each group begin and end."""
        first = np.searchsorted(self.pairs.a, groups, "left")
        return first, np.searchsorted(self.pairs.a, groups, "right")

    def of(self, groups: NDArray[np.int64]) -> RowPairs:
        """The pairs of some groups, in order."""
        first, last = self.bounds(groups)
        chosen = _ranges(first, last - first)
        pairs = self.pairs
        return RowPairs(pairs.a[chosen], pairs.b[chosen], pairs.distance[chosen])


def _ranges(starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """All numbers from each start on, so many of them: [5, 9], [2, 3] → 5 6 9 10 11."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + np.repeat(starts - (ends - sizes), sizes))
