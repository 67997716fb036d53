"""The sphere: unit vectors spread evenly, each standing for itself and its antipode."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

GRID = 2.0**-32  # the vectors are rounded to it


@dataclass(frozen=True, eq=False)
class Sphere:
    """Lines through the origin as unit vectors, and how they came to rest.

    The vectors of a dimension, count and seed are the same on every machine, bit for bit.
    `energies`, `exponents` and `angles` have an entry for each iteration: the mean repulsion of two
    ends (the inverse of a distance), the exponent of the repulsion, and the smallest angle.
    `displacement` is the farthest that a charge moved in the last one, and `imbalance` the largest
    net push that was left, as a part of all pushes on a charge.
    """

    vectors: NDArray[np.float64]
    seed: int
    attempts: int  # starts that were tried; this is the one with the largest smallest angle
    converged: bool
    displacement: float
    imbalance: float
    energies: NDArray[np.float64]
    exponents: NDArray[np.int64]
    angles: NDArray[np.float64]

    @property
    def dimension(self) -> int:
        """The dimension of the space."""
        return int(self.vectors.shape[1])

    @property
    def count(self) -> int:
        """The number of vectors."""
        return len(self.vectors)

    @property
    def iterations(self) -> int:
        """The steps from the start to rest."""
        return len(self.energies)

    @property
    def content_hash(self) -> str:
        """A digest of the vectors, alike wherever they are: 32 hexadecimal digits."""
        whole = np.rint(self.vectors / GRID).astype("<i8")
        about = f"neardup sphere {self.dimension}x{self.count}\n".encode()
        return hashlib.blake2b(about + whole.tobytes(), digest_size=16).hexdigest()

    def excess_energies(self) -> NDArray[np.float64]:
        """How far each iteration's energy lay above the lowest of its exponent, relatively."""
        excess = np.zeros(self.iterations)
        for exponent in np.unique(self.exponents):
            these = self.exponents == exponent
            excess[these] = self.energies[these] / self.energies[these].min() - 1.0
        return excess

    def pair_angles(self) -> NDArray[np.float64]:
        """The angle between each two lines in degrees, at most 90."""
        rows = self.vectors / np.linalg.norm(self.vectors, axis=1, keepdims=True)
        first, second = np.triu_indices(self.count, 1)
        cosines = np.abs(rows @ rows.T)[first, second]
        angles: NDArray[np.float64] = np.degrees(np.arccos(np.minimum(cosines, 1.0)))
        return angles

    def smallest_angle(self) -> float:
        """The angle between the two nearest lines in degrees; 90 where there is only one."""
        return float(min(self.pair_angles(), default=90.0))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the sphere to an .npz file."""
        from neardup.sphere.store import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Sphere:
        """Read a sphere that was saved."""
        from neardup.sphere.store import load

        return load(path)
