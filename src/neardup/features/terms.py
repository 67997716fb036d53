"""Documents as weighted terms, for hashes and projections that need the strings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from neardup.features.sentences import passages
from neardup.features.spec import FeatureKind, FeatureSpec, TextColumn
from neardup.features.words import WordSpans, find_words, folded_code_points
from neardup.hashes.nd1 import hashes_in_field, shingle_hashes
from neardup.kernels import HashKey
from neardup.kernels.reference import text as reference

# Separates the name of a field from a term; no word contains this character.
_FIELD_SIGN = "\x1f"

Shingle = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Terms:
    """Document i has the terms `places[offsets[i]:offsets[i + 1]]`, each a place in `vocabulary`.

    `counts` is how often each occurs, or its given weight; `scale` is its factor (None: 1 for all);
    `words` is the number of words of each document; a document without words has no terms.
    `find_keys` returns the nd1 hashes of the vocabulary, plain or keyed, as in `Features`.
    """

    offsets: NDArray[np.int64]
    places: NDArray[np.int32]
    counts: NDArray[np.float64]
    vocabulary: list[str]
    words: NDArray[np.uint32]
    find_keys: Callable[[], NDArray[np.uint64]]
    scale: NDArray[np.float64] | None = None

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """The nd1 hash of every term of every document."""
        return self.find_keys()[self.places]


def text_terms(
    columns: Sequence[TextColumn], spec: FeatureSpec, key: HashKey | None = None
) -> Terms:
    """The features of texts as strings: words joined by spaces, characters without.

    >>> import pyarrow as pa
    >>> columns = [TextColumn(pa.array(["To be, or not to be"]))]
    >>> terms = text_terms(columns, FeatureSpec.parse("word:2"))
    >>> dict(zip(terms.vocabulary, terms.counts.tolist(), strict=True))
    {'to be': 2.0, 'be or': 1.0, 'or not': 1.0, 'not to': 1.0}
    """
    found = _Vocabulary(key)
    texts = zip(*(column.texts.to_pylist() for column in columns), strict=True)
    for row in texts:
        words = 0
        for column, text in zip(columns, row, strict=True):
            spans = find_words(text or "")
            words += len(spans)
            counted = Counter(_shingles(spans, spec, key)) if len(spans) else Counter()
            found.add(counted, column)
        found.end_document(words)
    return found.terms()


@dataclass
class _Vocabulary:
    """Collects terms document by document."""

    key: HashKey | None
    places_of: dict[str, int] = field(default_factory=dict)
    shingles: list[tuple[Shingle, str | None]] = field(default_factory=list)
    offsets: list[int] = field(default_factory=lambda: [0])
    words: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    scale: list[float] = field(default_factory=list)

    def add(self, counted: Counter[tuple[str, Shingle]], column: TextColumn) -> None:
        field_name = column.field.name if column.field else None
        prefix = "" if field_name is None else field_name + _FIELD_SIGN
        for (term, shingle), count in counted.items():
            place = self.places_of.setdefault(prefix + term, len(self.places_of))
            if place == len(self.shingles):
                self.shingles.append((shingle, field_name))
            self.places.append(place)
            self.counts.append(count)
            self.scale.append(column.field.weight if column.field else 1.0)

    def end_document(self, words: int) -> None:
        self.offsets.append(len(self.places))
        self.words.append(words)

    def terms(self) -> Terms:
        scale = np.array(self.scale, np.float64)
        return Terms(
            np.array(self.offsets, np.int64),
            np.array(self.places, np.int32),
            np.array(self.counts, np.float64),
            list(self.places_of),
            np.array(self.words, np.uint32),
            self._keys,
            None if (scale == 1).all() else scale,
        )

    def _keys(self) -> NDArray[np.uint64]:
        keys = shingle_hashes([shingle for shingle, _ in self.shingles], self.key)
        names = [name for _, name in self.shingles]
        for name in set(names) - {None}:
            inside = np.flatnonzero([other == name for other in names])
            keys[inside] = hashes_in_field(keys[inside], str(name), self.key)
        return keys


def _shingles(
    spans: WordSpans, spec: FeatureSpec, key: HashKey | None
) -> Iterator[tuple[str, Shingle]]:
    """The features of a text with words, as strings and as tuples of units."""
    for kind in spec.kinds:
        between = "" if kind.unit == "char" else " "
        for shingle in kind_shingles(spans, kind, key):
            yield between.join(shingle), shingle


def kind_shingles(spans: WordSpans, kind: FeatureKind, key: HashKey | None) -> list[Shingle]:
    """The features of one kind as tuples of units, in the order of the text."""
    if kind.unit == "word":
        return reference.shingles([reference.lower(word) for word in spans], kind.size)
    if kind.unit == "char":
        units = list(map(chr, folded_code_points(spans.text).tolist()))
        return reference.shingles(units, kind.size)
    sentences = passages([spans.text], kind, key)[0]
    return [tuple(map(reference.lower, find_words(sentence))) for sentence in sentences]
