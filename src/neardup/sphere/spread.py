"""Spread lines evenly over the sphere; the proven optimum and bounds for comparison."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from neardup.errors import SettingError
from neardup.sphere.exact import LARGEST_SIZE, Floats, unit
from neardup.sphere.settle import Rest, Step, repulsion, settle
from neardup.sphere.sphere import GRID, Sphere

# Lines in three dimensions: the diagonals of the cube (4), of the icosahedron (6, and 5 of them),
# of cube and octahedron together (7). 4, 6 and 7 meet a bound below; for 5 and 8 see Mixon and
# Parshall, "The optimal packing of eight points in the real projective plane", arXiv:1902.10177.
# The cosine for 8 is the larger positive root of
# 1 + 5x − 8x² − 80x³ − 78x⁴ + 146x⁵ − 80x⁶ − 584x⁷ + 677x⁸ + 1537x⁹.
_COSINES_3D = {
    4: 1 / 3,
    5: math.sqrt(1 / 5),
    6: math.sqrt(1 / 5),
    7: math.sqrt(1 / 3),
    8: 0.6475889787341786,
}


SOFT = tuple(2**power for power in range(10))
FIRM = tuple(2**power for power in range(10, 13))
HARD = tuple(2**power for power in range(13, 21))
# For many lines there is only one attempt, and the exponent stops here:
_CROWD_EXPONENT = 2**10
_CROWD = 2**15  # count² · dimension, the work of an iteration
_MOST_ATTEMPTS = 15
# Iterations at each soft exponent, for each attempt: fewer iterations lead to more different local
# minima. Measured in docs/reference/sphere.md.
_PATIENCE = (30, 6, 4, 300, 3)
_TRIAL = 200  # iterations at each firm exponent, to find the best attempt
_REST = 20_000  # maximum iterations at an exponent at which the charges must converge
_REACHED = 1e-9  # closer to the bound than this: no attempt can be better


def best_angle(dimension: int, count: int) -> float | None:
    """The largest possible smallest angle between lines in degrees, if proven, else None.

    >>> best_angle(2, 5), best_angle(3, 3), best_angle(42, 64)
    (36.0, 90.0, None)
    """
    if count <= dimension:
        return 90.0
    if dimension == 2:
        return 180.0 / count
    if dimension == 3 and count in _COSINES_3D:
        return math.degrees(math.acos(_COSINES_3D[count]))
    return None


def angle_bound(dimension: int, count: int) -> float:
    """An upper bound in degrees for the smallest angle between `count` lines.

    These are the simplex and the orthoplex bound (Conway, Hardin and Sloane 1996, after Rankin)
    and, in three dimensions, L. Fejes Tóth's bound of 1943 for the 2 · count ends.

    >>> round(angle_bound(42, 64), 2), round(angle_bound(3, 16), 2)
    (84.77, 38.69)
    """
    proven = best_angle(dimension, count)
    if proven is not None:
        return proven
    cosine = math.sqrt((count - dimension) / (dimension * (count - 1)))
    if count > dimension * (dimension + 1) // 2:
        cosine = max(cosine, math.sqrt(1 / dimension))
    if dimension == 3:
        third = math.pi / 6 * (2 * count) / (2 * count - 2)
        cosine = max(cosine, (1 / math.tan(third) ** 2 - 1) / 2)
    return math.degrees(math.acos(cosine))


@dataclass(frozen=True)
class Progress:
    """Progress of `spread`: attempt, number of attempts, iterations, and the last step."""

    attempt: int
    attempts: int
    iteration: int
    step: Step


def spread(
    dimension: int,
    count: int,
    seed: int = 0,
    *,
    progress: Callable[[Progress], None] | None = None,
) -> Sphere:
    """Spread unit vectors evenly over the sphere, each with its antipode, until they rest.

    >>> round(spread(dimension=2, count=4).smallest_angle(), 6)
    45.0
    """
    _require_size(dimension, count, seed)
    attempts = max(1, min(_MOST_ATTEMPTS, _CROWD // (count * count * dimension)))
    runs: list[_Run] = []
    for attempt in range(attempts):
        runs.append(_Run(_start(dimension, count, seed, attempt), attempt + 1, attempts, progress))
        runs[-1].settle(SOFT, _PATIENCE[attempt % len(_PATIENCE)])
        if attempts > 1:
            runs[-1].settle(FIRM, _TRIAL)
            if runs[-1].rest.closest > _ideal(dimension, count) - _REACHED:
                break
    best = max(runs, key=lambda run: run.rest.closest)
    best.settle(HARD if attempts > 1 else (_CROWD_EXPONENT,), _REST)
    return _sphere(best, seed, len(runs))


@dataclass(frozen=True, eq=False)
class Settling:
    """How vectors settle: their places at the start and after each iteration."""

    places: tuple[Floats, ...]
    steps: tuple[Step, ...]

    def smallest_angles(self) -> list[float]:
        """The angle between the two nearest lines in degrees, for each of the places."""
        first = repulsion(self.places[0], 1).closest if len(self.places[0]) > 1 else 1.0
        closest = [first, *(step.closest for step in self.steps)]
        return [math.degrees(math.acos(max(-1.0, 1.0 - one))) for one in closest]


def settling(dimension: int, count: int, seed: int = 0) -> Settling:
    """The first attempt of `spread` to its largest soft exponent, iteration by iteration.

    That shows most of the way; `spread` tries more starts and hardens the best one.

    >>> way = settling(dimension=3, count=8)
    >>> len(way.places) == len(way.steps) + 1
    True
    """
    _require_size(dimension, count, seed)
    start = _start(dimension, count, seed, 0)
    places = [start]
    run = _Run(start, 1, 1, None, places.append)
    run.settle(SOFT, _PATIENCE[0])
    return Settling(tuple(places), tuple(run.steps))


class _Run:
    """One attempt: a start and its descent."""

    def __init__(
        self,
        start: Floats,
        attempt: int,
        attempts: int,
        progress: Callable[[Progress], None] | None,
        watch: Callable[[Floats], None] | None = None,
    ) -> None:
        self.rest = Rest(start, 0.0, settled=False)
        self.steps: list[Step] = []
        self._place = (attempt, attempts)
        self._progress = progress
        self._watch = watch

    def settle(self, exponents: tuple[int, ...], most: int) -> None:
        """Descend with one exponent after another, in at most `most` iterations each."""
        for exponent in exponents:
            self.rest = settle(self.rest.vectors, exponent, most, self._take, self._watch)

    def _take(self, step: Step) -> None:
        self.steps.append(step)
        if self._progress is not None:
            self._progress(Progress(*self._place, len(self.steps), step))


def _ideal(dimension: int, count: int) -> float:
    return 1.0 - math.cos(math.radians(angle_bound(dimension, count)))


def _sphere(best: _Run, seed: int, attempts: int) -> Sphere:
    vectors = np.rint(best.rest.vectors / GRID) * GRID + 0.0  # + 0.0 turns -0.0 into 0.0
    vectors.setflags(write=False)
    return Sphere(
        vectors,
        seed,
        attempts,
        best.rest.settled,
        best.steps[-1].displacement if best.steps else 0.0,
        best.steps[-1].imbalance if best.steps else 0.0,
        np.array([step.energy for step in best.steps]),
        np.array([step.exponent for step in best.steps], np.int64),
        np.degrees(np.arccos([1.0 - step.closest for step in best.steps])),
    )


def _start(dimension: int, count: int, seed: int, attempt: int) -> Floats:
    """Random unit vectors with almost no preferred direction, from bits that never change."""
    name = f"neardup sphere {dimension}x{count} seed {seed} attempt {attempt}"
    noise = hashlib.shake_256(name.encode()).digest(16 * count * dimension)
    parts = np.frombuffer(noise, "<i4").reshape(count, dimension, 4)
    return unit(parts.astype(np.int64).sum(axis=2) * 2.0**-33)


def _require_size(dimension: int, count: int, seed: int) -> None:
    _require("dimension", dimension, 2, LARGEST_SIZE)
    _require("count", count, 1, LARGEST_SIZE)
    _require("seed", seed, 0, 2**63 - 1)


def _require(setting: str, value: int, least: int, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise SettingError(f"{setting}={value!r} must be a whole number from {least} to {most}")
