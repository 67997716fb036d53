"""A word diff in two columns or in one: a document and the kept one, as the pages show them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import field

import numpy as np

from neardup.comparison.alignment import align
from neardup.comparison.diff import Edit, find_edits
from neardup.comparison.diff_text import DiffCounts, number, squeezed
from neardup.features.words import WordSpans, find_words, number_words
from neardup.frozen import dataclass
from neardup.visible import visible_lines

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
_REST_OF_LINE = 20  # words shown to complete a line
_BLANK_LINES = re.compile(r"(?:[ \t]*\n)+")


@dataclass(frozen=True)
class Piece:
    """Text of a column; `mark` is `same`, `variant`, or `changed` (not in the other column).

    In a single column, the marks are `same`, and `left`, `right`, `variant-left` and
    `variant-right` for what one document alone has.
    """

    mark: str
    text: str


@dataclass(frozen=True)
class Row:
    """Texts side by side and in a single column, or a `note` on what was left out between rows.

    A row that `continues` follows the one above without a gap: lines of both texts begin there.
    """

    left: tuple[Piece, ...] = ()
    right: tuple[Piece, ...] = ()
    inline: tuple[Piece, ...] = ()
    note: str = ""
    continues: bool = False


@dataclass(frozen=True)
class SideBySide:
    """A diff as rows; the directions of the columns are `ltr` or `rtl`."""

    rows: tuple[Row, ...]
    counts: DiffCounts
    left_direction: str
    right_direction: str
    complete: bool
    """False if the search was stopped early; common words may be shown as changed."""


def side_by_side(left: str, right: str, *, keep_lines: bool = False) -> SideBySide:
    """Compare two texts by words; long equal parts, long changes and long texts are shortened.

    White space is folded, unless `keep_lines` is given: then line breaks and indentation are kept,
    as code needs them, and rows begin where both texts begin a line.

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
    rows = _LineRows() if keep_lines else _Rows()
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


def value_pieces(left: str, right: str) -> tuple[list[Piece], list[Piece]]:
    """The two values of a field with what differs, each as one column; a note is a piece, too.

    >>> value_pieces("red fox", "old fox")[1]
    [Piece(mark='changed', text='old'), Piece(mark='same', text=' fox')]
    """
    rows = side_by_side(left, right, keep_lines=True).rows
    sides: tuple[list[Piece], list[Piece]] = ([], [])
    for place, row in enumerate(rows):
        for pieces, own in zip(sides, (row.left, row.right), strict=True):
            if place:
                pieces.append(Piece("same", "\n"))
            if row.note:
                pieces.append(Piece("note", row.note))
            pieces.extend(own)
    return sides


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

    show: Callable[[str], str] = squeezed
    """Makes text of a document fit to be shown."""
    _rows: list[Row] = field(default_factory=list)
    _left: list[Piece] = field(default_factory=list)
    _right: list[Piece] = field(default_factory=list)
    _inline: list[Piece] = field(default_factory=list)
    _continues: bool = False

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
        self._continues = False

    def finished(self) -> tuple[Row, ...]:
        self._close()
        return tuple(self._rows)

    def _equal(self, edit: Edit, before: int, after: int) -> None:
        folded = before + after + _WORTH_FOLDING
        if len(edit.a) < folded:  # a word has a character or more
            self._alike(edit.a, edit.b)
            return
        words_left, words_right = find_words(edit.a), find_words(edit.b)
        before, after = self._context(words_left, before, after)
        hidden = len(words_left) - before - after
        if hidden < _WORTH_FOLDING:
            self._alike(edit.a, edit.b)
            return
        self._alike(self._head(words_left, before), self._head(words_right, before))
        self.note(f"… {number(hidden, 'word')} alike …")
        if after:
            self._alike(self._tail(words_left, after), self._tail(words_right, after))

    def _alike(self, left: str, right: str) -> None:
        left, right = self._without_middle(left), self._without_middle(right)
        self._left.append(Piece("same", left))
        self._right.append(Piece("same", right))
        self._inline.append(Piece("same", left))

    def _change(self, edit: Edit) -> None:
        mark = "variant" if edit.op == "variant" else "changed"
        # White space at the ends of a change is not part of the change.
        parts = [self._stripped(side) for side in (edit.a, edit.b)]
        for pieces, (lead, core, end) in zip((self._left, self._right), parts, strict=True):
            pieces += Piece("same", lead), Piece(mark, core), Piece("same", end)
        (lead, left, end), (other_lead, right, other_end) = parts
        single = "variant-" if edit.op == "variant" else ""
        self._inline += (
            Piece("same", lead or other_lead),
            Piece(f"{single}left", left),
            Piece(f"{single}right", right),
            Piece("same", end or other_end),
        )

    def _stripped(self, side: str) -> tuple[str, str, str]:
        core = side.strip()
        start = side.index(core)
        return (
            self.show(side[:start]),
            self._shortened(core),
            self.show(side[start + len(core) :]),
        )

    def _close(self) -> None:
        left, right, inline = map(self._tidy, (self._left, self._right, self._inline))
        if left or right:
            self._rows.append(Row(left, right, inline, continues=self._continues))
        for pieces in (self._left, self._right, self._inline):
            pieces.clear()

    def _tidy(self, pieces: Sequence[Piece]) -> tuple[Piece, ...]:
        """Join neighbours with the same mark, and strip white space at the ends of a row."""
        joined: list[Piece] = []
        for piece in pieces:
            if joined and joined[-1].mark == piece.mark:
                piece = Piece(piece.mark, joined.pop().text + piece.text)
            if piece.text:
                joined.append(piece)
        if joined:
            joined[0] = Piece(joined[0].mark, self._without_lead(joined[0].text))
            joined[-1] = Piece(joined[-1].mark, self._without_end(joined[-1].text))
        return tuple(piece for piece in joined if piece.text)

    def _without_lead(self, text: str) -> str:
        return text.lstrip()

    def _without_end(self, text: str) -> str:
        return text.rstrip()

    def _context(self, words: WordSpans, before: int, after: int) -> tuple[int, int]:
        """The words to show at both ends of a long equal stretch."""
        return before, after

    def _head(self, words: WordSpans, count: int) -> str:
        return words.text[: int(words.ends[count - 1])]

    def _tail(self, words: WordSpans, count: int) -> str:
        return words.text[int(words.starts[len(words) - count]) :]

    def _shortened(self, change: str) -> str:
        if len(change) < _LONGEST_CHANGE:  # a word has a character or more
            return self.show(change)
        words = find_words(change)
        hidden = len(words) - _LONGEST_CHANGE
        if hidden < _WORTH_FOLDING:
            return self._without_middle(change)
        half = _LONGEST_CHANGE // 2
        head = self._without_middle(self._head(words, half))
        tail = self._without_middle(self._tail(words, half))
        return f"{head} … {number(hidden, 'more word')} … {tail}"

    def _without_middle(self, text: str) -> str:
        hidden = len(text) - _LONGEST_PIECE
        if hidden <= 0:
            return self.show(text)
        half = _LONGEST_PIECE // 2
        note = number(hidden, "character")
        return f"{self.show(text[:half])} … {note} … {self.show(text[-half:])}"


