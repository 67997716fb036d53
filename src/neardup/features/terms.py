"""Documents as weighted terms, for hashes and projections that want each term by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.features.spec import FeatureSpec
from neardup.features.text import find_words, folded_code_points
from neardup.kernels import reference


@dataclass(frozen=True, eq=False)
class Terms:
    """Document i has the terms `places[offsets[i]:offsets[i + 1]]`, each a place in `vocabulary`.

    `words` counts the words of each document; one without any has no terms.
    """

    offsets: NDArray[np.int64]
    places: NDArray[np.int32]
    weights: NDArray[np.float64]
    vocabulary: list[str]
    words: NDArray[np.uint32]


def shingle_terms(texts: pa.Array, spec: FeatureSpec, weights: str) -> Terms:
    """The shingles of texts as strings: words joined by a space, characters by nothing.

    The weight of a shingle is 1 (`set`) or the number of times it occurs (`count`).

    >>> terms = shingle_terms(pa.array(["To be, or not to be"]), FeatureSpec("word", 2), "count")
    >>> dict(zip(terms.vocabulary, terms.weights.tolist(), strict=True))
    {'to be': 2.0, 'be or': 1.0, 'or not': 1.0, 'not to': 1.0}
    """
    vocabulary: dict[str, int] = {}
    offsets, words = [0], []
    places: list[int] = []
    amounts: list[int] = []
    for text in texts.to_pylist():
        count, shingles = _shingles(text or "", spec)
        words.append(count)
        counted = Counter(shingles)
        places += [vocabulary.setdefault(shingle, len(vocabulary)) for shingle in counted]
        amounts += counted.values()
        offsets.append(len(places))
    return Terms(
        np.array(offsets, np.int64),
        np.array(places, np.int32),
        np.ones(len(places)) if weights == "set" else np.array(amounts, np.float64),
        list(vocabulary),
        np.array(words, np.uint32),
    )


def _shingles(text: str, spec: FeatureSpec) -> tuple[int, Iterable[str]]:
    """The number of words of a text, and its shingles."""
    found = list(find_words(text))
    if not found:
        return 0, ()
    if spec.unit == "word":
        units, between = [reference.lower(word) for word in found], " "
    else:
        units, between = list(map(chr, folded_code_points(text).tolist())), ""
    return len(found), map(between.join, reference.shingles(units, spec.size))
