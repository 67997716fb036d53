"""The diff of long texts: by passages, then by words where passages differ, in bounded time.

Texts of tens of megabytes are cut into passages of a few hundred characters. The characters before
a cut determine it, so the same passage is cut the same way wherever it occurs. Passages are aligned
like words. Gaps between aligned passages are compared word by word until a budget is spent; the
rest is replaced as a whole, and the result says so. Time grows with the length.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from neardup.comparison.alignment import align
from neardup.comparison.diff import Edit, find_edits, joined
from neardup.features.words import find_words, number_words, passage_cuts

LONG = 4_000_000
"""Texts with more characters are long; shorter texts are compared word by word throughout."""

_PASSAGE_STEPS = 2_000_000
_WORD_STEPS = 4_000_000
_WORD_CHARACTERS = 4_000_000  # compared word by word, in total
_WORD_GAPS = 2_000  # compared word by word, in total
_SAME_PIECE = 1 << 16


def find_text_edits(a: str, b: str) -> tuple[tuple[Edit, ...], bool]:
    """The edits of two texts of any length, and whether the search was complete."""
    if max(len(a), len(b)) > LONG:
        return find_long_edits(a, b)
    words_a, words_b = find_words(a), find_words(b)
    numbers_a, numbers_b = number_words(words_a, words_b)
    alignment = align(numbers_a, numbers_b)
    return find_edits(words_a, words_b, alignment), alignment.complete


def find_long_edits(a: str, b: str) -> tuple[tuple[Edit, ...], bool]:
    """The edits, as from `find_edits`, and whether the search was complete."""
    head = _after_blank(a, _common_start(a, b))
    tail = _common_end(a, b, head)
    middle_a, middle_b = a[head : len(a) - tail], b[head : len(b) - tail]
    words = _Words()
    edits = [Edit("equal", a[:head], b[:head])]
    for gap_a, gap_b, aligned in _passages(middle_a, middle_b):
        if aligned and (gap_a == gap_b or gap_a.split() == gap_b.split()):
            edits.append(Edit("equal", gap_a, gap_b))
        else:
            edits.extend(words.edits(gap_a, gap_b))
    edits.append(Edit("equal", a[len(a) - tail :], b[len(b) - tail :]))
    return tuple(joined(iter(edits))), words.complete


class _Words:
    """Compares gaps word by word until the budget is spent."""

    def __init__(self) -> None:
        self.complete = True
        self._characters = _WORD_CHARACTERS
        self._gaps = _WORD_GAPS

    def edits(self, a: str, b: str) -> tuple[Edit, ...]:
        """The edits of one gap; once the budget is spent, the gap is replaced as a whole."""
        if not a or not b:
            return (Edit("delete" if a else "insert", a, b),)
        self._characters -= len(a) + len(b)
        self._gaps -= 1
        if self._characters < 0 or self._gaps < 0:
            self.complete = False
            return (Edit("replace", a, b),)
        words_a, words_b = find_words(a), find_words(b)
        numbers_a, numbers_b = number_words(words_a, words_b)
        alignment = align(numbers_a, numbers_b, _WORD_STEPS)
        self.complete = self.complete and alignment.complete
        return find_edits(words_a, words_b, alignment)


def _passages(a: str, b: str) -> Iterator[tuple[str, str, bool]]:
    """Stretches of both texts in order: aligned ones (most likely with equal words) and gaps."""
    cuts_a, cuts_b = passage_cuts(a), passage_cuts(b)
    numbers_a, numbers_b = _numbers(a, cuts_a, b, cuts_b)
    i = j = 0
    for block_i, block_j, n in (
        *align(numbers_a, numbers_b, _PASSAGE_STEPS).blocks,
        (len(numbers_a), len(numbers_b), 0),
    ):
        if i < block_i or j < block_j:
            yield a[cuts_a[i] : cuts_a[block_i]], b[cuts_b[j] : cuts_b[block_j]], False
        if n:
            i, j = block_i + n, block_j + n
            yield a[cuts_a[block_i] : cuts_a[i]], b[cuts_b[block_j] : cuts_b[j]], True


def _numbers(
    a: str, cuts_a: list[int], b: str, cuts_b: list[int]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Number passages: equal numbers for equal words, ignoring white space and case.

    Numbers come from hashes; the caller compares the texts before it reports them as equal.
    """
    hashes = np.fromiter(_hashes(a, cuts_a), np.int64, len(cuts_a) - 1)
    others = np.fromiter(_hashes(b, cuts_b), np.int64, len(cuts_b) - 1)
    _, numbers = np.unique(np.concatenate((hashes, others)), return_inverse=True)
    return numbers[: len(hashes)].astype(np.int32), numbers[len(hashes) :].astype(np.int32)


def _hashes(text: str, cuts: list[int]) -> Iterator[int]:
    for start, end in pairwise(cuts):
        yield hash(" ".join(text[start:end].lower().split()))


def _common_start(a: str, b: str) -> int:
    """The length of the common prefix."""
    length = 0
    piece = _SAME_PIECE
    while piece:
        if length < min(len(a), len(b)) and _same(a, b, length, piece):
            length += piece
        else:
            piece //= 2
    return length


def _same(a: str, b: str, start: int, size: int) -> bool:
    end = start + size
    return end <= min(len(a), len(b)) and a[start:end] == b[start:end]


def _after_blank(text: str, end: int) -> int:
    """The last place up to `end` that follows a blank, else 0, so that no word is cut."""
    if end == len(text):
        end -= 1
    return max(text.rfind(" ", 0, max(end, 0)), text.rfind("\n", 0, max(end, 0))) + 1


def _common_end(a: str, b: str, head: int) -> int:
    """The length of the common suffix after `head`, from its first blank on."""
    length = 0
    piece = _SAME_PIECE
    room = min(len(a), len(b)) - head
    while piece:
        end_a, end_b = len(a) - length, len(b) - length
        if length + piece <= room and a[end_a - piece : end_a] == b[end_b - piece : end_b]:
            length += piece
        else:
            piece //= 2
    start = len(a) - length
    blanks = [place for place in (a.find(" ", start), a.find("\n", start)) if place >= 0]
    return len(a) - min(blanks) if blanks else 0
