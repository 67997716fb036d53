"""Vectors that settle on a sphere: where they are after some iterations."""

from __future__ import annotations

import shlex
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from neardup.explore.lab.asked import Asked
from neardup.frozen import dataclass
from neardup.sphere import Settling, angle_bound, best_angle, settling

MOST_LINES = 100  # they have 200 ends
LARGEST_SEED = 10**9
DIMENSIONS = ("3", "2")


@dataclass(frozen=True, eq=False)
class ShownSphere:
    """The vectors after `step` iterations."""

    settling: Settling
    dimension: int
    count: int
    seed: int
    step: int
    command: str

    @property
    def vectors(self) -> NDArray[np.float64]:
        return self.settling.places[self.step]

    @property
    def steps(self) -> int:
        """The number of iterations there are."""
        return len(self.settling.steps)

    @property
    def angles(self) -> list[float]:
        """The smallest angle at the start and after each iteration."""
        return self.settling.smallest_angles()

    @property
    def angle(self) -> float:
        return self.angles[self.step]

    @property
    def exponent(self) -> int | None:
        """The exponent of the repulsion in this iteration; None at the start."""
        return self.settling.steps[self.step - 1].exponent if self.step else None

    @property
    def bound(self) -> float:
        """No arrangement has a larger smallest angle."""
        return angle_bound(self.dimension, self.count)

    @property
    def is_proven(self) -> bool:
        """Whether some arrangement reaches the bound."""
        return best_angle(self.dimension, self.count) is not None

    @property
    def nearest(self) -> tuple[int, int] | None:
        """The two nearest lines."""
        if self.count < 2:
            return None
        cosines = np.abs(self.vectors @ self.vectors.T)
        np.fill_diagonal(cosines, -1.0)
        a, b = divmod(int(cosines.argmax()), self.count)
        return min(a, b), max(a, b)

    @property
    def summary(self) -> str:
        """The outcome in a sentence."""
        return (
            f"After {self.step} of {self.steps} iterations the smallest angle is {self.angle:.2f}°."
        )

    def values(self) -> dict[str, object]:
        """The numbers, for programs."""
        return {
            "dimension": self.dimension,
            "count": self.count,
            "seed": self.seed,
            "step": self.step,
            "steps": self.steps,
            "exponent": self.exponent,
            "smallest_angle": self.angle,
            "angle_bound": self.bound,
            "vectors": self.vectors.tolist(),
        }


def look(asked: Asked) -> ShownSphere | None:
    """The sphere after some iterations; None if a field is wrong."""
    dimension = int(asked.choice("dim", DIMENSIONS))
    count = asked.whole("count", 16, 1, MOST_LINES)
    seed = asked.whole("seed", 0, 0, LARGEST_SEED)
    step = asked.whole("step", 0, 0, LARGEST_SEED)
    if asked.errors:
        return None
    way = _settling(dimension, count, seed)
    options = ["--dim", str(dimension), "--count", str(count), "--seed", str(seed)]
    return ShownSphere(
        way,
        dimension,
        count,
        seed,
        min(step, len(way.steps)),  # other sizes settle in fewer iterations
        shlex.join(["neardup", "sphere", *options]),
    )


# A slider asks for one step after the other; the largest takes 0.2 s and 1.5 MB.
@lru_cache(maxsize=16)
def _settling(dimension: int, count: int, seed: int) -> Settling:
    return settling(dimension, count, seed)
