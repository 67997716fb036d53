"""Projections: from sums of features to bits by way of a sphere."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SchemeMismatchError, SettingError

if TYPE_CHECKING:  # few schemes have a projection, and spreading vectors brings much along
    from neardup.sphere import Sphere

_SPEC = re.compile(r"sphere:([0-9]{1,4})x([0-9]{1,4})(?::([0-9]{1,9}))?(?:@([0-9a-f]+))?")
_HASH_DIGITS = 12


@dataclass(frozen=True)
class SphereProjection:
    """`sphere:42x64`: sums over 42 bits of hash, then the signs of 64 dot products.

    Written out in full, `sphere:42x64:SEED@HASH`, it names the very vectors by their content.
    """

    dimension: int
    count: int
    seed: int = 0
    content: str = ""

    @classmethod
    def parse(cls, spec: str) -> SphereProjection:
        """Read a projection; one written without its hash gets that of the vectors."""
        match = _SPEC.fullmatch(spec)
        if not match or int(match[1]) < 2 or int(match[2]) < 1:
            raise SettingError(
                f"projection={spec!r} is unknown; write sphere:DIMENSIONxCOUNT with a dimension "
                "from 2 and a count from 1, for example sphere:42x64"
            )
        from neardup.sphere import sphere_vectors

        dimension, count, seed = int(match[1]), int(match[2]), int(match[3] or 0)
        content = match[4] or sphere_vectors(dimension, count, seed).content_hash[:_HASH_DIGITS]
        return cls(dimension, count, seed, content)

    def sphere(self) -> Sphere:
        """The vectors, which must be the very ones the name says."""
        from neardup.sphere import sphere_vectors

        sphere = sphere_vectors(self.dimension, self.count, self.seed)
        if not sphere.content_hash.startswith(self.content):
            raise SchemeMismatchError(
                f"the vectors of {self} cannot be made here: this machine computes those of "
                f"content {sphere.content_hash[:_HASH_DIGITS]}; load the ones that were used"
            )
        return sphere

    def bits(self, sums: NDArray[np.float64], *, ties_up: bool) -> NDArray[np.uint64]:
        """The signs of the dot products, packed as rows of 64-bit words."""
        from neardup.sphere import project

        signs = project(sums, self.sphere(), ties_up=ties_up)
        padded = np.zeros((len(signs), -(-self.count // 64) * 64), np.uint8)
        padded[:, : self.count] = signs
        packed = np.packbits(padded, axis=1).view(">u8")
        return packed.astype(np.uint64)

    def __str__(self) -> str:
        return f"sphere:{self.dimension}x{self.count}:{self.seed}@{self.content}"
