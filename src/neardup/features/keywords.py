"""Keywords: the words of a text that tell most about it, by how often they come and how rare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from operator import itemgetter

from neardup.errors import InputError
from neardup.features.chinese import HAN, chinese_words, jieba_module
from neardup.features.text import find_words
from neardup.kernels import reference

_A_RUN = "一"  # stands for a run of Han characters while the other words are found


def is_chinese(text: str) -> bool:
    """Whether at least half of the words of a text, as `nd1` defines them, are Han characters.

    Kana and everything else count against; a text without words is not Chinese.
    """
    han = sum(map(len, HAN.findall(text)))
    # There are no more words than characters, which mostly spares us counting them.
    return han > 0 and (2 * han >= len(text) or 2 * han >= len(find_words(text)))


def chinese_keywords(text: str, count: int) -> list[tuple[str, float]]:
    """Give the `count` top keywords of a Chinese text with their weights, the heaviest first.

    They are those of `jieba.analyse.extract_tags(text, topK=count, withWeight=True)`: words of two
    characters or more, weighted by jieba's own idf; of equal weights, the first in the text.
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
    """Give the words of a text that may become keywords, lower-cased, in order, with repetition.

    Runs of Han characters are cut by jieba. Words of one character are left out, but for those of
    scripts that are written without spaces, such as kana and Thai, where one is all there is.

    >>> keyword_words("A T-shirt from 北京大学, カ")
    ['shirt', 'from', '北京大学', 'カ']
    """
    # For ASCII, Python's own lower case is that of nd1.
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
    """Give the `count` terms of the greatest tf · idf / total with these weights, heaviest first.

    Of equal weights, the first by code points. A mapping must know every term.

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
    """The idf of words by jieba, what it takes for other words, and the words it leaves out."""
    tfidf = jieba_module("jieba.analyse.tfidf")
    rarity, usual = tfidf.IDFLoader(tfidf.DEFAULT_IDF).get_idf()
    return rarity, usual, frozenset(tfidf.KeywordExtractor.STOP_WORDS)
