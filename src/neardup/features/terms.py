"""Documents as weighted terms, for hashes and projections that need the strings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup import kernels
from neardup.features.sentences import choose_sentences, passages
from neardup.features.spec import LARGEST_SIZE, FeatureKind, FeatureSpec, TextColumn
from neardup.features.values import compared
from neardup.features.words import WordSpans, find_words, folded_code_points
from neardup.hashes.nd1 import hashes_in_field
from neardup.kernels import HashKey
from neardup.kernels.reference import text as reference
from neardup.kernels.reference.terms import field_prefix
from neardup.kernels.terms import Source, TermCounts, Vocabulary, find_terms, hash_terms

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
    vocabulary: Vocabulary
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
    every: list[NDArray[np.uint32]] = []
    sources: list[Source] = []
    for place, column in enumerate(columns):
        texts, own = compared(column, spec)
        every.append(_word_counts(texts))
        sources += _sources(texts, place, every[place], own, key)
    names = [column.field.name if column.field else None for column in columns]
    found = find_terms(sources, [field_prefix(name).encode() for name in names], len(every[0]))
    weights = np.array([column.field.weight if column.field else 1.0 for column in columns])
    return Terms(
        found.offsets,
        found.places,
        found.counts,
        found.vocabulary,
        np.sum(every, axis=0, dtype=np.uint32),
        lambda: _keys(found, names, key),
        None if (weights == 1).all() else weights[found.fields[found.places]],
    )


def _word_counts(texts: pa.Array) -> NDArray[np.uint32]:
    return kernels.find_sets(texts, [("word", LARGEST_SIZE)])[2]


def _sources(
    texts: pa.Array,
    field: int,
    words: NDArray[np.uint32],
    spec: FeatureSpec,
    key: HashKey | None,
) -> Iterator[Source]:
    for kind in spec.kinds:
        if kind.is_shingle:
            yield Source(texts, words, kind.unit, kind.size, field)
        else:
            chosen = choose_sentences(texts, kind, key=key)
            yield Source(chosen.strings, words, "word", LARGEST_SIZE, field, chosen.offsets)


def _keys(
    found: TermCounts, names: Sequence[str | None], key: HashKey | None
) -> NDArray[np.uint64]:
    """The nd1 hashes of the terms without their prefixes, each in its field."""
    prefixes = np.array([len(field_prefix(name).encode()) for name in names], np.int64)
    skipped, terms = prefixes[found.fields], found.vocabulary
    shingles = Vocabulary(terms.data, terms.begins + skipped, terms.lengths - skipped)
    keys = hash_terms(shingles, found.units, key=key)[:, 0]
    for field, name in enumerate(names):
        if name is not None:
            inside = np.flatnonzero(found.fields == field)
            keys[inside] = hashes_in_field(keys[inside], name, key)
    return keys


def kind_shingles(spans: WordSpans, kind: FeatureKind, key: HashKey | None) -> list[Shingle]:
    """The features of one kind as tuples of units, in the order of the text."""
    if kind.unit == "word":
        return reference.shingles([reference.lower(word) for word in spans], kind.size)
    if kind.unit == "char":
        units = list(map(chr, folded_code_points(spans.text).tolist()))
        return reference.shingles(units, kind.size)
    sentences = passages([spans.text], kind, key)[0]
    return [tuple(map(reference.lower, find_words(sentence))) for sentence in sentences]
