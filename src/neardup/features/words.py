"""The positions of words in texts of any size: the nd1 tokenizer over NumPy tables.

`neardup.kernels.reference.text` cuts the same words, one character at a time. This module also
keeps their positions, so that a report can show the original text.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from neardup import kernels
from neardup.errors import InputError
from neardup.features.spec import LARGEST_SIZE
from neardup.frozen import dataclass
from neardup.kernels.columns import text_column
from neardup.kernels.reference import text as reference

_LETTER, _MARK, _SOLO, _SPACE = 1, 2, 3, 4
_KIND_NUMBERS = {"letter": _LETTER, "mark": _MARK, "solo": _SOLO, "space": _SPACE}
_CODE_POINTS = 0x110000
# Texts are converted to arrays in pieces, because a code point takes four bytes there.
_PIECE = 1 << 20
_SHORTEST_PASSAGE = 64
_CUT_FACTOR, _CUT_FACTOR_2 = np.uint32(0x9E3779B1), np.uint32(0x85EBCA77)


@dataclass(frozen=True, eq=False)
class WordSpans:
    """A text and its words: word i is `text[starts[i]:ends[i]]`, not lower-cased."""

    text: str
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _PIECE):
            piece = slice(first, first + _PIECE)
            starts, ends = self.starts[piece].tolist(), self.ends[piece].tolist()
            for start, end in zip(starts, ends, strict=True):
                yield self.text[start:end]

    def separator(self, place: int) -> str:
        """The text before word `place`, or after the last word if `place == len(self)`."""
        start = int(self.ends[place - 1]) if place else 0
        return self.text[start : int(self.starts[place]) if place < len(self) else None]

    def stretch(self, first: int, last: int) -> str:
        """The text from word `first` up to but excluding word `last`; `first < last`."""
        return self.text[int(self.starts[first]) : int(self.ends[last - 1])]

    def parts(self, first: int, last: int) -> list[str]:
        """The words of a stretch and, at odd positions, the separators between them."""
        cuts = np.column_stack((self.starts[first:last], self.ends[first:last])).ravel().tolist()
        return [self.text[start:end] for start, end in pairwise(cuts)]


def find_words(text: str) -> WordSpans:
    """Find every word of a text, as `nd1` defines a word.

    >>> list(find_words("Ah, 東京!"))
    ['Ah', '東', '京']
    """
    kinds = np.empty(len(text), np.uint8)
    for first, codes in _code_point_pieces(text):
        kinds[first : first + len(codes)] = _kind_table()[codes]
    starts, ends = _runs((kinds == _LETTER) | (kinds == _MARK))
    led_by_mark = np.flatnonzero(kinds[starts] == _MARK)
    if led_by_mark.size:  # a mark continues a word but cannot start one: skip to the first letter
        letters = np.append(np.flatnonzero(kinds == _LETTER), len(text))
        starts[led_by_mark] = letters[np.searchsorted(letters, starts[led_by_mark])]
        whole = starts < ends
        starts, ends = starts[whole], ends[whole]
    solos = np.flatnonzero(kinds == _SOLO)
    if solos.size:
        starts, ends = np.concatenate((starts, solos)), np.concatenate((ends, solos + 1))
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], ends[order]
    return WordSpans(text, starts, ends)


def passage_cuts(text: str) -> list[int]:
    """The positions at which a text is cut into passages, from 0 to `len(text)`.

    Cuts depend on the characters before them, so equal stretches of text are cut alike wherever
    they occur. A passage has at least 64 characters and ends outside words: after a line break, or
    after one in 32 of the other characters.
    """
    found = []
    before = np.zeros(2, np.uint32)
    for first, codes in _code_point_pieces(text):
        kinds = _kind_table()[codes]
        one, two = (np.concatenate((before, codes))[2 - back : -back] for back in (1, 2))
        chosen = ((one * _CUT_FACTOR ^ two * _CUT_FACTOR_2) >> np.uint32(16)) % 32 == 0
        ends = ((codes == ord("\n")) | chosen) & (kinds != _LETTER) & (kinds != _MARK)
        found.append(np.flatnonzero(ends) + (first + 1))
        before = np.concatenate((before, codes))[-2:]
    cuts = [0]
    for places in found:
        at = int(np.searchsorted(places, cuts[-1] + _SHORTEST_PASSAGE))
        while at < len(places):
            cuts.append(int(places[at]))
            at += int(np.searchsorted(places[at:], cuts[-1] + _SHORTEST_PASSAGE))
    if cuts[-1] < len(text) or len(cuts) == 1:
        cuts.append(len(text))
    return cuts


def count_words(text: str) -> int:
    """Count the words of a text of any size, natively and without storing them."""
    texts = text_column([text])
    _, _, words = kernels.find_sets(texts, [("word", LARGEST_SIZE)])
    return int(words[0])


def number_words(*documents: WordSpans) -> list[NDArray[np.int32]]:
    """Number the distinct lower-cased words, equally in all documents."""
    numbers = _WordNumbers()
    return [
        np.fromiter(map(numbers.__getitem__, document), np.int32, len(document))
        for document in documents
    ]


def folded_code_points(text: str) -> NDArray[np.int32]:
    """Lower-case the text, collapse each run of white space to one space, and strip the ends."""
    codes = np.empty(len(text), np.int32)
    for first, piece in _code_point_pieces(text):
        codes[first : first + len(piece)] = _lower_table()[piece]
    space: NDArray[np.bool_] = _kind_table()[codes] == _SPACE
    inside = np.flatnonzero(~space)
    if not inside.size:
        return codes[:0]
    codes[space] = ord(" ")
    core = slice(int(inside[0]), int(inside[-1]) + 1)
    kept = ~space[core]
    kept[1:] |= ~space[core][:-1]  # of a run of spaces, the first
    return codes[core][kept]


class _WordNumbers(dict[str, int]):
    """Numbers of words by spelling; each distinct spelling is lower-cased once."""

    def __init__(self) -> None:
        super().__init__()
        self._lowered: dict[str, int] = {}

    def __missing__(self, word: str) -> int:
        number = self._lowered.setdefault(reference.lower(word), len(self._lowered))
        self[word] = number
        return number


def _runs(inside: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The starts and ends of the runs of true values."""
    edges = np.flatnonzero(np.diff(inside, prepend=False, append=False))
    return edges[0::2].copy(), edges[1::2].copy()


def _code_point_pieces(text: str) -> Iterator[tuple[int, NDArray[np.uint32]]]:
    for first in range(0, len(text), _PIECE):
        try:
            data = text[first : first + _PIECE].encode("utf-32-le")
        except UnicodeEncodeError as error:
            place = first + error.start
            raise InputError(
                f"the text holds the lone surrogate U+{ord(text[place]):04X} at character {place}, "
                "which is half a character; decode the text as UTF-8 with errors='replace'"
            ) from None
        yield first, np.frombuffer(data, "<u4")


@cache
def _lower_table() -> NDArray[np.int32]:
    table = np.arange(_CODE_POINTS, dtype=np.int32)
    for first, last, stride, delta in reference.lower_ranges():
        table[first : last + 1 : stride] += delta
    return table


@cache
def _kind_table() -> NDArray[np.uint8]:
    """The kind of the lower case of every code point."""
    table = np.zeros(_CODE_POINTS, np.uint8)
    for first, last, kind in reference.kind_ranges():
        table[first : last + 1] = _KIND_NUMBERS[kind]
    return table[_lower_table()]
