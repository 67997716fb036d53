"""Explain one pair: what two texts share, how far apart their fingerprints are, what differs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.features.spec import FeatureSpec
from neardup.features.text import WordSpans, find_words, folded_code_points, number_words
from neardup.fingerprints import fingerprint
from neardup.fingerprints.scheme import HashFunction, Scheme
from neardup.kernels import reference
from neardup.verify.alignment import align
from neardup.verify.comparison import Comparison, Side
from neardup.verify.diff import find_edits
from neardup.verify.overlap import find_overlap

__all__ = ["Comparison", "compare"]

_EXAMPLES = 5

Numbers = NDArray[np.int32]


def compare(
    a: str,
    b: str,
    *,
    features: str = "word:3",
    weights: str | None = None,
    bits: int = 64,
    hash: str | HashFunction = "nd1",
    tie: str = ">0",
    projection: str | None = None,
) -> Comparison:
    """Compare two texts: features, fingerprints, similarity, diff.

    >>> compare("to be or not to be", "to be or not to bop")
    <Comparison nd1/word:3/set/64: distance 11 of 64 bits, jaccard 0.6000, cosine 0.7500>
    """
    scheme = Scheme.of(features, weights, bits, hash, tie, projection)
    for name, text in (("a", a), ("b", b)):
        if not isinstance(text, str):
            raise SettingError(f"{name} must be a str, not {type(text).__name__}")
    spec = scheme.features
    if spec.are_given:
        raise SettingError("compare explains texts; terms have none to show, take word:N or char:N")
    words_a, words_b = find_words(a), find_words(b)
    numbers_a, numbers_b = number_words(words_a, words_b)
    alignment = align(numbers_a, numbers_b)
    edits = find_edits(words_a, words_b, alignment)
    units_a = numbers_a if spec.unit == "word" else _characters(words_a)
    units_b = numbers_b if spec.unit == "word" else _characters(words_b)
    overlap = find_overlap(units_a, units_b, spec.size)
    prints = fingerprint([a, b], features, weights, bits, hash, tie, 1, projection)
    only_a = overlap.places_only_in_a(spec.size, _EXAMPLES)
    only_b = overlap.places_only_in_b(spec.size, _EXAMPLES)
    examples_a = tuple(_shingle(words_a, units_a, spec, place) for place in only_a)
    examples_b = tuple(_shingle(words_b, units_b, spec, place) for place in only_b)
    hex_a, hex_b = prints.hex()
    side_a = Side(len(words_a), overlap.distinct_a, prints[0], hex_a, examples_a)
    side_b = Side(len(words_b), overlap.distinct_b, prints[1], hex_b, examples_b)
    comparable = not (side_a.empty or side_b.empty)
    return Comparison(
        scheme=scheme,
        a=side_a,
        b=side_b,
        shared=overlap.shared,
        only_a=side_a.features - overlap.shared,
        only_b=side_b.features - overlap.shared,
        jaccard=overlap.jaccard(scheme.weights) if comparable else None,
        cosine=overlap.cosine(scheme.weights) if comparable else None,
        diff=edits,
        diff_complete=alignment.complete,
    )


def _characters(words: WordSpans) -> Numbers:
    """Give what `char:n` shingles are made of; nothing where there is no word."""
    return folded_code_points(words.text) if len(words) else np.empty(0, np.int32)


def _shingle(words: WordSpans, units: Numbers, spec: FeatureSpec, place: int) -> str:
    """Write out the feature that begins at a place."""
    if spec.unit == "char":
        return "".join(map(chr, units[place : place + spec.size].tolist()))
    last = min(place + spec.size, len(words))
    return reference.lower(" ".join(words.stretch(i, i + 1) for i in range(place, last)))
