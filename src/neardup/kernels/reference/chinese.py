"""The twin of the segmenter: Chinese words, cut as by jieba 0.42.1 with its tables.

jieba copies the path at every step through a run of unknown characters: 8,000 rare characters in a
row take it 0.2 s, a million would take an hour. Here and in the native code time is linear, because
steps are stored instead of paths. Arithmetic and tie-breaking are jieba's, so the words are the
same; `jieba.lcut` is the oracle of the tests. Nothing is written to jieba's cache or log, and words
that a program adds to jieba's shared tokenizer have no effect.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module, resources
from types import ModuleType

from neardup.errors import SettingError

# The Han characters among the solo characters of nd1.
HAN = re.compile(
    "[\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufa6d\ufa70-\ufad9"
    "\U00016fe3\U00020000-\U0002a6df\U0002a700-\U0002b739\U0002b740-\U0002b81d"
    "\U0002b820-\U0002cea1\U0002ceb0-\U0002ebe0\U0002ebf0-\U0002ee5d\U0002f800-\U0002fa1d"
    "\U00030000-\U0003134a\U00031350-\U000323af]+"
)

# The runs that jieba analyses; to jieba every other character is a word by itself.
_BLOCK = re.compile(r"[\u4e00-\u9fd5a-zA-Z0-9+#&._%-]+")
_UNKNOWN = re.compile(r"([\u4e00-\u9fd5]+)|[a-zA-Z0-9]+(?:\.[0-9]+)?%?|[^\u4e00-\u9fd5a-zA-Z0-9]+")
_NOT_A_BEGINNING = 1.0  # logarithms of probabilities are negative
_ONLY_A_BEGINNING = 0.0
_NEVER = -3.14e100
# States of a character: beginning, middle or end of a word, or single-character word.
_B, _M, _E, _S = range(4)


@dataclass(frozen=True)
class _Model:
    """jieba's model, as natural logarithms of probabilities.

    `words` also contains the prefixes of words. `emissions` maps a character to its probabilities
    in the states B, M, E and S. `moves` holds the transitions from B to E and M, from M to E and M,
    from E to B and S, and from S to B and S.
    """

    words: dict[str, float]
    unknown_word: float
    emissions: dict[str, tuple[float, float, float, float]]
    starts: tuple[float, float, float, float]
    moves: tuple[float, float, float, float, float, float, float, float]


def jieba_module(name: str) -> ModuleType:
    """Import a module of jieba; if it is missing, the error says how to install it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about invalid escapes and pkg_resources
            return import_module(name)
    except ImportError:
        raise SettingError(
            "keywords of Chinese text are found with jieba, which is not installed; "
            "install it with pip install 'neardup[chinese]'"
        ) from None


def chinese_words(text: str) -> list[str]:
    """Cut a text into words as `jieba.lcut` does, without the characters that jieba never joins.

    jieba joins U+4E00 to U+9FD5, ASCII letters and digits, and `+#&._%-`.

    >>> chinese_words("我来到北京清华大学。")
    ['我', '来到', '北京', '清华大学']
    """
    words: list[str] = []
    for block in _BLOCK.findall(text):
        words += _cut(block, _model())
    return words


def _cut(block: str, model: _Model) -> Iterator[str]:
    """The likeliest words; runs of single characters are cut again by the Markov model."""
    ends = _likeliest_ends(block, model)
    start = singles = 0
    while start < len(block):
        end = ends[start]
        if end - start > 1:
            yield from _joined(block[singles:start], model)
            yield block[start:end]
            singles = end
        start = end
    yield from _joined(block[singles:], model)


def _likeliest_ends(block: str, model: _Model) -> list[int]:
    """For each place, the end of the word that starts there on the likeliest path to the end."""
    look_up, size = model.words.get, len(block)
    scores, ends = [0.0] * (size + 1), [0] * size
    for start in range(size - 1, -1, -1):
        best, best_end = -math.inf, 0
        for end in range(start + 1, size + 1):
            weight = look_up(block[start:end], _NOT_A_BEGINNING)
            if weight > 0:
                break
            if weight < 0:
                score = weight + scores[end]
                if score >= best:  # on ties, the longest word
                    best, best_end = score, end
        if not best_end:
            best, best_end = model.unknown_word + scores[start + 1], start + 1
        scores[start], ends[start] = best, best_end
    return ends


