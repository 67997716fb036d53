"""jieba's tables for the native segmenter, and its idf of words."""

from __future__ import annotations

from functools import cache

import numpy as np

from neardup.kernels.columns import text_column
from neardup.kernels.keywords import Segmenter
from neardup.kernels.reference.chinese import jieba_module, jieba_tables

_FIRST, _LAST = "\u4e00", "\u9fd5"  # the characters that jieba joins


@cache
def jieba_segmenter() -> Segmenter:
    """Cuts Chinese text as `jieba.lcut` does, without the characters that jieba never joins.

    jieba joins U+4E00 to U+9FD5, ASCII letters and digits, and `+#&._%-`. Nothing is written to
    jieba's cache or log, and words that a program adds to jieba's shared tokenizer have no effect.

    >>> jieba_segmenter().cut("我来到北京清华大学。")
    ['我', '来到', '北京', '清华大学']
    """
    tables = jieba_tables()
    emissions = {c: row for c, row in tables.emissions.items() if _FIRST <= c <= _LAST}
    return Segmenter(
        text_column(list(tables.words)),
        np.fromiter(tables.words.values(), np.float64, len(tables.words)),
        unknown_word=tables.unknown_word,
        characters=np.fromiter(map(ord, emissions), np.uint32, len(emissions)),
        emissions=np.array(list(emissions.values()), np.float64),
        starts=tables.starts,
        moves=tables.moves,
    )


@cache
def jieba_idf() -> tuple[dict[str, float], float, frozenset[str]]:
    """The idf of words by jieba, its idf for unknown words, and its stop words."""
    tfidf = jieba_module("jieba.analyse.tfidf")
    rarity, usual = tfidf.IDFLoader(tfidf.DEFAULT_IDF).get_idf()
    return rarity, usual, frozenset(tfidf.KeywordExtractor.STOP_WORDS)
