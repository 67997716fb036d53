"""Keywords: the words of a text with the greatest tf-idf.

Chinese texts are those of which at least half of the words, as `nd1` defines them, are Han
characters; kana count as other words. Their keywords are those of
`jieba.analyse.extract_tags(text, topK=count, withWeight=True)`: words of two or more characters,
weighted by jieba's own idf; on ties, the first in the text. Keywords of other texts are weighted by
the idf of a collection; on ties, the first by code points.
"""

from __future__ import annotations

from itertools import repeat

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup import kernels
from neardup.features.chinese import jieba_idf, jieba_segmenter
from neardup.features.idf import IdfTable
from neardup.features.spec import LARGEST_SIZE
from neardup.features.terms import Terms
from neardup.kernels import HashKey
from neardup.kernels.keywords import best_terms, count_han, find_candidates
from neardup.kernels.terms import (
    ONE_UNIT,
    Source,
    TermCounts,
    Vocabulary,
    find_terms,
    hash_terms,
)


def candidate_words(texts: pa.Array, key: HashKey | None = None) -> Terms:
    """The words of texts that may become keywords by the idf of a collection.

    Chinese texts have none: their keywords are chosen by jieba's own idf.
    """
    words = _word_counts(texts)
    chinese = count_han(texts)[0] * 2 >= np.maximum(words, 1)
    others = pc.if_else(pa.array(chinese), "", texts) if chinese.any() else texts
    found = _candidates(others, np.zeros_like(chinese))
    return _terms(found.offsets, found.places, found.counts, found.vocabulary, words, key)


def keyword_terms(texts: pa.Array, count: int, idf: IdfTable, key: HashKey | None = None) -> Terms:
    """The best `count` keywords of each text, weighted by tf-idf.

    A text with words but without keywords is represented by all of its words.
    """
    words = _word_counts(texts)
    chinese = count_han(texts)[0] * 2 >= np.maximum(words, 1)
    found = _candidates(texts, chinese)
    documents = np.repeat(np.arange(len(words)), np.diff(found.offsets))
    places, counts = found.places, found.counts
    rarity = idf.idf(hash_terms(found.vocabulary, ONE_UNIT, key=key)[:, 0], "tfidf")[places]
    if chinese.any():
        by_jieba = np.flatnonzero(chinese[documents])
        of_jieba, stops = _jieba_weights(found.vocabulary, places[by_jieba])
        rarity[by_jieba] = of_jieba
        kept = np.ones(len(places), np.bool_)
        kept[by_jieba[stops]] = False
        documents, places = documents[kept], places[kept]
        counts, rarity = counts[kept], rarity[kept]
    offsets = np.searchsorted(documents, np.arange(len(words) + 1)).astype(np.int64)
    totals = np.bincount(documents, counts, len(words))
    weights = counts * (rarity / totals[documents])
    offsets, best = best_terms(found.vocabulary, offsets, places, weights, chinese, count)
    places, weights, vocabulary = places[best], weights[best], found.vocabulary
    without = np.flatnonzero((np.diff(offsets) == 0) & (words > 0))
    if without.size:
        all_words = _all_words(texts.take(pa.array(without)), words[without])
        sizes = np.diff(offsets)
        sizes[without] = np.diff(all_words.offsets)
        at = np.repeat(offsets[without], sizes[without])
        places = np.insert(places, at, all_words.places + np.int32(len(vocabulary)))
        weights = np.insert(weights, at, all_words.counts)
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        vocabulary = vocabulary.joined(all_words.vocabulary)
    return _terms(offsets, places, weights, vocabulary, words, key)


def _candidates(texts: pa.Array, chinese: NDArray[np.bool_]) -> TermCounts:
    needed = bool(chinese.any()) or count_han(texts)[1]
    return find_candidates(texts, chinese, jieba_segmenter() if needed else None)


def _jieba_weights(
    vocabulary: Vocabulary, places: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Jieba's idf of the terms at these places, and whether each is a stop word."""
    rarity, usual, stop_words = jieba_idf()
    used, back = np.unique(places, return_inverse=True)
    terms = vocabulary.take(used)
    weights = np.fromiter(map(rarity.get, terms, repeat(usual)), np.float64, len(terms))
    stops = np.zeros(len(terms), np.bool_)
    for place in np.flatnonzero(terms.data[terms.begins] < 128).tolist():  # stop words are ASCII
        stops[place] = terms[place].lower() in stop_words
    return weights[back], stops[back]


def _all_words(texts: pa.Array, words: NDArray[np.uint32]) -> TermCounts:
    return find_terms([Source(texts, words, "word", 1)], [b""], len(texts))


def _word_counts(texts: pa.Array) -> NDArray[np.uint32]:
    return kernels.find_sets(texts, [("word", LARGEST_SIZE)])[2]


def _terms(
    offsets: NDArray[np.int64],
    places: NDArray[np.int32],
    weights: NDArray[np.float64],
    vocabulary: Vocabulary,
    words: NDArray[np.uint32],
    key: HashKey | None,
) -> Terms:
    def keys() -> NDArray[np.uint64]:
        return hash_terms(vocabulary, ONE_UNIT, key=key)[:, 0]

    return Terms(offsets, places, weights, vocabulary, words, keys)