@dataclass
class _LineRows(_Rows):
    """Rows that keep line breaks and indentation, and begin where both texts begin a line."""

    show: Callable[[str], str] = visible_lines

    def _alike(self, left: str, right: str) -> None:
        """Add equal text: the rest of a line, whole lines, the beginning of a line."""
        ends_line = str.find if self._left or self._right else str.rfind
        for cut in (ends_line, str.rfind):
            at, other = cut(left, "\n") + 1, cut(right, "\n") + 1
            if at and other and left[:at].split() == right[:other].split():
                super()._alike(left[:at], right[:other])
                self._close()
                left, right = left[at:], right[other:]
        if left or right:
            super()._alike(left, right)

    def _close(self) -> None:
        rows = len(self._rows)
        super()._close()
        self._continues = self._continues or len(self._rows) > rows

    def _without_lead(self, text: str) -> str:
        blank = None if self._continues else _BLANK_LINES.match(text)
        return text[blank.end() :] if blank else text

    def _without_end(self, text: str) -> str:
        return text.removesuffix("\n")

    def _context(self, words: WordSpans, before: int, after: int) -> tuple[int, int]:
        """Whole lines, unless they are long."""
        if before + after >= len(words):
            return before, after
        line_end = words.text.find("\n", int(words.ends[before - 1]))
        whole = int(np.searchsorted(words.starts, line_end)) if line_end >= 0 else len(words)
        first = int(words.starts[-after]) if after else len(words.text)
        line_start = words.text.rfind("\n", 0, first)
        last = len(words) - int(np.searchsorted(words.starts, line_start))
        return (
            whole if whole - before <= _REST_OF_LINE else before,
            last if after and last - after <= _REST_OF_LINE else after,
        )

    def _head(self, words: WordSpans, count: int) -> str:
        """The first words, with the signs that follow them on the line."""
        line, _, _ = words.separator(count).partition("\n")
        return super()._head(words, count) + line

    def _tail(self, words: WordSpans, count: int) -> str:
        """The last words, with the signs and the indentation before them on the line."""
        _, _, line = words.separator(len(words) - count).rpartition("\n")
        return line + super()._tail(words, count)
