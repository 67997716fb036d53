"""Keywords as terms: the best of each document, with their weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup import kernels
from neardup.features.idf import IdfTable
from neardup.features.keywords import chinese_keywords, is_chinese, keyword_words, top_terms
from neardup.features.terms import Terms
from neardup.features.text import find_words
from neardup.hashes.nd1_arrays import feature_rows
from neardup.kernels import HashKey, reference


def candidate_words(texts: pa.Array, key: HashKey | None = None) -> Terms:
    """The words of texts among which keywords are chosen by the idf of a collection.

    Chinese texts have none: jieba's own idf chooses theirs.
    """
    return _terms(texts, [words or {} for words in map(_candidates, texts.to_pylist())], key)


def keyword_terms(texts: pa.Array, count: int, idf: IdfTable, key: HashKey | None = None) -> Terms:
    """The best `count` keywords of each text, weighted by tf-idf.

    A text that has words, but none fit for a keyword, is taken by all of its words.
    """
    every = texts.to_pylist()
    candidates = list(map(_candidates, every))
    vocabulary = list(dict.fromkeys(word for words in candidates for word in words or ()))
    idf_of = dict(zip(vocabulary, idf.idf(_keys(vocabulary, key), "tfidf").tolist(), strict=True))
    chosen: list[Mapping[str, float]] = []
    for text, words in zip(every, candidates, strict=True):
        best = chinese_keywords(text, count) if words is None else top_terms(words, idf_of, count)
        chosen.append(dict(best) or _all_words(text))
    return _terms(texts, chosen, key)


def _candidates(text: str) -> Mapping[str, int] | None:
    return None if is_chinese(text) else Counter(keyword_words(text))


def _all_words(text: str) -> Mapping[str, float]:
    return Counter(map(reference.lower, find_words(text)))


def _keys(vocabulary: list[str], key: HashKey | None) -> NDArray[np.uint64]:
    return feature_rows(vocabulary, 64, key)[:, 0]


def _terms(texts: pa.Array, documents: Sequence[Mapping[str, float]], key: HashKey | None) -> Terms:
    places_of: dict[str, int] = {}
    places = [places_of.setdefault(word, len(places_of)) for words in documents for word in words]
    vocabulary = list(places_of)
    return Terms(
        np.cumsum([0, *map(len, documents)]).astype(np.int64),
        np.array(places, np.int32),
        np.array([weight for words in documents for weight in words.values()], np.float64),
        vocabulary,
        kernels.find_features(texts, [("word", 1)])[3],
        lambda: _keys(vocabulary, key),
    )
