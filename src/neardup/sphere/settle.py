"""Minimize the energy of charges that repel each other on a sphere, by L-BFGS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from neardup.sphere.exact import (
    Floats,
    power_of_two_above,
    product,
    resolution,
    row_totals,
    total,
    unit,
)

_TOUCHING = 2.0**-40  # `product` can tell it from 0, so that every energy is finite


STILL = 1e-9  # converged when no charge moves farther than this in a step,
BALANCED = 1e-3  # and the imbalance is at most this
_MEMORY = 10
_LONGEST_STEP = 0.3  # as a part of the smallest distance, for soft repulsion
_SMALLEST_DISTANCE = 3e-5  # shorter steps would not separate nearly equal lines
_HALVINGS = 40
_ENOUGH_FALL = 1e-4  # as a part of the decrease that the slope predicts (Armijo's rule)
_LOWEST_ENERGY = 1e-100


@dataclass(frozen=True)
class Repulsion:
    """Lines as unit vectors, and the repulsion between their ends.

    Two ends at distance r have the energy (unit / r)^exponent. `reference` is half the square of
    that unit of length; it only keeps the numbers in range.
    """

    vectors: Floats
    exponent: int
    reference: float
    energy: float
    near: Floats  # half the squared distance of the ends of two lines, and
    far: Floats  # of one end and the antipode of the other
    near_energy: Floats
    far_energy: Floats

    @property
    def closest(self) -> float:
        """Half the squared distance of the two nearest ends: 1 − cos(smallest angle)."""
        return min(float(self.near.min()), float(self.far.min()))

    @property
    def mean_energy(self) -> float:
        """The energy of an average pair of ends, as the inverse of a distance.

        It is comparable between exponents: 1 / r if all distances are r.
        """
        lines = len(self.vectors)
        mean = self.energy / (lines * (lines - 1))
        return float(mean ** (1 / self.exponent) / (2 * self.reference) ** 0.5)

    def pushes(self) -> tuple[Floats, float]:
        """The slope of log(energy) / exponent at each vector, along the sphere, and the imbalance.

        The slope is the net force, reversed. The imbalance is the largest net force on a charge,
        relative to the sum of all forces on an average charge.
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
    """The repulsion of charges at both ends of each line; the exponent is a power of two.

    Without a reference, the two nearest ends have energy 1.
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
    """The component of each direction tangent to the sphere."""
    return directions - row_totals(directions * vectors)[:, None] * vectors


def _raised(squares: Floats, exponent: int) -> Floats:
    """The squares to the power exponent / 2, by squaring alone, which is exactly reproducible."""
    if exponent == 1:
        return np.sqrt(squares)
    with np.errstate(over="ignore", under="ignore"):
        while exponent > 2:
            squares = squares * squares
            exponent //= 2
    return squares


@dataclass(frozen=True)
class Step:
    """Measurements after one iteration."""

    exponent: int
    energy: float  # Repulsion.mean_energy
    closest: float  # 1 − cos(smallest angle between two lines)
    displacement: float  # the largest movement of a charge
    imbalance: float  # as Repulsion.pushes


@dataclass
class _Curvature:
    """The curvature of the energy, from the last steps (Nocedal & Wright, algorithm 7.4)."""

    moves: list[Floats] = field(default_factory=list)
    turns: list[Floats] = field(default_factory=list)
    inverses: list[float] = field(default_factory=list)

    def learn(self, move: Floats, turn: Floats) -> None:
        bend = total(move * turn)
        if bend <= 0.0:
            return
        for memory, item in ((self.moves, move), (self.turns, turn)):
            memory.append(item)
            del memory[:-_MEMORY]
        self.inverses.append(1.0 / bend)
        del self.inverses[:-_MEMORY]

    def direction(self, slope: Floats) -> Floats:
        known = list(zip(self.moves, self.turns, self.inverses, strict=True))
        down = -slope
        parts = []
        for move, turn, inverse in reversed(known):
            parts.append(total(move * down) * inverse)
            down = down - parts[-1] * turn
        if known:
            _, turn, inverse = known[-1]
            down = down * (1.0 / (inverse * total(turn * turn)))
        for (move, turn, inverse), part in zip(known, reversed(parts), strict=True):
            down = down + (part - total(turn * down) * inverse) * move
        return down


@dataclass(frozen=True)
class Rest:
    """The charges after a descent, and whether they converged."""

    vectors: Floats
    closest: float
    settled: bool


def settle(
    vectors: Floats,
    exponent: int,
    most: int,
    report: Callable[[Step], None],
    watch: Callable[[Floats], None] | None = None,
) -> Rest:
    """Minimize the energy of one exponent, in at most `most` iterations.

    `watch` is called with the vectors after each iteration.
    """
    if len(vectors) == 1:
        return Rest(vectors, 1.0, True)
    now = repulsion(vectors, exponent)
    slope, imbalance = now.pushes()
    curvature = _Curvature()
    for _ in range(most):
        found = _step(now, slope, curvature)
        if found is None and curvature.moves:
            curvature = _Curvature()
            found = _step(now, slope, curvature)
        if found is None:
            return Rest(now.vectors, now.closest, imbalance < BALANCED)
        after, displacement = found
        if after.energy < _LOWEST_ENERGY:
            after = repulsion(after.vectors, exponent)
        steeper, imbalance = after.pushes()
        curvature.learn(after.vectors - now.vectors, steeper - slope)
        now, slope = after, steeper
        report(Step(exponent, now.mean_energy, now.closest, displacement, imbalance))
        if watch is not None:
            watch(now.vectors)
        if displacement < STILL and imbalance < BALANCED:
            return Rest(now.vectors, now.closest, True)
    return Rest(now.vectors, now.closest, False)


def _step(now: Repulsion, slope: Floats, curvature: _Curvature) -> tuple[Repulsion, float] | None:
    """One descent step and its length; None if no step lowers the energy."""
    direction = tangent(curvature.direction(slope), now.vectors)
    fall = total(slope * direction) * now.exponent
    length = float(np.sqrt(row_totals(direction * direction).max()))
    if not fall < -_noise(now):
        return None
    for step in _lengths(now, length):
        after = repulsion(unit(now.vectors + step * direction), now.exponent, now.reference)
        if after.energy <= now.energy * (1.0 + _ENOUGH_FALL * max(-1.0, step * fall)):
            return after, step * length
    return None


def _noise(now: Repulsion) -> float:
    """The relative rounding error of the energy; a smaller decrease is noise."""
    return 1e-15 + now.exponent * resolution(now.vectors.shape[1]) / now.closest


def _lengths(now: Repulsion, length: float) -> Iterator[float]:
    # The harder the repulsion, the shorter the distance over which a force stays the same.
    distance = max(float(np.sqrt(2 * now.closest)), _SMALLEST_DISTANCE)
    farthest = _LONGEST_STEP * distance * min(1.0, 8 / now.exponent)
    step = min(1.0, farthest / length)
    for _ in range(_HALVINGS):
        yield step
        step /= 2
