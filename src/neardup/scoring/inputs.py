"""The inputs of a model: similarities of two documents, on the whole text and field by field.

`TEXT_INPUTS` of `collection.model` is the fixed list. It was chosen by cross-validation on persons,
products, citations, poems and manuals. Weights by rarity (idf) are counted on the collection at
hand.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup import kernels
from neardup.collection.model import WORDS
from neardup.collection.rarity import Rarity, whole_texts
from neardup.collection.records import Records
from neardup.features.idf import IdfTable
from neardup.features.spec import FeatureSpec, Fields
from neardup.features.weighted import WeightedFeatures, joined
from neardup.kernels.set_join import similarities
from neardup.kernels.terms import Source, find_terms, hash_terms
from neardup.scoring.records import Encoded, encoded

Places = NDArray[np.int64]
Values = NDArray[np.float64]

# Fields without a kind of their own are compared by these.
FIELD_FEATURES = FeatureSpec.parse("char:3")

_RARE = 64
_BEGINNING = 200
_FIRST_WORD = r"^[^\pL\pN]*(?P<word>[\pL\pM\pN]+)"
_TEXTS_AT_ONCE = 1 << 16


def texts_at(records: Records, places: Places | None = None) -> pa.Array:
    """The whole texts of records, of all or of those at some places."""
    table = records.table()
    if places is not None:
        table = table.take(pa.array(places))
    return whole_texts([_one_array(table[name]) for name in records.names])


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def joined_features(
    name: str, rarity: Rarity, records: Records, places: Places, threads: int = 1
) -> WeightedFeatures:
    """The features of `WORDS` or `CHARACTERS`, by which candidates are joined."""
    parts = []
    for portion in _portions(len(places)):
        texts = texts_at(records, places[portion])
        if name == WORDS:
            found = kernels.find_features(texts, [("word", 1)], threads=threads)
            weights = found[2] * rarity.words.idf(found[1], "tfidf")
            parts.append(WeightedFeatures(found[0], found[1], weights, found[3]))
        else:
            offsets, hashes, words = kernels.find_sets(texts, [("char", 3)], threads=threads)
            parts.append(WeightedFeatures(offsets, hashes, None, words))
    return joined(parts)


def _portions(count: int) -> Iterator[Places]:
    for begin in range(0, count, _TEXTS_AT_ONCE):
        yield np.arange(begin, min(count, begin + _TEXTS_AT_ONCE))


class Documents:
    """Some documents with all that the similarities of whole texts need."""

    def __init__(self, texts: pa.Array, rarity: Rarity, threads: int = 1) -> None:
        self._rarity, self._threads = rarity, threads
        offsets, hashes, counts, words = kernels.find_features(
            texts, [("word", 1)], threads=threads
        )
        idf = rarity.words.idf(hashes, "tfidf")
        self.words = WeightedFeatures(offsets, hashes, counts * idf, words)
        self.word_idf = idf
        offsets, hashes, counts, _ = kernels.find_features(texts, [("char", 3)], threads=threads)
        idf = rarity.characters.idf(hashes, "tfidf")
        self.characters = WeightedFeatures(offsets, hashes, counts * idf, words)
        offsets, hashes, _ = kernels.find_sets(texts, [("word", 2)], threads=threads)
        self.pairs_of_words = WeightedFeatures(offsets, hashes, None, words)
        self.digits = _with_digits(texts, words, rarity.words)
        self.rare = _rarest(self.words, idf=self.word_idf)
        self.first = _first_words(texts, threads)
        self.lengths = pc.utf8_length(texts).to_numpy(zero_copy_only=False).astype(np.float64)

    def text_values(self, other: Documents, a: Places, b: Places) -> list[Values]:
        """The similarities of whole texts, in the order of `TEXT_INPUTS`; NaN where missing."""
        both = _Both(a, b, self._threads)
        words = both.similarity(self.words, other.words, "jaccard")
        shared_idf = both.similarity(self.word_rarity, other.word_rarity, "weighted-jaccard")
        digits = both.similarity(self.digits, other.digits, "weighted-jaccard")
        lacking = (np.diff(self.digits.offsets)[a] == 0) | (np.diff(other.digits.offsets)[b] == 0)
        shorter = np.minimum(self.lengths[a], other.lengths[b])
        longer = np.maximum(self.lengths[a], other.lengths[b])
        first = (self.first[a] == other.first[b]).all(axis=1) & self.first[a].any(axis=1)
        return [
            words,
            both.similarity(self.words, other.words, "weighted-jaccard"),
            both.similarity(self.words, other.words, "cosine"),
            both.containment(self.word_rarity, other.word_rarity, shared_idf),
            both.similarity(self.pairs_of_words, other.pairs_of_words, "jaccard"),
            both.similarity(self.characters, other.characters, "jaccard"),
            both.similarity(self.characters, other.characters, "cosine"),
            np.where(lacking, np.nan, digits),
            np.where(lacking, np.nan, both.containment(self.digits, other.digits, digits)),
            self._rarest_shared(other, a, b),
            first.astype(np.float64),
            np.divide(shorter, longer, out=np.zeros(len(a)), where=longer > 0),
        ]

    @property
    def word_rarity(self) -> WeightedFeatures:
        """Words weighted by their idf alone."""
        words = self.words
        return WeightedFeatures(words.offsets, words.hashes, self.word_idf, words.words)

    def _rarest_shared(self, other: Documents, a: Places, b: Places) -> Values:
        """The idf of the rarest shared word, as a share of the idf of a word of one document."""
        found = _largest_shared(self.rare, other.rare, a, b)
        return found / math.log(1 + max(1, self._rarity.words.documents))


class _Both:
    """Pairs of documents of two collections, compared by one kind of feature after the other."""

    def __init__(self, a: Places, b: Places, threads: int) -> None:
        self._a, self._b, self._threads = a, b, threads

    def similarity(self, left: WeightedFeatures, right: WeightedFeatures, measure: str) -> Values:
        ours, theirs = left.arrays, right.arrays
        if measure == "jaccard":
            ours, theirs = (*ours[:2], None), (*theirs[:2], None)
        return similarities(
            *ours, self._a, self._b, measure=measure, right=theirs, threads=self._threads
        )

    def containment(
        self, left: WeightedFeatures, right: WeightedFeatures, jaccard: Values
    ) -> Values:
        """Shared weight by the weight of the side that has less, from the weighted Jaccard.

        Features weigh the same on both sides, so that J = shared / (A + B - shared).
        """
        ours, theirs = _sums(left)[self._a], _sums(right)[self._b]
        shared = jaccard * (ours + theirs) / (1 + jaccard)
        less = np.minimum(ours, theirs)
        found = np.divide(shared, less, out=np.zeros(len(less)), where=less > 0)
        return np.minimum(found, 1.0)


def field_values(known: Encoded, a: Places, b: Places, threads: int = 1) -> list[Values]:
    """The similarity of each field; NaN where a side is empty."""
    ours = known.codes(0)
    theirs = known.codes(0) if known.fields[0].codes[1] is None else known.codes(1)
    found = []
    for one, own, other in zip(known.fields, ours, theirs, strict=True):
        x, y = own[a], other[b]
        values = np.full(len(a), np.nan)
        rows = np.flatnonzero((x >= 0) & (y >= 0))
        values[rows] = one.similarity(x[rows], y[rows], threads)
        found.append(values)
    return found


def encoded_fields(
    fields: Fields, left: Records, right: Records | None, threads: int = 1
) -> Encoded:
    """The fields of all records; see `scoring.records`."""
    return encoded(fields.fields, FIELD_FEATURES, left, right, threads)


def _sums(features: WeightedFeatures) -> Values:
    """The summed weight of each document."""
    assert features.weights is not None
    filled = np.flatnonzero(np.diff(features.offsets))
    sums = np.zeros(len(features.offsets) - 1)
    if len(filled):
        # Not differences of a running sum, whose rounding depends on the documents before.
        sums[filled] = np.add.reduceat(features.weights, features.offsets[:-1][filled])
    return sums


def _with_digits(texts: pa.Array, words: NDArray[np.uint32], idf: IdfTable) -> WeightedFeatures:
    """The distinct words of each text that contain one of the digits 0 to 9, by rarity."""
    found = find_terms([Source(texts, words, "word", 1)], [b""], len(texts))
    terms = found.vocabulary
    before = np.concatenate(([0], np.cumsum((terms.data >= ord("0")) & (terms.data <= ord("9")))))
    has_digit = before[terms.begins + terms.lengths] > before[terms.begins]
    of_terms = np.flatnonzero(has_digit[found.places])
    documents = np.repeat(np.arange(len(texts)), np.diff(found.offsets))[of_terms]
    hashes = hash_terms(terms, found.units)[:, 0][found.places[of_terms]]
    order = np.lexsort((hashes, documents))
    hashes = np.ascontiguousarray(hashes[order])
    offsets = np.searchsorted(documents[order], np.arange(len(texts) + 1))
    return WeightedFeatures(offsets, hashes, idf.idf(hashes, "tfidf"), words)


def _rarest(words: WeightedFeatures, idf: Values) -> WeightedFeatures:
    """The rarest words of each document, at most `_RARE`, in the order of their hashes."""
    sizes = np.diff(words.offsets)
    documents = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((words.hashes, -idf, documents))
    rank = np.arange(len(order)) - np.repeat(words.offsets[:-1], sizes)
    kept = np.sort(order[rank < _RARE])
    offsets = np.searchsorted(kept, words.offsets)
    return WeightedFeatures(offsets, words.hashes[kept], idf[kept], words.words)


def _largest_shared(
    left: WeightedFeatures, right: WeightedFeatures, a: Places, b: Places
) -> Values:
    """The largest weight of a feature that both documents of a pair have; 0 if there is none."""
    assert left.weights is not None
    vocabulary = np.unique(right.hashes)
    if not len(vocabulary):
        return np.zeros(len(a))
    theirs = np.searchsorted(vocabulary, right.hashes)
    theirs += np.repeat(np.arange(len(right)), np.diff(right.offsets)) * len(vocabulary)
    ours = np.minimum(np.searchsorted(vocabulary, left.hashes), len(vocabulary) - 1)
    weights = np.where(vocabulary[ours] == left.hashes, left.weights, 0.0)
    sizes = np.diff(left.offsets)[a]
    starts = np.cumsum(sizes) - sizes
    of_pair = np.repeat(np.arange(len(a)), sizes)
    at = np.arange(len(of_pair)) - np.repeat(starts - left.offsets[:-1][a], sizes)
    wanted = b[of_pair] * len(vocabulary) + ours[at]
    place = np.minimum(np.searchsorted(theirs, wanted), len(theirs) - 1)
    shared = np.where(theirs[place] == wanted, weights[at], 0.0)
    found = np.zeros(len(a))
    filled = np.flatnonzero(sizes)
    if len(filled):
        found[filled] = np.maximum.reduceat(shared, starts[filled])
    return found


def _first_words(texts: pa.Array, threads: int) -> NDArray[np.uint64]:
    """128 bits for the first word of each text, lower case; 0 if there is none."""
    beginnings = pc.utf8_slice_codeunits(texts, 0, _BEGINNING)
    words = pc.struct_field(pc.extract_regex(beginnings, _FIRST_WORD), "word").fill_null("")
    offsets, hashes, counted = kernels.find_sets(words, [("word", 1)], threads=threads)
    keys = WeightedFeatures(offsets, hashes, None, counted).content_keys()
    return np.where(np.diff(offsets)[:, None] > 0, keys, np.uint64(0))
