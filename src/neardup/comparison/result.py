"""The comparison of two documents: everything that explains whether they match."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from neardup.comparison.diff import Edit
from neardup.fingerprints.scheme import Scheme


@dataclass(frozen=True)
class ComparedDocument:
    """One of the two documents: its size, its fingerprint, and some features only it has."""

    words: int
    features: int
    fingerprint: int
    hex: str
    examples: tuple[str, ...]

    @property
    def empty(self) -> bool:
        """Whether the document has no words; an empty document never matches."""
        return self.words == 0


@dataclass(frozen=True)
class Shared:
    """Distinct features of each document and of both, with examples and similarities."""

    features_a: int
    features_b: int
    features: int
    examples_a: tuple[str, ...]
    examples_b: tuple[str, ...]
    jaccard: float
    cosine: float
    inclusion_a: float
    inclusion_b: float


@dataclass(frozen=True, repr=False)
class Comparison:
    """Two documents compared under one scheme.

    `features`, `shared`, `only_a` and `only_b` count distinct features. `jaccard` and `cosine` are
    the true similarities on those features, weighted by count if the scheme is; `inclusion_a` is
    the part of A that is in B, `inclusion_b` that of B in A. If a document
    is empty, distance and similarities are None and `reason` says why. `diff_complete` is false
    if some stretches of the diff are replaced as a whole because the documents are too long
    and too different for a complete search.
    """

    scheme: Scheme
    a: ComparedDocument
    b: ComparedDocument
    shared: int
    only_a: int
    only_b: int
    jaccard: float | None
    cosine: float | None
    diff: tuple[Edit, ...]
    diff_complete: bool
    inclusion_a: float | None = None
    inclusion_b: float | None = None

    @property
    def containment(self) -> float | None:
        """The shared part of the smaller document."""
        if self.inclusion_a is None or self.inclusion_b is None:
            return None
        return max(self.inclusion_a, self.inclusion_b)

    @property
    def reason(self) -> str | None:
        """Why there are no distance and similarities; None if there are."""
        empty = [name for name, side in (("A", self.a), ("B", self.b)) if side.empty]
        if not empty:
            return None
        verb = "are" if len(empty) == 2 else "is"
        return f"{' and '.join(empty)} {verb} empty: a document without a word can never match"

    @property
    def distance(self) -> int | None:
        """The Hamming distance: how many bits of the fingerprints differ."""
        return None if self.reason else len(self.differing_bits)

    @property
    def differing_bits(self) -> tuple[int, ...]:
        """The places of the differing bits, 0 the most significant; none if a document is empty."""
        if self.reason:
            return ()
        difference = f"{self.a.fingerprint ^ self.b.fingerprint:0{self.scheme.bits}b}"
        return tuple(place for place, bit in enumerate(difference) if bit == "1")

    @property
    def estimated_cosine(self) -> float | None:
        """The cosine estimated from the bits: vectors at an angle t differ in t/pi of them."""
        distance = self.distance
        return None if distance is None else math.cos(math.pi * distance / self.scheme.bits)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON; fingerprints in hexadecimal."""
        settings = self.scheme.recipe
        del settings["projection"]  # the scheme names it
        return {
            "scheme": str(self.scheme),
            "settings": settings,
            "a": _side_dict(self.a),
            "b": _side_dict(self.b),
            "shared": self.shared,
            "only_a": self.only_a,
            "only_b": self.only_b,
            "distance": self.distance,
            "differing_bits": None if self.reason else list(self.differing_bits),
            "jaccard": self.jaccard,
            "cosine": self.cosine,
            "containment": self.containment,
            "inclusion_a": self.inclusion_a,
            "inclusion_b": self.inclusion_b,
            "estimated_cosine": self.estimated_cosine,
            "reason": self.reason,
            "diff": [asdict(edit) for edit in self.diff],
            "diff_complete": self.diff_complete,
        }

    def _repr_html_(self) -> str:
        from neardup.comparison.notebook import comparison_html

        return comparison_html(self)

    def __repr__(self) -> str:
        return f"<Comparison {self.scheme}: {self._verdict()}>"

    def __str__(self) -> str:
        lines = [f"{self.scheme}: {self._verdict()}"]
        for name, side, alone in (("A", self.a, self.only_a), ("B", self.b, self.only_b)):
            lines.append(
                f"{name}  {side.hex}  {side.words} words, {side.features} features, "
                f"{alone} of them only here"
            )
        return "\n".join(lines)

    @property
    def weighted(self) -> str:
        """`weighted `, if features have weights, to precede the names of the similarities."""
        return "" if self.scheme.are_sets else "weighted "

    def _verdict(self) -> str:
        if self.reason:
            return self.reason
        return (
            f"distance {self.distance} of {self.scheme.bits} bits, "
            f"{self.weighted}jaccard {self.jaccard:.4f}, {self.weighted}cosine {self.cosine:.4f}"
        )


def _side_dict(side: ComparedDocument) -> dict[str, Any]:
    return {
        "words": side.words,
        "features": side.features,
        "fingerprint": side.hex,
        "empty": side.empty,
        "examples": list(side.examples),
    }
