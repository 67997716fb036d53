"""The twin of the term kernels: the terms of documents in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from neardup.kernels.reference import text

# Separates the name of a field from a term; no word contains this character.
_FIELD_SIGN = "\x1f"

Shingle = tuple[str, ...]
Kind = tuple[str, int]


def field_prefix(name: str | None) -> str:
    """What the terms of a field begin with."""
    return "" if name is None else name + _FIELD_SIGN


@dataclass
class CountedTerms:
    """The terms of each document: their places in the vocabulary and their counts.

    `shingles` holds the units of each term of the vocabulary, as they first occurred.
    """

    vocabulary: dict[str, int] = field(default_factory=dict)
    shingles: list[Shingle] = field(default_factory=list)
    places: list[list[int]] = field(default_factory=list)
    counts: list[list[int]] = field(default_factory=list)

    def add(self, counted: Counter[tuple[str, Shingle]], prefix: str) -> None:
        """Add terms to the last document."""
        for (term, shingle), count in counted.items():
            place = self.vocabulary.setdefault(prefix + term, len(self.vocabulary))
            if place == len(self.shingles):
                self.shingles.append(shingle)
            self.places[-1].append(place)
            self.counts[-1].append(count)


def find_terms(
    documents: Sequence[Sequence[str]], names: Sequence[str | None], kinds: Sequence[Kind]
) -> CountedTerms:
    """The terms of documents that are one text for each of the named fields."""
    found = CountedTerms()
    for texts in documents:
        found.places.append([])
        found.counts.append([])
        for name, one in zip(names, texts, strict=True):
            shingles = _shingles(one, kinds) if text.words(one) else ()
            found.add(Counter(shingles), field_prefix(name))
    return found


def _shingles(one: str, kinds: Sequence[Kind]) -> Iterator[tuple[str, Shingle]]:
    for unit, size in kinds:
        between = " " if unit == "word" else ""
        for shingle in text.shingles(text.units(one, unit), size):
            yield between.join(shingle), shingle
