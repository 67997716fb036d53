"""Generated text in three languages: the same bytes on every machine, and no one else's data.

Words are built from syllables (Chinese: from characters) drawn with the letter frequencies of the
language, and used with Zipf's frequencies, so that the lengths and the repetitions that a
tokeniser and a hash meet are those of real text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

MEGABYTE = 1_000_000
DOCUMENT_BYTES = 3900
DOCUMENTS_A_BLOCK = 256
VOCABULARY = 50_000
COMMON_HAN = 3500

# Which of the four things follows a word: nothing, a comma, a full stop, a paragraph's end.
ENDING_WEIGHTS = (0.83, 0.09, 0.07, 0.01)
FULL_STOP = 2

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Language:
    """How one language spells its words and strings them together."""

    name: str
    seed: int
    words: Callable[[np.random.RandomState], list[str]]
    space: str
    comma: str
    full_stop: str

    @property
    def endings(self) -> tuple[str, ...]:
        """What can follow a word, in the order of `ENDING_WEIGHTS`."""
        stop, space = self.full_stop, self.space
        return (space, self.comma + space, stop + space, stop + "\n\n")


def texts(language: Language, megabytes: float) -> pa.LargeStringArray:
    """Documents of about 3.9 KB, together `megabytes` of UTF-8; fewer are a prefix of more."""
    wanted, size, found = megabytes * MEGABYTE, 0, []
    for document in _documents(language):
        if size >= wanted:
            break
        found.append(document)
        size += len(document.encode())
    return pa.array(found, pa.large_string())


def _documents(language: Language) -> Iterator[str]:
    # NumPy freezes the stream of RandomState, and promises less for its newer generators.
    state = np.random.RandomState(language.seed)
    words = language.words(state)
    weights = _zipf(len(words))
    table = _written_forms(language, words)
    words_a_document = int(DOCUMENT_BYTES / _mean_bytes(words, weights, language.endings))
    while True:
        spread = state.random_sample(DOCUMENTS_A_BLOCK)
        ends = np.cumsum((words_a_document * (0.4 + 1.2 * spread)).astype(np.int64))
        endings = _pick(state, np.array(ENDING_WEIGHTS), int(ends[-1]))
        endings[ends - 1] = FULL_STOP
        capitals = np.r_[True, endings[:-1] >= FULL_STOP]
        forms = capitals * len(ENDING_WEIGHTS) + endings
        tokens = table[forms, _pick(state, weights, int(ends[-1]))].tolist()
        for first, last in zip(np.r_[0, ends[:-1]].tolist(), ends.tolist(), strict=True):
            yield "".join(tokens[first:last]).rstrip()


def _written_forms(language: Language, words: list[str]) -> npt.NDArray[np.object_]:
    """Every word, small and capital, with each of the four endings."""
    endings = language.endings
    capitals = [word[0].upper() + word[1:] for word in words]
    rows = [[word + end for word in spelled] for spelled in (words, capitals) for end in endings]
    return np.array(rows, dtype=object)


def _mean_bytes(
    words: list[str], weights: npt.NDArray[np.float64], endings: tuple[str, ...]
) -> float:
    """The bytes that a word takes on average, with what follows it."""
    word_bytes = np.average([len(word.encode()) for word in words], weights=weights)
    ending_bytes = np.average([len(end.encode()) for end in endings], weights=ENDING_WEIGHTS)
    return float(word_bytes + ending_bytes)


def _pick(state: np.random.RandomState, weights: npt.NDArray[np.float64], count: int) -> Ints:
    """Draw `count` indices with these weights."""
    steps = np.cumsum(weights)
    drawn = np.searchsorted(steps, state.random_sample(count) * steps[-1], side="right")
    return np.asarray(np.minimum(drawn, len(weights) - 1), dtype=np.int64)


def _zipf(count: int) -> npt.NDArray[np.float64]:
    """Frequencies by rank, after Mandelbrot; a division is exact on every machine, a power not."""
    return 1.0 / (np.arange(count, dtype=np.float64) + 2.7)


def _syllabic(vowels: str, consonants: str) -> Callable[[np.random.RandomState], list[str]]:
    """Words of syllables; the letters are given as `o110 e84`, with frequencies per thousand."""

    def words(state: np.random.RandomState) -> list[str]:
        # The rarer the word, the longer: a syllable more for about each eightfold rank.
        rank_bits = np.frexp(np.arange(1.0, VOCABULARY + 1))[1]
        counts = 1 + (state.random_sample(VOCABULARY) * (3 + rank_bits) / 3.2).astype(np.int64)
        total = int(counts.sum())
        opening = np.where(state.random_sample(total) < 0.8, _draw(state, consonants, total), "")
        closing = np.where(state.random_sample(total) < 0.35, _draw(state, consonants, total), "")
        middle = _draw(state, vowels, total)
        letters = zip(opening.tolist(), middle.tolist(), closing.tolist(), strict=True)
        syllables = map("".join, letters)
        return _distinct("".join(next(syllables) for _ in range(n)) for n in counts.tolist())

    return words


def _draw(state: np.random.RandomState, letters: str, count: int) -> npt.NDArray[np.str_]:
    weights = np.array([float(entry[1:]) for entry in letters.split()])
    return np.array([entry[0] for entry in letters.split()])[_pick(state, weights, count)]


def _han(state: np.random.RandomState) -> list[str]:
    """Words of one to four common Han characters, mostly two; the most frequent have one."""
    codes = 0x4E00 + np.argsort(state.random_sample(0x9FA6 - 0x4E00))[:COMMON_HAN]
    lengths = 1 + _pick(state, np.array([0.05, 0.72, 0.14, 0.09]), VOCABULARY)
    lengths[:80] = 1
    drawn = codes[_pick(state, _zipf(COMMON_HAN), int(lengths.sum()))].tolist()
    characters = map(chr, drawn)
    return _distinct("".join(next(characters) for _ in range(n)) for n in lengths.tolist())


def _distinct(words: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(words))


@cache
def language(name: str) -> Language:
    """English, Russian or Chinese."""
    return {known.name: known for known in _LANGUAGES}[name]


_LANGUAGES = (
    Language(
        "English",
        seed=1,
        words=_syllabic(
            vowels="e127 a82 o75 i70 u28 y20",
            consonants="t91 n67 s63 h61 r60 d43 l40 c28 m24 w24 f22 g20 p19 b15 v10 k8 j2 x2 q1 z1",
        ),
        space=" ",
        comma=",",
        full_stop=".",
    ),
    Language(
        "Russian",
        seed=2,
        words=_syllabic(
            vowels="о110 е84 а80 и74 у26 я20 ы19 ю6 э3",
            consonants="н67 т63 с55 р47 в45 л44 к35 м32 д30 п28 г17 з16 б16 ч14 й12 х10 ж9 ш7 ц5 "
            "щ4 ф3",
        ),
        space=" ",
        comma=",",
        full_stop=".",
    ),
    Language("Chinese", seed=3, words=_han, space="", comma="，", full_stop="。"),
)
