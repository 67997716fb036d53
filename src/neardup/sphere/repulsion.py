"""The energy of charges on a sphere that repel each other and each other's antipodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.sphere.exact import Floats, power_of_two_above, product, row_totals, total

_TOUCHING = 2.0**-40  # what `product` can tell from 0, so that every energy is finite


@dataclass(frozen=True)
class Repulsion:
    """Lines as unit vectors, and how hard their ends push each other.

    Two ends at the distance r have the energy (unit / r)^exponent. `reference` is the square of
    that unit of length, halved; it only keeps the numbers in range.
    """

    vectors: Floats
    exponent: int
    reference: float
    energy: float
    near: Floats  # half the squared distance of the ends of each two lines, and
    far: Floats  # of one end and the other one's antipode
    near_energy: Floats
    far_energy: Floats

    @property
    def closest(self) -> float:
        """Half the squared distance of the two nearest ends: 1 − cos of the smallest angle."""
        return min(float(self.near.min()), float(self.far.min()))

    @property
    def mean_energy(self) -> float:
        """The energy of an average pair of ends, as the inverse of a distance.

        It can be compared between exponents: 1 / r where all distances are r.
        """
        lines = len(self.vectors)
        mean = self.energy / (lines * (lines - 1))
        return float(mean ** (1 / self.exponent) / (2 * self.reference) ** 0.5)

    def pushes(self) -> tuple[Floats, float]:
        """The slope of log(energy) / exponent at each vector, along the sphere, and the imbalance.

        The slope is the net force, reversed. The imbalance is the largest net force on a charge,
        as a part of all the pushes that an average charge gets.
        """
        near_push = self.near_energy / self.near * (0.5 / self.energy)
        far_push = self.far_energy / self.far * (0.5 / self.energy)
        sizes = near_push + far_push
        scale = power_of_two_above(float(row_totals(sizes).max()))
        inward = product((near_push - far_push) / scale, self.vectors) * scale
        slope = tangent(inward, self.vectors)
        gross = total(sizes * np.sqrt(self.near * self.far)) / len(slope)
        net = float(np.sqrt(row_totals(slope * slope).max()))
        return slope, net / gross


def repulsion(vectors: Floats, exponent: int, reference: float | None = None) -> Repulsion:
    """Put charges on both ends of each line; the exponent is a power of two.

    Without a reference, the nearest two ends have the energy 1.
    """
    cosines = product(vectors, vectors.T)
    near, far = np.maximum(1.0 - cosines, _TOUCHING), np.maximum(1.0 + cosines, _TOUCHING)
    np.fill_diagonal(near, 1.0)
    np.fill_diagonal(far, 1.0)
    if reference is None:
        reference = min(float(near.min()), float(far.min()))
    near_energy, far_energy = (_raised(reference / half, exponent) for half in (near, far))
    np.fill_diagonal(near_energy, 0.0)
    np.fill_diagonal(far_energy, 0.0)
    energy = total(near_energy + far_energy) / 2
    return Repulsion(vectors, exponent, reference, energy, near, far, near_energy, far_energy)


def tangent(directions: Floats, vectors: Floats) -> Floats:
    """The part of each direction that stays on the sphere."""
    return directions - row_totals(directions * vectors)[:, None] * vectors


def _raised(squares: Floats, exponent: int) -> Floats:
    """The squares to the power exponent / 2, by squaring alone, which every machine does alike."""
    if exponent == 1:
        return np.sqrt(squares)
    with np.errstate(over="ignore", under="ignore"):
        while exponent > 2:
            squares = squares * squares
            exponent //= 2
    return squares
