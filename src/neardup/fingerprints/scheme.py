"""The scheme: the full recipe of a fingerprint, and its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import SupportsIndex

from neardup.errors import SchemeMismatchError, SettingError
from neardup.features.spec import FeatureSpec

WEIGHTS = ("set", "count")
HASHES = ("nd1",)
TIES = (">0", ">=0")
LARGEST_BITS = 4096


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

    @classmethod
    def of(
        cls,
        features: str | FeatureSpec = "word:3",
        weights: str = "set",
        bits: int = 64,
        hash: str = "nd1",
        tie: str = ">0",
    ) -> Scheme:
        """Check every part and put them together."""
        _require("weights", weights, WEIGHTS)
        _require("hash", hash, HASHES)
        _require("tie", tie, TIES)
        whole = isinstance(bits, SupportsIndex) and not isinstance(bits, bool)
        if not whole or not 1 <= bits <= LARGEST_BITS:
            raise SettingError(f"bits={bits!r} must be a whole number from 1 to {LARGEST_BITS}")
        return cls(FeatureSpec.parse(features), weights, int(bits), hash, tie)

    @classmethod
    def parse(cls, name: str) -> Scheme:
        """Read a scheme back from its name."""
        hash_, features, weights, bits, *tie = name.split("/") if name.count("/") >= 3 else [""] * 4
        if not bits.isascii() or not bits.isdigit() or len(tie) > 1:
            raise SettingError(f"{name!r} is no scheme name; one looks like nd1/word:3/set/64")
        return cls.of(features, weights, int(bits), hash_, tie[0] if tie else ">0")

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
        name = f"{self.hash}/{self.features}/{self.weights}/{self.bits}"
        return name if self.tie == ">0" else f"{name}/{self.tie}"


def _require(setting: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise SettingError(f"{setting}={value!r} is unknown; choose {' or '.join(known)}")
