"""The features that two documents share, counted without hashing.

Every distinct shingle of either document gets a number. Numbers of longer runs are built from
numbers of shorter ones, so a shingle of n units costs log n passes and no strings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int32]

# Up to this many slots per value a lookup table is cheaper than a sort.
_SLOTS_PER_VALUE = 4
_EXAMPLE_TRIES = 50


@dataclass(frozen=True, eq=False)
class Overlap:
    """The features of two documents in text order, and how often each occurs in each."""

    features_a: Numbers
    features_b: Numbers
    counts_a: NDArray[np.int64]
    counts_b: NDArray[np.int64]

    @property
    def shared(self) -> int:
        """The number of distinct features that both documents have."""
        return int(np.count_nonzero((self.counts_a > 0) & (self.counts_b > 0)))

    @property
    def distinct_a(self) -> int:
        return int(np.count_nonzero(self.counts_a))

    @property
    def distinct_b(self) -> int:
        return int(np.count_nonzero(self.counts_b))

    def jaccard(self, weights: str) -> float:
        """Jaccard similarity; weighted Jaccard with `count` weights."""
        a, b = self._vectors(weights)
        larger = int(np.maximum(a, b).sum())
        return int(np.minimum(a, b).sum()) / larger if larger else 0.0

    def cosine(self, weights: str) -> float:
        """Cosine similarity, of sets or, with `count` weights, of counts."""
        a, b = self._vectors(weights)
        dot, square = int(a @ b), int(a @ a) * int(b @ b)
        return dot / math.sqrt(square) if square else 0.0

    def inclusion(self, weights: str) -> float:
        """The part of the first document that the second one has, of sets or of counts."""
        a, b = self._vectors(weights)
        own = int(a.sum())
        return int(np.minimum(a, b).sum()) / own if own else 0.0

    @property
    def turned(self) -> Overlap:
        """The second document first."""
        return Overlap(self.features_b, self.features_a, self.counts_b, self.counts_a)

    def places_only_in_a(self, size: int, wanted: int) -> list[int]:
        """Find the places of the first few features that only the first document has."""
        return _places(self.features_a, self.counts_b, size, wanted)

    def places_only_in_b(self, size: int, wanted: int) -> list[int]:
        """Find the places of the first few features that only the second document has."""
        return _places(self.features_b, self.counts_a, size, wanted)

    def _vectors(self, weights: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        if weights == "count":
            return self.counts_a, self.counts_b
        return np.minimum(self.counts_a, 1), np.minimum(self.counts_b, 1)


def find_overlap(a: Numbers, b: Numbers, size: int) -> Overlap:
    """Find the shingles of `size` units in two documents with a common numbering of units."""
    features_a, features_b, total = _number_shingles(a, b, size)
    return Overlap(
        features_a,
        features_b,
        np.bincount(features_a, minlength=total),
        np.bincount(features_b, minlength=total),
    )


def _number_shingles(a: Numbers, b: Numbers, size: int) -> tuple[Numbers, Numbers, int]:
    whole = np.zeros(1, np.int32)  # a document shorter than a shingle is one feature
    if len(a) < size and len(b) < size:
        other = whole if np.array_equal(a, b) else whole + 1
        return whole[: len(a)], other[: len(b)], 2
    if len(a) < size:
        features, total = _number_runs(b, size)
        return (whole + total)[: len(a)], features, total + 1
    if len(b) < size:
        features, total = _number_runs(a, size)
        return features, (whole + total)[: len(b)], total + 1
    features, total = _number_runs(np.concatenate((a, b)), size)
    return features[: len(a) - size + 1], features[len(a) :], total


def _number_runs(units: Numbers, size: int) -> tuple[Numbers, int]:
    """Assign a number to every run of `size` units, by the binary digits of `size`."""
    power, power_total = _compact(units, int(units.max()) + 1)
    runs, runs_total, length = power, power_total, 1
    for digit in bin(size)[3:]:
        runs, runs_total = _join(runs, runs, runs_total, length)
        length *= 2
        if digit == "1":
            runs, runs_total = _join(runs, power, power_total, length)
            length += 1
    return runs, runs_total


def _join(left: Numbers, right: Numbers, right_total: int, distance: int) -> tuple[Numbers, int]:
    """Assign numbers to the pairs of a run and the run that begins `distance` further on."""
    pairs = min(len(left), len(right) - distance)
    space = (int(left.max()) + 1) * right_total
    keys: NDArray[Any] = left[:pairs].astype(np.int32 if space < 2**31 else np.int64)
    keys *= right_total
    keys += right[distance : distance + pairs]
    return _compact(keys, space)


def _compact(values: NDArray[Any], space: int) -> tuple[Numbers, int]:
    """Replace values below `space` with consecutive numbers; also return how many."""
    if space <= _SLOTS_PER_VALUE * len(values):
        present = np.zeros(space, np.bool_)
        present[values] = True
        numbers = np.cumsum(present, dtype=np.int32) - np.int32(1)
        return numbers[values], int(numbers[-1]) + 1
    distinct, numbers = np.unique(values, return_inverse=True)
    return numbers.astype(np.int32), len(distinct)


def _places(
    features: Numbers, other_counts: NDArray[np.int64], size: int, wanted: int
) -> list[int]:
    alone = np.flatnonzero(other_counts[features] == 0)
    found: dict[int, int] = {}
    at = 0
    for _ in range(_EXAMPLE_TRIES):
        if at == len(alone) or len(found) == wanted:
            break
        place = int(alone[at])
        found.setdefault(int(features[place]), place)
        at = int(np.searchsorted(alone, place + size))
    return list(found.values())
