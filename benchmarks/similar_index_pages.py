"""Generated pages of about 300 words, in blocks: the same on every machine, in any order.

Words are those of the generated English text, used with Zipf's frequencies. Stock phrases stand
between them, so that some runs of three words are in every third page and most are in one only, as
in real text. An edited page is a page with a few words exchanged; its Jaccard index on runs of
three words is known exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks import generated

SEED = 16
BLOCK = 10_000
LEAST_WORDS, MOST_WORDS = 240, 360
SHINGLE = 3
PHRASES, PHRASE_WORDS, WORDS_A_PHRASE = 3_000, 4, 50
TEMPLATE_EVERY = 5
# 223 runs of three words in common, 75 of their own: a Jaccard index of 0.6.
HEAD, BODY, FOOT = 115, 73, 112
DRAWS = 1 << 20
ENDINGS = (" ", ", ", ". ")
ENDING_DRAWS = np.repeat(np.arange(3), (208, 26, 22))

STORED, NEW = 0, 1
ORDINARY, TEMPLATES = "ordinary", "template"

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Edited:
    """A page with words exchanged: the row it was made from, and the similarity of the two."""

    row: int
    text: str
    jaccard: float


@dataclass(frozen=True)
class Block:
    """Pages one after the other: page i has the words from `starts[i]` to `starts[i + 1]`."""

    first: int
    words: Ints
    endings: Ints
    starts: Ints

    def __len__(self) -> int:
        return len(self.starts) - 1

    def head(self, count: int) -> Block:
        """The first pages."""
        end = self.starts[count]
        return Block(self.first, self.words[:end], self.endings[:end], self.starts[: count + 1])

    def part(self, start: int, stop: int) -> Block:
        """The pages from `start` to `stop`."""
        first, last = self.starts[start], self.starts[stop]
        return Block(
            self.first + start,
            self.words[first:last],
            self.endings[first:last],
            self.starts[start : stop + 1] - first,
        )

    def texts(self) -> pa.LargeStringArray:
        """The pages as text."""
        capital = np.r_[True, self.endings[:-1] == 2]
        capital[self.starts[:-1]] = True
        forms = _forms()
        size = len(forms) // (2 * len(ENDINGS))
        taken = forms.take(pa.array((capital * len(ENDINGS) + self.endings) * size + self.words))
        # The words already lie one after the other in memory: only the borders are other ones.
        offsets = np.frombuffer(taken.buffers()[1], np.int64)[: len(taken) + 1]
        borders = pa.py_buffer(np.ascontiguousarray(offsets[self.starts]))
        return pa.LargeStringArray.from_buffers(len(self), borders, taken.buffers()[2])

    def edited(
        self, rows: Sequence[int], shares: tuple[float, float], state: np.random.RandomState
    ) -> list[Edited]:
        """Pages of this block with a share of their words exchanged, from `shares[0]` on."""
        made, similar, endings = [], [], []
        for row in rows:
            start, end = self.starts[row], self.starts[row + 1]
            words = self.words[start:end].copy()
            share = shares[0] + (shares[1] - shares[0]) * state.random_sample()
            places = state.permutation(len(words))[: max(1, round(share * len(words)))]
            other = _frequent()[state.randint(0, DRAWS, len(places))]
            same = other == words[places]
            other[same] = (other[same] + 1) % len(_vocabulary())
            words[places] = other
            made.append(words)
            endings.append(self.endings[start:end])
            similar.append(jaccard(self.words[start:end], words))
        starts = np.r_[0, np.cumsum([len(words) for words in made])].astype(np.int64)
        texts = Block(0, np.concatenate(made), np.concatenate(endings), starts).texts().to_pylist()
        numbers = (self.first + row for row in rows)
        return [Edited(*each) for each in zip(numbers, texts, similar, strict=True)]


def jaccard(a: Ints, b: Ints) -> float:
    """The Jaccard index of the runs of three words."""
    one, other = (
        set(zip(*(words[i:].tolist() for i in range(SHINGLE)), strict=False)) for words in (a, b)
    )
    return len(one & other) / len(one | other)


def block(number: int, stream: int = STORED, collection: str = ORDINARY) -> Block:
    """The pages from `number * BLOCK` on; a stream has no page of another."""
    state = np.random.RandomState([SEED, stream, number])
    lengths = state.randint(LEAST_WORDS, MOST_WORDS + 1, BLOCK)
    family = np.arange(0, BLOCK, TEMPLATE_EVERY) if collection == TEMPLATES else None
    if family is not None:
        lengths[family] = HEAD + BODY + FOOT
    starts = np.r_[0, np.cumsum(lengths)].astype(np.int64)
    words = _frequent()[state.randint(0, DRAWS, starts[-1])]
    phrases = _phrases()
    places = state.randint(0, len(words) - PHRASE_WORDS, len(words) // WORDS_A_PHRASE)
    chosen = phrases[state.randint(0, DRAWS, len(places))]
    for place in range(PHRASE_WORDS):
        words[places + place] = chosen[:, place]
    endings = ENDING_DRAWS[state.randint(0, len(ENDING_DRAWS), len(words))]
    endings[starts[1:] - 1] = 2
    if family is not None:
        head, foot = _template()
        begin = starts[family][:, None]
        words[begin + np.arange(HEAD)] = head
        words[begin + np.arange(HEAD + BODY, HEAD + BODY + FOOT)] = foot
    return Block(number * BLOCK, words, endings, starts)


def family_rows(count: int) -> range:
    """The rows of a block of which the pages are of the template."""
    return range(0, count, TEMPLATE_EVERY)


@cache
def _vocabulary() -> list[str]:
    return generated.language("English").words(np.random.RandomState(SEED))


@cache
def _forms() -> pa.LargeStringArray:
    """Every word, small and capital, with what follows it."""
    words = _vocabulary()
    capitals = [word.capitalize() for word in words]
    spelled = (word + end for some in (words, capitals) for end in ENDINGS for word in some)
    return pa.array(spelled, pa.large_string())


@cache
def _frequent() -> Ints:
    """Words by their number, each as often as it is used."""
    return _by_rank(len(_vocabulary()))


def _by_rank(count: int) -> Ints:
    steps = np.cumsum(1.0 / (np.arange(count) + 2.7))
    places = (np.arange(DRAWS) + 0.5) / DRAWS * steps[-1]
    return np.asarray(np.searchsorted(steps, places), np.int64)


@cache
def _phrases() -> Ints:
    """Phrases, each as often as it is used."""
    state = np.random.RandomState([SEED, PHRASES])
    phrases = _frequent()[state.randint(0, DRAWS, (PHRASES, PHRASE_WORDS))]
    return np.asarray(phrases[_by_rank(PHRASES)])


@cache
def _template() -> tuple[Ints, Ints]:
    """What every page of the template begins and ends with."""
    state = np.random.RandomState([SEED, HEAD, FOOT])
    words = _frequent()[state.randint(0, DRAWS, HEAD + FOOT)]
    return words[:HEAD], words[HEAD:]
