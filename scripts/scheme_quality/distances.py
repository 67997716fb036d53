"""Distributions of Hamming distances, and what tells two of them apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

COMMON_BITS = 64


@dataclass(frozen=True)
class Distances:
    """How many pairs differ in 0, 1, 2, … of `bits` bits.

    All answers are scaled to 64 bits, so that widths can be compared.
    """

    counts: tuple[int, ...]

    @classmethod
    def of(cls, distances: NDArray[np.int64], bits: int) -> Distances:
        """Count distances, which may not exceed the bits."""
        return cls(tuple(np.bincount(distances, minlength=bits + 1).tolist()))

    @property
    def bits(self) -> int:
        """The width of the fingerprints."""
        return len(self.counts) - 1

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return sum(self.counts)

    @property
    def mean(self) -> float:
        """The mean distance."""
        total = sum(distance * count for distance, count in enumerate(self.counts))
        return float(self._scaled(Fraction(total, self.pairs)))

    def quantile(self, share: Fraction) -> float:
        """The smallest distance that at least this share of the pairs does not exceed."""
        below = 0
        for distance, count in enumerate(self.counts):
            below += count
            if below >= share * self.pairs:
                return float(self._scaled(Fraction(distance)))
        raise ValueError(f"a share of {share} is more than all pairs")

    def within(self, limit: float) -> Fraction:
        """The share of pairs at this distance or less."""
        last = int(limit * self.bits / COMMON_BITS)
        return Fraction(sum(self.counts[: last + 1]), self.pairs)

    def limit(self, share: Fraction) -> float | None:
        """The largest distance within which there is no more than this share of the pairs."""
        below, reached = 0, None
        for distance, count in enumerate(self.counts):
            below += count
            if below > share * self.pairs:
                break
            reached = float(self._scaled(Fraction(distance)))
        return reached

    def shares(self) -> list[float]:
        """The share of pairs in each of 65 bins, for a picture."""
        binned = [0] * (COMMON_BITS + 1)
        for distance, count in enumerate(self.counts):
            binned[distance * COMMON_BITS // self.bits] += count
        return [count / self.pairs for count in binned]

    def _scaled(self, distance: Fraction) -> Fraction:
        return distance * COMMON_BITS / self.bits


def area_under_curve(true: Sequence[int], random: Sequence[int]) -> Fraction:
    """The chance that a true pair is nearer than a random one, ties counting half; exact.

    This is the area under the ROC curve, from how many pairs there are at each distance.

    >>> area_under_curve([3, 1, 0], [0, 1, 3])
    Fraction(31, 32)
    """
    nearer = ties = farther = 0
    for here, there in zip(true, random, strict=True):
        nearer += here * (sum(random) - farther - there)
        ties += here * there
        farther += there
    return Fraction(2 * nearer + ties, 2 * sum(true) * sum(random))


def told_area(area: Fraction, digits: int) -> str:
    """An area cut, not rounded, to some digits: only what is perfect is told as 1."""
    return f"{int(area * 10**digits) / 10**digits:.{digits}f}"
