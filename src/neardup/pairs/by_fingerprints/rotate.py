"""`rotate:R[:window]`: sort, compare neighbours, rotate the bits, repeat.

Two fingerprints of a pair, rotated, agree on L bits and differ in the next one. Sorted among n
random ones, about n / 2^(L+1) of these lie between the two: half of those that share the L bits,
because the pair's later bits are mostly alike. The pair is found where fewer than `window` do,
which has the chance of a Poisson variable. The rotations are not independent, since they see the
same differing bits; so we sum over where these are, from one to the next, around the circle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.kernels.hamming_join import RowPairs, group_rows, join_windows
from neardup.pairs.by_fingerprints.plan import Plan, pairs_of
from neardup.pairs.by_fingerprints.rows import Rows, pairs_in_order, require_fewer
from neardup.pairs.costs import Costs
from neardup.pairs.recall import bit_agreement

# Gaps less likely than this are left out; the recall is then off by less than one in a million.
_NEGLIGIBLE = 1e-12


def rotation_recall(agrees: float, n: int, bits: int, shifts: Sequence[int], window: int) -> float:
    """The share of pairs found whose bits agree with the chance `agrees`, among n others."""
    if agrees >= 1:
        return 1.0
    longest = bits if agrees > 0 else 1
    if 0 < agrees < 1:
        longest = min(bits, 2 + int(log(_NEGLIGIBLE) / log(agrees)))
    missed = _missed_by_length(n, longest, window)
    turned = np.zeros(2 * bits, np.bool_)
    turned[list(shifts)] = True
    turned[bits:] = turned[:bits]
    # weights[j, g - 1]: from a differing bit at j - g to the next one at j, every rotation that
    # begins in between missing the pair.
    weights = np.zeros((2 * bits, longest))
    for gap in range(1, longest + 1):
        ends = np.arange(gap, 2 * bits)
        begins_here = turned[ends - gap + 1]
        before = weights[ends, gap - 2] if gap > 1 else (1 - agrees) * np.ones(len(ends))
        step = agrees if gap > 1 else 1.0
        weights[ends, gap - 1] = before * step * np.where(begins_here, missed[gap - 1], 1.0)
    return 1 - _around_the_circle(weights, bits, longest)


def _missed_by_length(n: int, longest: int, window: int) -> NDArray[np.float64]:
    """For each agreed length, the chance that `window` or more others come between."""
    missed = np.empty(longest)
    for length in range(longest):
        between = n * 0.5 ** (length + 1)
        term = found = exp(-between)
        for count in range(1, window):
            term *= between / count
            found += term
        missed[length] = max(0.0, 1 - found)
    return missed


def _around_the_circle(weights: NDArray[np.float64], bits: int, longest: int) -> float:
    """Sum over the first differing bit f, and over all ways from there to f + bits.

    paths[f, j] is the weight of all ways from f to a differing bit at j.
    """
    firsts = min(bits, longest)
    paths = np.zeros((firsts, bits + firsts))
    paths[np.arange(firsts), np.arange(firsts)] = 1.0
    for j in range(1, bits):
        reach = min(j, longest)
        gaps = np.arange(1, reach + 1)
        reached = paths[:, j - gaps] @ weights[j, gaps - 1]
        reached[j:] = paths[j:, j]  # no way leads back before the first one
        if j < firsts:
            reached[j] = 1.0
        paths[:, j] = reached
    total = 0.0
    for first in range(firsts):
        gaps = np.arange(first + 1, min(longest, bits) + 1)
        total += float(paths[first, first + bits - gaps] @ weights[first + bits, gaps - 1])
    return total


@dataclass(frozen=True, repr=False)
class RotatePlan(Plan):
    """Sort under R rotations of the bits, spread evenly, and compare each with the next few.

    The work is bounded whatever the data: at most R × window × n candidates. It promises
    nothing but identical fingerprints. Neighbours crowd each other out: of isolated pairs nearly
    all are found, but in clusters of 20 near-duplicates adjacent neighbours (window 1) gave 0.30
    of the pairs even with 64 rotations, and a window of 4 gave 0.90.
    """

    needs_all = True
    name: str
    bits: int
    rotations: int
    window: int

    @classmethod
    def of_rotations(cls, rotations: int, window: int, bits: int) -> RotatePlan:
        """R rotations by R different numbers of bits, and neighbours up to `window` away."""
        name = f"rotate:{rotations}" if window == 1 else f"rotate:{rotations}:{window}"
        if not 1 <= rotations <= bits:
            raise SettingError(
                f"candidates='{name}' cannot work: {bits} bits have from 1 to {bits} rotations"
            )
        if window < 1:
            raise SettingError(f"candidates='{name}' needs a window of at least 1")
        return cls(name, bits, rotations, window)

    @property
    def shifts(self) -> list[int]:
        """By how many bits each sorting is rotated to the left."""
        return [turn * self.bits // self.rotations for turn in range(self.rotations)]

    @property
    def tables(self) -> int:
        """One sorting for each rotation."""
        return self.rotations

    @property
    def guarantee(self) -> int:
        """Only identical ones are certain to lie together."""
        return 0

    @property
    def promise(self) -> str:
        return (
            "finds identical fingerprints for certain, isolated pairs mostly; in clusters "
            "neighbours crowd each other out"
        )

    def recall(self, similarity: float, n: int | None = None) -> float | None:
        """The share of isolated pairs found among n random fingerprints; None without n."""
        if n is None:
            return None
        agrees = bit_agreement(similarity)
        return rotation_recall(agrees, n, self.bits, self.shifts, self.window)

    def expected_candidates(self, n: int) -> float:
        """Each with the next few in every sorting: at most so many, as some are found again."""
        return min(pairs_of(n), float(self.rotations * self.window * n))

    def memory(self, n: int) -> int:
        """One rotated and sorted copy with its order; the pairs found so far come on top."""
        return n * (2 * 8 * -(-self.bits // 64) + 4 * 8)

    def seconds(self, n: int, costs: Costs, pairs: float | None = None) -> float:
        """Rotate and sort, then compare."""
        return costs.sorted_windows(n, self.rotations, self.expected_candidates(n))

    def join(
        self,
        left: Rows,
        right: Rows | None,
        *,
        max_distance: int | None,
        threads: int,
        most_pairs: int | None = None,
    ) -> RowPairs:
        """Neighbours in every sorting; two collections are sorted together."""
        if right is None:
            return self._neighbours(left.array, max_distance, threads, most_pairs)
        together = np.concatenate([left.array, right.array])
        groups = group_rows(together, threads=threads)
        distinct = np.ascontiguousarray(together[groups.firsts])
        found = self._neighbours(distinct, max_distance, threads, most_pairs)
        members = _Members.of(groups.group_of, len(left))
        return members.between(found)

    def _neighbours(
        self,
        array: NDArray[np.uint64],
        max_distance: int | None,
        threads: int,
        most_pairs: int | None,
    ) -> RowPairs:
        found: list[RowPairs] = []
        stops = np.minimum(np.arange(len(array)) + 1 + self.window, len(array))
        for shift in self.shifts:
            rotated = rotate_left(array, self.bits, shift)
            order = np.lexsort(rotated.T[::-1])
            near = join_windows(
                np.ascontiguousarray(array[order]),
                stops,
                max_distance=max_distance,
                most_pairs=most_pairs,
                threads=threads,
            )
            x, y = order[near.a], order[near.b]
            found.append(RowPairs(np.minimum(x, y), np.maximum(x, y), near.distance))
            found = [pairs_in_order(found)]
            require_fewer(found, most_pairs)
        return found[0]


@dataclass(frozen=True, eq=False)
class _Members:
    """For each group of equal rows of two collections, its row on each side, or −1."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]

    @classmethod
    def of(cls, group_of: NDArray[np.int64], left_rows: int) -> _Members:
        groups = int(group_of.max(initial=-1)) + 1
        left, right = np.full((2, groups), -1, np.int64)
        left[group_of[:left_rows]] = np.arange(left_rows)
        right[group_of[left_rows:]] = np.arange(len(group_of) - left_rows)
        return cls(left, right)

    def between(self, pairs: RowPairs) -> RowPairs:
        """Pairs of groups as pairs of a left and a right row, equal rows among them."""
        here = np.arange(len(self.left))
        same = RowPairs(here, here, np.zeros(len(here), np.uint16))
        turned = RowPairs(pairs.b, pairs.a, pairs.distance)
        found = []
        for one in (same, pairs, turned):
            a, b = self.left[one.a], self.right[one.b]
            both = (a >= 0) & (b >= 0)
            found.append(RowPairs(a[both], b[both], one.distance[both]))
        return pairs_in_order(found)


def rotate_left(array: NDArray[np.uint64], bits: int, shift: int) -> NDArray[np.uint64]:
    """Rotate each row by `shift` bits, so that bit `shift` becomes bit 0.

    >>> f"{rotate_left(np.array([[0b1000 << 60]], np.uint64), 4, 3)[0, 0] >> 60:04b}"
    '0100'
    """
    if shift == 0:
        return array
    turned = _move(array, shift) | _move(array, shift - bits)
    turned[:, -1] &= np.uint64(2**64 - (1 << (-bits % 64)))  # what went out behind the last bit
    return turned


def _move(array: NDArray[np.uint64], shift: int) -> NDArray[np.uint64]:
    """Shift each row to the left (to the right, if negative), zeros coming in."""
    words = array.shape[1]
    whole, rest = divmod(shift, 64)
    moved = np.zeros_like(array)
    for word in range(words):
        if 0 <= word + whole < words:
            moved[:, word] = array[:, word + whole] << np.uint64(rest)
        if rest and 0 <= word + whole + 1 < words:
            moved[:, word] |= array[:, word + whole + 1] >> np.uint64(64 - rest)
    return moved