def _joined(singles: str, model: _Model) -> Iterator[str]:
    """Join single characters in a row to words that are not in the dictionary."""
    if len(singles) < 2 or model.words.get(singles, _NOT_A_BEGINNING) < 0:
        yield from singles
        return
    for part in _UNKNOWN.finditer(singles):
        if part[1]:
            yield from _guessed(part[1], model)
        else:
            yield part[0]


def _guessed(run: str, model: _Model) -> Iterator[str]:
    """Cut a run of Han characters by the likeliest path through the states B, M, E and S.

    On ties between previous states, jieba takes the last in the alphabet.
    """
    never = (_NEVER, _NEVER, _NEVER, _NEVER)
    emissions = [model.emissions.get(char, never) for char in run]
    b_e, b_m, m_e, m_m, e_b, e_s, s_b, s_s = model.moves
    b, m, e, s = (start + own for start, own in zip(model.starts, emissions[0], strict=True))
    came_from = []
    for to_b, to_m, to_e, to_s in emissions[1:]:
        # Added from left to right, as in jieba: another order could break ties differently.
        b_from_e, b_from_s = e + e_b + to_b, s + s_b + to_b
        m_from_b, m_from_m = b + b_m + to_m, m + m_m + to_m
        e_from_b, e_from_m = b + b_e + to_e, m + m_e + to_e
        s_from_e, s_from_s = e + e_s + to_s, s + s_s + to_s
        b, before_b = (b_from_e, _E) if b_from_e > b_from_s else (b_from_s, _S)
        m, before_m = (m_from_b, _B) if m_from_b > m_from_m else (m_from_m, _M)
        e, before_e = (e_from_b, _B) if e_from_b > e_from_m else (e_from_m, _M)
        s, before_s = (s_from_e, _E) if s_from_e > s_from_s else (s_from_s, _S)
        came_from.append((before_b, before_m, before_e, before_s))
    state = _E if e > s else _S
    ends = [len(run)]
    for place in range(len(run) - 1, 0, -1):
        state = came_from[place - 1][state]
        if state in (_E, _S):
            ends.append(place)
    begin = 0
    for end in reversed(ends):
        yield run[begin:end]
        begin = end


@dataclass(frozen=True)
class JiebaTables:
    """jieba's dictionary and Markov model, as natural logarithms of probabilities.

    `words` maps every string of the dictionary to its weight, or to 0 if its count is 0.
    `emissions`, `starts` and `moves` are those of `_Model`.
    """

    words: dict[str, float]
    unknown_word: float
    emissions: dict[str, tuple[float, float, float, float]]
    starts: tuple[float, float, float, float]
    moves: tuple[float, float, float, float, float, float, float, float]


def jieba_tables() -> JiebaTables:
    """Read the tables from jieba's files."""
    tables = [jieba_module(f"jieba.finalseg.prob_{name}").P for name in ("start", "trans", "emit")]
    starts, moves, emissions = tables
    counts: dict[str, int] = {}
    with resources.files("jieba").joinpath("dict.txt").open(encoding="utf-8") as lines:
        for line in lines:
            word, count = line.split(" ")[:2]
            counts[word] = int(count)
    log_total = math.log(sum(counts.values()))
    characters = set().union(*emissions.values())
    return JiebaTables(
        {word: math.log(count) - log_total if count else 0.0 for word, count in counts.items()},
        -log_total,
        {char: tuple(emissions[x].get(char, _NEVER) for x in "BMES") for char in characters},
        tuple(starts[state] for state in "BMES"),
        tuple(moves[x][y] for x, y in ("BE", "BM", "ME", "MM", "EB", "ES", "SB", "SS")),
    )


@cache
def _model() -> _Model:
    tables = jieba_tables()
    words = {word[:end]: _ONLY_A_BEGINNING for word in tables.words for end in range(1, len(word))}
    words |= {word: weight for word, weight in tables.words.items() if weight}
    return _Model(words, tables.unknown_word, tables.emissions, tables.starts, tables.moves)
