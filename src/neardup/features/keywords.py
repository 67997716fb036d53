"""Keywords: the words of a text with the greatest tf-idf."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import itemgetter

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup import kernels
from neardup.errors import InputError
from neardup.features.chinese import HAN, chinese_words, jieba_module
from neardup.features.idf import IdfTable
from neardup.features.terms import Terms
from neardup.features.words import find_words
from neardup.hashes.family import vocabulary_of
from neardup.hashes.nd1 import feature_rows
from neardup.kernels import HashKey
from neardup.kernels.reference import text as reference

_A_RUN = "一"  # placeholder for a run of Han characters while the other words are cut


def is_chinese(text: str) -> bool:
    """Whether at least half of the words of a text, as `nd1` defines them, are Han characters.

    Kana count as other words. A text without words is not Chinese.
    """
    han = sum(map(len, HAN.findall(text)))
    # A text has at most as many words as characters, so counting words is rarely needed.
    return han > 0 and (2 * han >= len(text) or 2 * han >= len(find_words(text)))


def chinese_keywords(text: str, count: int) -> list[tuple[str, float]]:
    """The top `count` keywords of a Chinese text with their weights, the heaviest first.

    Same as `jieba.analyse.extract_tags(text, topK=count, withWeight=True)`: words of two or more
    characters, weighted by jieba's own idf; on ties, the first in the text.
    """
    rarity, usual, stop_words = _jieba_idf()
    counts = Counter(
        word for word in chinese_words(text) if len(word) > 1 and word.lower() not in stop_words
    )
    total = counts.total()
    weights = [(word, tf * (rarity.get(word, usual) / total)) for word, tf in counts.items()]
    weights.sort(key=itemgetter(1), reverse=True)
    return weights[:count]


def keyword_words(text: str) -> list[str]:
    """The words of a text that may become keywords: lower-cased, in order, with repetitions.

    Runs of Han characters are cut by jieba. Words of one character are left out, except in scripts
    written without spaces, such as kana and Thai, where every word has one character.

    >>> keyword_words("A T-shirt from 北京大学, カ")
    ['shirt', 'from', '北京大学', 'カ']
    """
    # For ASCII, str.lower gives the same as nd1.
    lowered = text.lower() if text.isascii() else reference.lower(text)
    runs = iter(HAN.findall(lowered))
    words: list[str] = []
    for word in find_words(HAN.sub(_A_RUN, lowered)):
        if word == _A_RUN:
            words += [part for part in chinese_words(next(runs)) if len(part) > 1]
        elif len(word) > 1 or word in _solo_characters():
            words.append(word)
    return words


def top_terms(
    counts: Mapping[str, int], idf: Callable[[str], float] | Mapping[str, float], count: int
) -> list[tuple[str, float]]:
    """The `count` terms with the greatest weight tf · idf / total, heaviest first.

    On ties, the first by code points. A mapping must contain every term.

    >>> top_terms({"cat": 2, "sat": 1, "the": 1}, {"cat": 3.0, "sat": 3.0, "the": 0.5}, 2)
    [('cat', 1.5), ('sat', 0.75)]
    """
    rarity = _looked_up(idf) if isinstance(idf, Mapping) else idf
    total = sum(counts.values())
    weights = [(term, tf * (rarity(term) / total)) for term, tf in counts.items()]
    weights.sort(key=lambda weighted: (-weighted[1], weighted[0]))
    return weights[:count]


def _looked_up(table: Mapping[str, float]) -> Callable[[str], float]:
    def look_up(term: str) -> float:
        try:
            return table[term]
        except KeyError:
            raise InputError(
                f"the idf table has no value for the term {term!r}; make the table from a "
                "collection that has the term, or leave the term out"
            ) from None

    return look_up


@cache
def _solo_characters() -> frozenset[str]:
    return frozenset(chr(code) for code, kind in reference.kinds().items() if kind == "solo")


@cache
def _jieba_idf() -> tuple[dict[str, float], float, frozenset[str]]:
    """The idf of words by jieba, its idf for unknown words, and its stop words."""
    tfidf = jieba_module("jieba.analyse.tfidf")
    rarity, usual = tfidf.IDFLoader(tfidf.DEFAULT_IDF).get_idf()
    return rarity, usual, frozenset(tfidf.KeywordExtractor.STOP_WORDS)


def candidate_words(texts: pa.Array, key: HashKey | None = None) -> Terms:
    """The words of texts that may become keywords by the idf of a collection.

    Chinese texts have none: their keywords are chosen by jieba's own idf.
    """
    return _terms(texts, [words or {} for words in map(_candidates, texts.to_pylist())], key)


def keyword_terms(texts: pa.Array, count: int, idf: IdfTable, key: HashKey | None = None) -> Terms:
    """The best `count` keywords of each text, weighted by tf-idf.

    A text with words but without keywords is represented by all of its words.
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
        vocabulary_of(vocabulary),
        kernels.find_features(texts, [("word", 1)])[3],
        lambda: _keys(vocabulary, key),
    )
