"""The scheme: the full recipe of a fingerprint, and its name."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SchemeMismatchError, SettingError
from neardup.features.spec import FeatureSpec, Fields
from neardup.frozen import dataclass
from neardup.hashes import FUNCTION_PREFIX, KEYED_PREFIX, HashFamily, hash_family
from neardup.hashes.keyed import is_full_name
from neardup.settings import RECIPE

if TYPE_CHECKING:
    from neardup.sphere import Sphere

_SPEC = re.compile(r"sphere:([0-9]{1,4})x([0-9]{1,4})(?::([0-9]{1,9}))?(?:@([0-9a-f]+))?")
_HASH_DIGITS = 12


_RARITY_WEIGHTS = ("tfidf", "idf", "tfidf:lab")
_TEXT_WEIGHTS = ("set", "count", *_RARITY_WEIGHTS)
_TERM_WEIGHTS = ("given", *_TEXT_WEIGHTS)
_KEYWORD_WEIGHTS = ("tfidf", "set")
TIES = (">0", ">=0")
DEFAULT_BITS = 64
LARGEST_BITS = 4096
_FIELDS, _IDF = "fields:", "idf:"
# A hash family as callers pass it: a name, an object, or a function from bytes to int.
HashChoice = str | HashFamily | Callable[[bytes], int]


@dataclass(frozen=True)
class SphereProjection:
    """`sphere:42x64`: sums over 42 bits of hash, then the signs of 64 dot products.

    The full form, `sphere:42x64:SEED@HASH`, identifies the vectors by a hash of their content.
    """

    dimension: int
    count: int
    seed: int = 0
    content: str = ""

    @classmethod
    def parse(cls, spec: str) -> SphereProjection:
        """Read a projection; if the hash is missing, it is computed from the vectors."""
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
        """The vectors; refused if their hash is not the one in the name."""
        from neardup.sphere import sphere_vectors

        sphere = sphere_vectors(self.dimension, self.count, self.seed)
        if not sphere.content_hash.startswith(self.content):
            raise SchemeMismatchError(
                f"the vectors of {self} cannot be reproduced: this machine computes vectors with "
                f"the hash {sphere.content_hash[:_HASH_DIGITS]}; load the original ones"
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


@dataclass(frozen=True)
class Scheme:
    """What is hashed and how; only fingerprints of the same scheme can be compared.

    >>> str(Scheme.of("word:3", bits=64))
    'nd1/word:3/set/64'
    """

    features: FeatureSpec
    weights: str = "set"
    bits: int = 64
    hash: str = "nd1"
    tie: str = ">0"
    projection: SphereProjection | None = None
    fields: Fields | None = None
    idf: str = ""  # content hash of the idf table

    @classmethod
    def of(
        cls,
        features: str | FeatureSpec = "word:3",
        weights: str | None = None,
        bits: int = 64,
        hash: HashChoice = "nd1",
        tie: str = ">0",
        projection: str | None = None,
        fields: Fields | None = None,
    ) -> Scheme:
        """Check the settings and make a scheme of them.

        The default of `weights` is `set` for texts, `given` for terms and `tfidf` for keywords.
        With a projection, its count is the number of bits.
        """
        spec = FeatureSpec.parse(features)
        choices = _weight_choices(spec)
        weights = choices[0] if weights is None else weights
        _require("weights", weights, choices)
        _require("tie", tie, TIES)
        require_bits(bits)
        sphere = None if projection is None else SphereProjection.parse(projection)
        if sphere is not None and bits not in (DEFAULT_BITS, sphere.count):
            raise SettingError(f"bits={bits}, but {projection} gives {sphere.count}; omit bits")
        width = int(bits) if sphere is None else sphere.count
        family = hash_family(hash)
        family.require_bits(width if sphere is None else sphere.dimension)
        if fields is not None and (spec.are_given or spec.keywords):
            raise SettingError(
                f"{spec} takes one column, not the fields {fields}; use word:N or char:N for fields"
            )
        return cls(spec, weights, width, family.name, tie, sphere, fields)

    @classmethod
    def parse(cls, name: str) -> Scheme:
        """Read a scheme back from its name."""
        hash_, features, weights, bits, *rest = (
            name.split("/") if name.count("/") >= 3 else [""] * 4
        )
        tie = _taken(rest, TIES) or ">0"
        projection = _taken(rest, ("sphere:",))
        fields = _taken(rest, (_FIELDS,))
        idf = _taken(rest, (_IDF,))
        keyed = hash_.startswith(KEYED_PREFIX)
        whole = bits.isascii() and bits.isdigit()
        if not whole or rest or (keyed and not is_full_name(hash_)):
            raise SettingError(f"{name!r} is not a scheme name; an example is nd1/word:3/set/64")
        # A function or a key is known here by its name only: enough to compare, not to hash.
        known = "nd1" if keyed or hash_.startswith(FUNCTION_PREFIX) else hash_
        record = Fields.parse(fields.removeprefix(_FIELDS)) if fields else None
        scheme = cls.of(features, weights, int(bits), known, tie, projection, record)
        return replace(scheme, hash=hash_, idf=(idf or "").removeprefix(_IDF))

    @property
    def recipe(self) -> dict[str, Any]:
        """The settings that make these fingerprints, as plain values; `of` accepts them.

        >>> scheme = Scheme.of("char:4", bits=32)
        >>> Scheme.of(**scheme.recipe) == scheme
        True
        """
        named = {name: getattr(self, name) for name in RECIPE}
        projection = None if self.projection is None else str(self.projection)
        return {**named, "features": str(self.features), "projection": projection}

    @property
    def is_native(self) -> bool:
        """Whether one kernel computes fingerprints directly from texts."""
        plain = self.projection is None and self.fields is None
        shingles = self.features.shingle is not None and self.weights in ("set", "count")
        return plain and shingles and self._is_nd1

    @property
    def is_hashed(self) -> bool:
        """Whether features are nd1 hashes, plain or keyed, and never strings."""
        return self._is_nd1 and not self.features.are_given and not self.features.keywords

    @property
    def is_keyed(self) -> bool:
        """Whether the hash has a key; then features are hashed with that key, too."""
        return self.hash.startswith(KEYED_PREFIX)

    @property
    def _is_nd1(self) -> bool:
        return self.hash == "nd1" or self.is_keyed

    @property
    def are_sets(self) -> bool:
        """Whether every feature weighs the same, so that documents are sets."""
        fields = () if self.fields is None else self.fields.fields
        return self.weights == "set" and all(field.weight == 1 for field in fields)

    @property
    def by_rarity(self) -> bool:
        """Whether weights grow with the rarity of a feature."""
        return self.weights in _RARITY_WEIGHTS

    @property
    def needs_idf(self) -> bool:
        """Whether weights, or the choice of keywords, depend on document frequencies."""
        return self.by_rarity or bool(self.features.keywords)

    @property
    def counted(self) -> str:
        """The name of what an idf table for this scheme counts."""
        features = "keywords" if self.features.keywords else str(self.features)
        names = "" if self.fields is None else f"/{_FIELDS}{self.fields.unweighted}"
        return features + names + (f"/{self.hash}" if self.is_keyed else "")

    def with_idf(self, content: str) -> Scheme:
        """The same scheme, with weights from the idf table with this content hash."""
        return replace(self, idf=content)

    @property
    def row_words(self) -> int:
        """The number of 64-bit words that hold one fingerprint."""
        return -(-self.bits // 64)

    @property
    def row_bytes(self) -> int:
        """The number of bytes that hold one stored fingerprint."""
        return -(-self.bits // 8)

    def require_same(self, other: Scheme) -> None:
        """Raise `SchemeMismatchError` if the other scheme differs."""
        if self != other:
            raise SchemeMismatchError(
                f"fingerprints of scheme {self} and of scheme {other} cannot be compared; "
                "make both with the same settings"
            )

    def __str__(self) -> str:
        parts: list[object] = [self.hash, self.features, self.weights, self.bits]
        if self.projection is not None:
            parts.append(self.projection)
        if self.fields is not None:
            parts.append(f"{_FIELDS}{self.fields}")
        if self.idf:
            parts.append(f"{_IDF}{self.idf}")
        if self.tie != ">0":
            parts.append(self.tie)
        return "/".join(map(str, parts))


def _weight_choices(spec: FeatureSpec) -> tuple[str, ...]:
    if spec.keywords:
        return _KEYWORD_WEIGHTS
    return _TERM_WEIGHTS if spec.are_given else _TEXT_WEIGHTS


def _taken(parts: list[str], starts: tuple[str, ...]) -> str | None:
    """Remove and return the first part with one of these prefixes."""
    for part in parts:
        if part.startswith(starts):
            parts.remove(part)
            return part
    return None


def _require(setting: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise SettingError(f"{setting}={value!r} is unknown; choose {' or '.join(known)}")


def require_bits(bits: Any) -> None:
    """Raise `SettingError` if this is not a valid number of bits."""
    whole = isinstance(bits, SupportsIndex) and not isinstance(bits, bool)
    if not whole or not 1 <= bits <= LARGEST_BITS:
        raise SettingError(f"bits={bits!r} must be a whole number from 1 to {LARGEST_BITS}")
