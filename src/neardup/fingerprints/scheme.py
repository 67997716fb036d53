"""The scheme: the full recipe of a fingerprint, and its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import SupportsIndex

from neardup.errors import SchemeMismatchError, SettingError
from neardup.features.spec import FeatureSpec
from neardup.fingerprints.projection import SphereProjection
from neardup.hashes import FUNCTION_PREFIX, HashFamily, hash_family

TEXT_WEIGHTS = ("set", "count")
TERM_WEIGHTS = ("given", "set", "count")
TIES = (">0", ">=0")
DEFAULT_BITS = 64
LARGEST_BITS = 4096
HashFunction = Callable[[bytes], int]


@dataclass(frozen=True)
class Scheme:
    """What was hashed and how; fingerprints compare only within one scheme.

    >>> str(Scheme.of("word:3", bits=64))
    'nd1/word:3/set/64'
    """

    features: FeatureSpec
    weights: str = "set"
    bits: int = 64
    hash: str = "nd1"
    tie: str = ">0"
    projection: SphereProjection | None = None

    @classmethod
    def of(
        cls,
        features: str | FeatureSpec = "word:3",
        weights: str | None = None,
        bits: int = 64,
        hash: str | HashFamily | HashFunction = "nd1",
        tie: str = ">0",
        projection: str | None = None,
    ) -> Scheme:
        """Check every part and put them together.

        Without `weights`, shingles count once each (`set`) and terms as they are weighted
        (`given`). A projection sets the bits by its count.
        """
        spec = FeatureSpec.parse(features)
        choices = TERM_WEIGHTS if spec.are_given else TEXT_WEIGHTS
        weights = choices[0] if weights is None else weights
        _require("weights", weights, choices)
        _require("tie", tie, TIES)
        whole = isinstance(bits, SupportsIndex) and not isinstance(bits, bool)
        if not whole or not 1 <= bits <= LARGEST_BITS:
            raise SettingError(f"bits={bits!r} must be a whole number from 1 to {LARGEST_BITS}")
        sphere = None if projection is None else SphereProjection.parse(projection)
        if sphere is not None and bits not in (DEFAULT_BITS, sphere.count):
            raise SettingError(
                f"bits={bits}, but {projection} gives {sphere.count}; leave bits away"
            )
        width = int(bits) if sphere is None else sphere.count
        family = hash_family(hash)
        family.require_bits(width if sphere is None else sphere.dimension)
        return cls(spec, weights, width, family.name, tie, sphere)

    @classmethod
    def parse(cls, name: str) -> Scheme:
        """Read a scheme back from its name."""
        hash_, features, weights, bits, *rest = (
            name.split("/") if name.count("/") >= 3 else [""] * 4
        )
        ties = [part for part in rest if part in TIES]
        projections = [part for part in rest if part not in TIES]
        if not bits.isascii() or not bits.isdigit() or len(ties) > 1 or len(projections) > 1:
            raise SettingError(f"{name!r} is no scheme name; one looks like nd1/word:3/set/64")
        # A function is known here by its name only: enough to compare, not to hash.
        known = "nd1" if hash_.startswith(FUNCTION_PREFIX) else hash_
        tie = ties[0] if ties else ">0"
        projection = projections[0] if projections else None
        scheme = cls.of(features, weights, int(bits), known, tie, projection)
        return replace(scheme, hash=hash_)

    @property
    def is_native(self) -> bool:
        """Whether one kernel takes texts to fingerprints, without a term in between."""
        shingles = not self.features.are_given
        return shingles and self.hash == "nd1" and self.projection is None

    @property
    def row_words(self) -> int:
        """The number of 64-bit words that hold one fingerprint."""
        return -(-self.bits // 64)

    @property
    def row_bytes(self) -> int:
        """The number of bytes that hold one stored fingerprint."""
        return -(-self.bits // 8)

    def require_same(self, other: Scheme) -> None:
        """Refuse to mix this scheme with another one."""
        if self != other:
            raise SchemeMismatchError(
                f"fingerprints of scheme {self} and of scheme {other} cannot be compared; "
                "make both with the same settings"
            )

    def __str__(self) -> str:
        parts: list[object] = [self.hash, self.features, self.weights, self.bits]
        if self.projection is not None:
            parts.append(self.projection)
        if self.tie != ">0":
            parts.append(self.tie)
        return "/".join(map(str, parts))


def _require(setting: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise SettingError(f"{setting}={value!r} is unknown; choose {' or '.join(known)}")
