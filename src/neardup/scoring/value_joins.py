"""Joins of records by the values of one field: equal, numbers that agree, or similar sets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from neardup.frozen import dataclass
from neardup.kernels.set_join import join_similar
from neardup.scoring.parts import Places
from neardup.scoring.records import EncodedField

_PAIRS_AT_ONCE = 1 << 20
# Bytes of a join of values, per feature.
_JOIN_BYTES = 48


@dataclass(frozen=True, eq=False)
class Spans:
    """Each record of the left side is joined with a stretch of the right ones, in `order`."""

    begins: Places
    ends: Places
    order: Places

    def pairs(self) -> Iterator[tuple[Places, Places]]:
        """The joined records by their numbers on both sides, some at a time."""
        sizes = self.ends - self.begins
        rows = np.flatnonzero(sizes > 0)
        before = np.concatenate(([0], np.cumsum(sizes[rows])))
        done, count = 0, int(before[-1])
        while done < count:
            stop = min(count, done + _PAIRS_AT_ONCE)
            first = int(np.searchsorted(before, done, side="right")) - 1
            last = int(np.searchsorted(before, stop, side="left"))
            some = rows[first:last]
            begins = self.begins[some].copy()
            lengths = sizes[some].copy()
            skipped = done - int(before[first])
            begins[0] += skipped
            lengths[0] -= skipped
            lengths[-1] -= int(before[last]) - stop
            starts = np.cumsum(lengths) - lengths
            within = np.arange(stop - done) - np.repeat(starts - begins, lengths)
            yield np.repeat(some, lengths), self.order[within]
            done = stop


def equal_values(ours: NDArray[np.int32], theirs: NDArray[np.int32], count: int) -> Spans:
    """Records with the same of `count` codes."""
    order, starts = _by_code(theirs, count)
    return Spans(starts[ours], starts[ours + 1], order)


def _by_code(codes: NDArray[np.int32], count: int) -> tuple[Places, Places]:
    """The order by code, and where each code starts in it."""
    starts = np.concatenate(([0], np.cumsum(np.bincount(codes, minlength=count))))
    return np.argsort(codes, kind="stable"), starts


def ranged_values(one: EncodedField, ours: NDArray[np.int32], theirs: NDArray[np.int32]) -> Spans:
    """Records whose numbers agree, and perhaps a few more; those that are no numbers by code."""
    assert one.values is not None
    assert one.field.kind is not None
    tolerance, is_share = one.field.kind.tolerance or 0.0, one.field.kind.is_share
    count = len(one.values)
    # One order for all values: numbers first, then what is none.
    by_value = np.argsort(one.values, kind="stable")  # NaN comes last
    readable = count - int(np.isnan(one.values).sum())
    rank = np.empty(count, np.int64)
    rank[by_value] = np.arange(count)
    numbers = one.values[by_value[:readable]]
    low, high = np.arange(count), np.arange(1, count + 1)
    if tolerance:
        wide = tolerance * (1 + 1e-6)
        if is_share:
            # |x - y| <= r max(|x|, |y|): y lies between x (1 - r) and x / (1 - r).
            factor = max(1 - wide, 1e-12)
            ends = np.sort(np.stack((numbers * factor, numbers / factor)), axis=0)
            ends = np.clip(ends, -np.finfo(np.float64).max, np.finfo(np.float64).max)
        else:
            slack = wide + 1e-6
            ends = np.stack((numbers - slack, numbers + slack))
        low[:readable] = np.searchsorted(numbers, ends[0], side="left")
        high[:readable] = np.searchsorted(numbers, ends[1], side="right")
    order = np.argsort(rank[theirs], kind="stable")
    ordered = rank[theirs][order]
    mine = rank[ours]
    return Spans(
        np.searchsorted(ordered, low[mine], side="left"),
        np.searchsorted(ordered, high[mine], side="left"),
        order,
    )


@dataclass(frozen=True, eq=False)
class SimilarValues:
    """For each value of a field the other values that are similar: `codes[offsets[i]:...]`."""

    offsets: Places
    codes: NDArray[np.int32]
    similarity: NDArray[np.float32]

    @classmethod
    def of(
        cls, one: EncodedField, least: float, memory: int, most_pairs: int, threads: int
    ) -> SimilarValues:
        """All different values of at least this similarity, joined in groups that fit `memory`."""
        sets = one.sets
        group = max(1 << 20, memory // _JOIN_BYTES // 2)
        cuts = np.flatnonzero(np.diff((sets.offsets[1:] - 1) // group)) + 1
        groups = [run for run in np.split(np.arange(len(sets)), cuts) if len(run)]
        a, b, similarity, room = [], [], [], most_pairs
        for number, run in enumerate(groups):
            own = sets.take(run)
            for other in groups[number:]:
                found = join_similar(
                    *own.arrays,
                    measure="jaccard",
                    threshold=least,
                    right=None if other is run else sets.take(other).arrays,
                    most_pairs=room,
                    threads=threads,
                )
                room -= len(found)
                a.append(run[found.a].astype(np.int32))
                b.append(other[found.b].astype(np.int32))
                # Rounded up, so that no join leaves out a pair at its very limit.
                similarity.append(np.nextafter(found.similarity.astype(np.float32), np.float32(2)))
        none = np.zeros(0, np.int32)
        from_ = np.concatenate([none, *a, *b])
        to = np.concatenate([none, *b, *a])
        order = np.lexsort((to, from_))
        return cls(
            np.searchsorted(from_[order], np.arange(len(sets) + 1)),
            to[order],
            np.concatenate([np.zeros(0, np.float32), *similarity, *similarity])[order],
        )

    def at_least(self, least: float) -> SimilarValues:
        """Only those of this similarity or more."""
        keep = self.similarity >= least
        if keep.all():
            return self
        before = np.concatenate(([0], np.cumsum(keep)))
        return SimilarValues(before[self.offsets], self.codes[keep], self.similarity[keep])

    def spans(
        self, ours: NDArray[np.int32], theirs: NDArray[np.int32], count: int
    ) -> Iterator[tuple[Places, Spans]]:
        """Rows of `ours`, once for each similar value, and the stretch of that value; in parts."""
        order, starts = _by_code(theirs, count)
        sizes = self.offsets[ours + 1] - self.offsets[ours]
        ends = np.cumsum(sizes)
        begin = 0
        while begin < len(ours):
            done = int(ends[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, done + _PAIRS_AT_ONCE)))
            some = sizes[begin:end]
            rows = np.repeat(np.arange(begin, end), some)
            first = np.cumsum(some) - some
            places = np.arange(len(rows)) - np.repeat(first - self.offsets[ours[begin:end]], some)
            values = self.codes[places]
            used = starts[values + 1] > starts[values]
            rows, values = rows[used], values[used]
            yield rows, Spans(starts[values], starts[values + 1], order)
            begin = end
