"""The twin of the keyword kernels: words that may become keywords, and the best of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from operator import itemgetter

from neardup.kernels.reference import text as reference
from neardup.kernels.reference.chinese import HAN, chinese_words

_A_RUN = "一"  # placeholder for a run of Han characters while the other words are cut


def is_chinese(text: str) -> bool:
    """Whether at least half of the words of a text, as `nd1` defines them, are Han characters."""
    han = sum(map(len, HAN.findall(text)))
    return han > 0 and 2 * han >= len(reference.words(text))


def keyword_words(text: str) -> list[str]:
    """The words of a text that may become keywords: lower-cased, in order, with repetitions.

    >>> keyword_words("A T-shirt from 北京大学, カ")
    ['shirt', 'from', '北京大学', 'カ']
    """
    lowered = reference.lower(text)
    runs = iter(HAN.findall(lowered))
    words: list[str] = []
    for word in reference.words(HAN.sub(_A_RUN, lowered)):
        if word == _A_RUN:
            words += [part for part in chinese_words(next(runs)) if len(part) > 1]
        elif len(word) > 1 or word in _solo_characters():
            words.append(word)
    return words


def chinese_keywords(
    text: str, count: int, rarity: Mapping[str, float], usual: float, stop_words: frozenset[str]
) -> list[tuple[str, float]]:
    """The top `count` keywords of a Chinese text with their weights, the heaviest first.

    On ties, the first in the text. `usual` is the idf of words that `rarity` does not have.
    """
    counts = Counter(
        word for word in chinese_words(text) if len(word) > 1 and word.lower() not in stop_words
    )
    total = counts.total()
    weights = [(word, tf * (rarity.get(word, usual) / total)) for word, tf in counts.items()]
    weights.sort(key=itemgetter(1), reverse=True)
    return weights[:count]


def top_terms(
    counts: Mapping[str, int], idf: Mapping[str, float], count: int
) -> list[tuple[str, float]]:
    """The `count` terms with the greatest weight tf · idf / total, heaviest first.

    On ties, the first by code points.

    >>> top_terms({"cat": 2, "sat": 1, "the": 1}, {"cat": 3.0, "sat": 3.0, "the": 0.5}, 2)
    [('cat', 1.5), ('sat', 0.75)]
    """
    total = sum(counts.values())
    weights = [(term, tf * (idf[term] / total)) for term, tf in counts.items()]
    weights.sort(key=lambda weighted: (-weighted[1], weighted[0]))
    return weights[:count]


@cache
def _solo_characters() -> frozenset[str]:
    return frozenset(chr(code) for code, kind in reference.kinds().items() if kind == "solo")
