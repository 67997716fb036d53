"""Explain one pair: what two texts share, how far apart their fingerprints are, what differs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.comparison.alignment import align
from neardup.comparison.diff import find_edits
from neardup.comparison.long_overlap import shared_of_long
from neardup.comparison.long_texts import LONG, find_long_edits
from neardup.comparison.overlap import find_overlap
from neardup.comparison.record_result import RecordComparison
from neardup.comparison.result import ComparedDocument, Comparison, Shared
from neardup.errors import SettingError
from neardup.features.idf import IdfTable
from neardup.features.spec import FeatureKind, Fields, TextColumn
from neardup.features.words import WordSpans, find_words, folded_code_points, number_words
from neardup.fingerprints import Fingerprints
from neardup.fingerprints.fingerprinter import Fingerprinter, fitted
from neardup.fingerprints.scheme import HashChoice, Scheme
from neardup.hashes import hash_family
from neardup.kernels.reference import text as reference
from neardup.pairs.similarity import cosine, inclusion, weighted_jaccard
from neardup.settings import suggests_settings

__all__ = ["Comparison", "compare"]

_EXAMPLES = 5

Numbers = NDArray[np.int32]


@overload
def compare(
    a: str,
    b: str,
    *,
    features: str = ...,
    weights: str | None = ...,
    bits: int = ...,
    hash: HashChoice = ...,
    tie: str = ...,
    projection: str | None = ...,
    idf: IdfTable | str | os.PathLike[str] | None = ...,
) -> Comparison: ...


@overload
def compare(
    a: Mapping[str, Any],
    b: Mapping[str, Any],
    *,
    text: str,
    similarity: str | None = ...,
    features: str = ...,
    weights: str | None = ...,
    bits: int = ...,
    hash: HashChoice = ...,
    tie: str = ...,
    projection: str | None = ...,
    idf: IdfTable | str | os.PathLike[str] | None = ...,
) -> RecordComparison: ...


@suggests_settings
def compare(
    a: str | Mapping[str, Any],
    b: str | Mapping[str, Any],
    *,
    text: str | None = None,
    similarity: str | None = None,
    features: str = "word:3",
    weights: str | None = None,
    bits: int = 64,
    hash: HashChoice = "nd1",
    tie: str = ">0",
    projection: str | None = None,
    idf: IdfTable | str | os.PathLike[str] | None = None,
) -> Comparison | RecordComparison:
    """Compare two texts: features, fingerprints, similarity, diff; or two records by their fields.

    Args:
        a: The first text, or a record: a mapping from fields to values.
        b: The second one.
        text: Fields of records, as `dedup` takes them: `name*2+street+city`, or with kinds,
            `name:char:3*2 + dob:exact`.
        similarity: Similarity measure of records, as `dedup` takes it. Default: the one that
            `dedup` would use.
        features: What a document consists of, for example `word:3` or `char:4`; not `terms`.
        weights: Weight of a feature: `set`, `count`, `tfidf`, `idf` or `tfidf:lab`. Default: set;
            tfidf for keywords.
        bits: Bits of a fingerprint, 1 to 4096.
        hash: Hash family by name, one with a secret key (`nd.keyed`), or a function from bytes to
            int.
        tie: Whether a sum of zero leaves a bit clear (`>0`) or sets it (`>=0`).
        projection: Project the sums onto a sphere before taking signs. Default: none.
        idf: Table for weights by rarity, from `nd.idf` or a saved file. Default: computed from
            the two texts.

    >>> import neardup as nd
    >>> nd.compare("to be or not to be", "to be or not to bop")
    <Comparison nd1/word:3/set/64: distance 11 of 64 bits, jaccard 0.6000, cosine 0.7500>
    >>> a, b = {"name": "Ann Lee", "city": "Oslo"}, {"name": "Anne Lee", "city": "Oslo"}
    >>> print(nd.compare(a, b, text="name*2+city", features="word:1"))
    weighted-jaccard 0.4285
    name: 0.3333 by word:1, adds 0.2857
    city: 1.0000 by word:1, adds 0.1429
    """
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        recipe = {
            "features": features,
            "weights": weights,
            "bits": bits,
            "hash": hash,
            "tie": tie,
            "projection": projection,
        }
        return _compare_records(a, b, text, idf, similarity=similarity, **recipe)
    for name, value in (("text", text), ("similarity", similarity)):
        if value is not None:
            raise SettingError(f"{name} is for records; give two dicts, not texts")
    family = hash_family(hash)
    scheme = Scheme.of(features, weights, bits, family, tie, projection)
    if not isinstance(a, str) or not isinstance(b, str):
        name, wrong = ("b", b) if isinstance(a, str) else ("a", a)
        raise SettingError(f"{name} must be a str, not {type(wrong).__name__}")
    if scheme.features.are_given:
        raise SettingError("compare needs texts, not terms; use word:N or char:N features")
    kind = scheme.features.shingle
    counts_shingles = kind is not None and scheme.weights in ("set", "count")
    shared: Shared | None = None
    if max(len(a), len(b)) > LONG:
        edits, complete = find_long_edits(a, b)
        if kind is not None and counts_shingles:
            shared = shared_of_long(a, b, kind, scheme.weights, edits, family.key)
    else:
        words_a, words_b = find_words(a), find_words(b)
        numbers_a, numbers_b = number_words(words_a, words_b)
        alignment = align(numbers_a, numbers_b)
        edits, complete = find_edits(words_a, words_b, alignment), alignment.complete
        if kind is not None and counts_shingles:
            numbers = numbers_a, numbers_b
            shared = _shared_shingles(words_a, words_b, numbers, kind, scheme.weights)
    texts = [TextColumn(pa.array([a, b], pa.large_string()))]
    fingerprinter = fitted(Fingerprinter(scheme, family, 1), [texts], idf)
    prints = Fingerprints(*_rows(fingerprinter, texts))
    if shared is None:
        shared = _shared_terms(fingerprinter, texts)
    hex_a, hex_b = prints.hex()
    count_a, count_b = prints.words.tolist()
    side_a = ComparedDocument(count_a, shared.features_a, prints[0], hex_a, shared.examples_a)
    side_b = ComparedDocument(count_b, shared.features_b, prints[1], hex_b, shared.examples_b)
    comparable = not (side_a.empty or side_b.empty)
    return Comparison(
        scheme=fingerprinter.scheme,
        a=side_a,
        b=side_b,
        shared=shared.features,
        only_a=side_a.features - shared.features,
        only_b=side_b.features - shared.features,
        jaccard=shared.jaccard if comparable else None,
        cosine=shared.cosine if comparable else None,
        inclusion_a=shared.inclusion_a if comparable else None,
        inclusion_b=shared.inclusion_b if comparable else None,
        diff=edits,
        diff_complete=complete,
    )


def _compare_records(
    a: Mapping[str, Any],
    b: Mapping[str, Any],
    text: str | None,
    idf: IdfTable | str | os.PathLike[str] | None,
    **chosen: Any,
) -> RecordComparison:
    from neardup.collection.settings import DedupSettings  # texts need none of this
    from neardup.comparison.records import compare_records, record_texts

    if text is None:
        raise SettingError(
            "a and b are records: name the fields to compare, for example text='name*2+city'"
        )
    # Nothing is compared with a threshold; hamming has no default.
    threshold = 0 if chosen["similarity"] == "hamming" else None
    settings = DedupSettings.of(text=text, threshold=threshold, **chosen)
    fields = settings.scheme.fields or Fields.named([text])
    return compare_records(
        record_texts(a, fields, "a"), record_texts(b, fields, "b"), settings, idf
    )


def _rows(
    fingerprinter: Fingerprinter, texts: list[TextColumn]
) -> tuple[NDArray[np.uint64], Scheme, NDArray[np.uint32]]:
    rows, words = fingerprinter.rows(texts)
    return rows, fingerprinter.scheme, words


def _shared_shingles(
    words_a: WordSpans,
    words_b: WordSpans,
    numbers: tuple[Numbers, Numbers],
    kind: FeatureKind,
    weights: str,
) -> Shared:
    """Compare shingles by number, without building strings: texts may be large."""
    units_a = numbers[0] if kind.unit == "word" else _characters(words_a)
    units_b = numbers[1] if kind.unit == "word" else _characters(words_b)
    overlap = find_overlap(units_a, units_b, kind.size)
    only_a = overlap.places_only_in_a(kind.size, _EXAMPLES)
    only_b = overlap.places_only_in_b(kind.size, _EXAMPLES)
    return Shared(
        features_a=overlap.distinct_a,
        features_b=overlap.distinct_b,
        features=overlap.shared,
        examples_a=tuple(_shingle(words_a, units_a, kind, place) for place in only_a),
        examples_b=tuple(_shingle(words_b, units_b, kind, place) for place in only_b),
        jaccard=overlap.jaccard(weights),
        cosine=overlap.cosine(weights),
        inclusion_a=overlap.inclusion(weights),
        inclusion_b=overlap.turned.inclusion(weights),
    )


def _shared_terms(fingerprinter: Fingerprinter, texts: list[TextColumn]) -> Shared:
    a, b = fingerprinter.weighted_terms(texts)
    heaviest = [
        tuple(sorted(set(own) - set(other), key=lambda term: (-own[term], term))[:_EXAMPLES])
        for own, other in ((a, b), (b, a))
    ]
    return Shared(
        features_a=len(a),
        features_b=len(b),
        features=len(set(a) & set(b)),
        examples_a=heaviest[0],
        examples_b=heaviest[1],
        jaccard=weighted_jaccard(a, b),
        cosine=cosine(a, b),
        inclusion_a=inclusion(a, b),
        inclusion_b=inclusion(b, a),
    )


def _characters(words: WordSpans) -> Numbers:
    """The characters that `char:n` shingles consist of; none if the text has no word."""
    return folded_code_points(words.text) if len(words) else np.empty(0, np.int32)


def _shingle(words: WordSpans, units: Numbers, kind: FeatureKind, place: int) -> str:
    """The feature that begins at a place, as text."""
    if kind.unit == "char":
        return "".join(map(chr, units[place : place + kind.size].tolist()))
    last = min(place + kind.size, len(words))
    return reference.lower(" ".join(words.stretch(i, i + 1) for i in range(place, last)))
