"""A word diff in two columns: a document beside the kept one, as the page shows them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import field

from neardup.comparison.alignment import align
from neardup.comparison.diff import Edit, find_edits
from neardup.comparison.diff_text import DiffCounts, number, squeezed
from neardup.features.words import WordSpans, find_words, number_words
from neardup.frozen import dataclass

# Only this much of a document is compared, about 40 pages; one word may be as long as a file.
_READ_WORDS, _READ_CHARACTERS = 20_000, 200_000
# The search in two documents of 20,000 words without a common sentence stops after 0.2 s.
_STEPS = 400_000
_OPENING = 24  # words shown of the beginning, to recognize the document
_CONTEXT = 10  # equal words shown next to a change
_WORTH_FOLDING = 8  # fewer words are shown in full: the note would not be shorter
_MOST_PLACES = 40
_LONGEST_CHANGE = 80  # words
_LONGEST_PIECE = 1_500  # characters


@dataclass(frozen=True)
class Piece:
    """Text of one column; `mark` is `same`, `variant`, or `changed` (not in the other column)."""

    mark: str
    text: str


@dataclass(frozen=True)
class Row:
    """Texts side by side, or a `note` on what was left out between rows."""

    left: tuple[Piece, ...] = ()
    right: tuple[Piece, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class SideBySide:
    """A diff as rows; the directions of the columns are `ltr` or `rtl`."""

    rows: tuple[Row, ...]
    counts: DiffCounts
    left_direction: str
    right_direction: str
    complete: bool
    """False if the search was stopped early; common words may be shown as changed."""


def side_by_side(left: str, right: str) -> SideBySide:
    """Compare two texts by words; long equal parts, long changes and long texts are shortened.

    >>> [(piece.mark, piece.text) for piece in side_by_side("red fox", "old fox").rows[0].right]
    [('changed', 'old'), ('same', ' fox')]
    """
    words_left, words_right = _beginning(left), _beginning(right)
    numbers_left, numbers_right = number_words(words_left, words_right)
    alignment = align(numbers_left, numbers_right, _STEPS)
    edits = find_edits(words_left, words_right, alignment)
    unread = len(words_left.text) < len(left), len(words_right.text) < len(right)
    if any(unread):
        edits = _up_to_last_agreement(edits)
    rows = _Rows()
    rows.add_all(edits)
    if any(unread):
        rows.note("… long documents: the rest was not compared …")
    return SideBySide(
        rows=rows.finished(),
        counts=DiffCounts.of(edits),
        left_direction=direction(words_left.text),
        right_direction=direction(words_right.text),
        complete=alignment.complete,
    )


def direction(text: str) -> str:
    """The direction of most letters; the first letter alone is often part of a name.

    >>> direction("iPhone هاتف ذكي")
    'rtl'
    """
    if text.isascii():
        return "ltr"
    classes = [unicodedata.bidirectional(char) for char in text[:2_000]]
    right_to_left = sum(kind in ("R", "AL") for kind in classes)
    return "rtl" if right_to_left > classes.count("L") else "ltr"


def _beginning(text: str) -> WordSpans:
    words = find_words(text[:_READ_CHARACTERS])
    if len(words) <= _READ_WORDS:
        return words
    return find_words(text[: int(words.ends[_READ_WORDS - 1])])


def _up_to_last_agreement(edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Drop the changes at the end: the part cut off one text may be in the other."""
    agreed = [place for place, edit in enumerate(edits) if edit.op == "equal" and edit.a.strip()]
    return edits[: agreed[-1] + 1] if agreed else edits


@dataclass
class _Rows:
    """Builds rows: collects pieces on both sides until something is left out."""

    _rows: list[Row] = field(default_factory=list)
    _left: list[Piece] = field(default_factory=list)
    _right: list[Piece] = field(default_factory=list)

    def add_all(self, edits: Sequence[Edit]) -> None:
        places = 0
        for place, edit in enumerate(edits):
            if edit.op == "equal":
                before = _CONTEXT if place else _OPENING
                after = _CONTEXT if place < len(edits) - 1 else 0
                self._equal(edit, before, after)
                continue
            if places == _MOST_PLACES:
                rest = sum(edit.op != "equal" for edit in edits[place:])
                self.note(f"… {number(rest, 'more place')} that differ …")
                return
            places += 1
            self._change(edit)

    def note(self, text: str) -> None:
        self._close()
        self._rows.append(Row(note=text))

    def finished(self) -> tuple[Row, ...]:
        self._close()
        return tuple(self._rows)

    def _equal(self, edit: Edit, before: int, after: int) -> None:
        folded = before + after + _WORTH_FOLDING
        if len(edit.a) < folded:  # a word has a character or more
            self._add(Piece("same", edit.a), Piece("same", edit.b))
            return
        words_left, words_right = find_words(edit.a), find_words(edit.b)
        hidden = len(words_left) - before - after
        if hidden < _WORTH_FOLDING:
            self._add(Piece("same", edit.a), Piece("same", edit.b))
            return
        self._add(*(Piece("same", _head(words, before)) for words in (words_left, words_right)))
        self.note(f"… {number(hidden, 'word')} alike …")
        if after:
            self._add(*(Piece("same", _tail(words, after)) for words in (words_left, words_right)))

    def _change(self, edit: Edit) -> None:
        mark = "variant" if edit.op == "variant" else "changed"
        for pieces, side in ((self._left, edit.a), (self._right, edit.b)):
            # White space at the ends of a change is not part of the change.
            core = side.strip()
            start = side.index(core)
            pieces.append(Piece("same", squeezed(side[:start])))
            pieces.append(Piece(mark, _shortened(core)))
            pieces.append(Piece("same", squeezed(side[start + len(core) :])))

    def _add(self, left: Piece, right: Piece) -> None:
        self._left.append(Piece(left.mark, _without_middle(left.text)))
        self._right.append(Piece(right.mark, _without_middle(right.text)))

    def _close(self) -> None:
        left, right = _tidy(self._left), _tidy(self._right)
        if left or right:
            self._rows.append(Row(left, right))
        self._left.clear()
        self._right.clear()


def _tidy(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Join neighbours with the same mark, and strip white space at the ends of a row."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and joined[-1].mark == piece.mark:
            piece = Piece(piece.mark, joined.pop().text + piece.text)
        if piece.text:
            joined.append(piece)
    if joined:
        joined[0] = Piece(joined[0].mark, joined[0].text.lstrip())
        joined[-1] = Piece(joined[-1].mark, joined[-1].text.rstrip())
    return tuple(piece for piece in joined if piece.text)


def _head(words: WordSpans, count: int) -> str:
    return words.text[: int(words.ends[count - 1])]


def _tail(words: WordSpans, count: int) -> str:
    return words.text[int(words.starts[len(words) - count]) :]


def _shortened(change: str) -> str:
    if len(change) < _LONGEST_CHANGE:  # a word has a character or more
        return squeezed(change)
    words = find_words(change)
    hidden = len(words) - _LONGEST_CHANGE
    if hidden < _WORTH_FOLDING:
        return _without_middle(change)
    half = _LONGEST_CHANGE // 2
    head, tail = _without_middle(_head(words, half)), _without_middle(_tail(words, half))
    return f"{head} … {number(hidden, 'more word')} … {tail}"


def _without_middle(text: str) -> str:
    hidden = len(text) - _LONGEST_PIECE
    if hidden <= 0:
        return squeezed(text)
    half = _LONGEST_PIECE // 2
    return f"{squeezed(text[:half])} … {number(hidden, 'character')} … {squeezed(text[-half:])}"
