"""A word diff for the terminal: in colour, or with [-…-] {+…+} marks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from neardup.comparison.diff import Edit
from neardup.features.words import count_words, find_words
from neardup.frozen import dataclass
from neardup.visible import visible

if TYPE_CHECKING:  # the HTML report uses this module without rich
    from rich.text import Text

_WHITE_SPACE = re.compile("[ \t\r\n\f\v\x85\xa0\u2028\u2029]+")
_LINE_END = re.compile("\r\n|[\r\n\f\v\x85\u2028\u2029]")


_DELETED = "red strike"
_INSERTED = "green"
_NOTE = "dim"
_LOOK = 20_000  # characters searched for words at either end of a stretch
_LONGEST_PIECE = 4_000  # characters


@dataclass(frozen=True)
class DiffCounts:
    """Totals of a diff: the changes, and the words they affect on each side."""

    changes: int
    words_a: int
    words_b: int
    variants: int

    @classmethod
    def of(cls, edits: Sequence[Edit]) -> DiffCounts:
        """Count changes and, separately, variants of case and punctuation."""
        changed = [edit for edit in edits if edit.op in ("replace", "delete", "insert")]
        return cls(
            changes=len(changed),
            words_a=count_words("\n".join(edit.a for edit in changed)),
            words_b=count_words("\n".join(edit.b for edit in changed)),
            variants=sum(edit.op == "variant" for edit in edits),
        )

    def __str__(self) -> str:
        parts = []
        if self.changes:
            words = f"{number(self.words_a, 'word')} of A, {self.words_b:,} of B"
            parts.append(f"{number(self.changes, 'change')} ({words})")
        if self.variants:
            parts.append(f"case or punctuation in {number(self.variants, 'place')}")
        return "; ".join(parts) or "the same words throughout"


def squeezed(side: str) -> str:
    """Fold white space, keep paragraph breaks, make control characters visible.

    Single line ends are folded too: the original lines rarely fit the width of the terminal.
    """
    folded = _WHITE_SPACE.sub(_space, side)
    return "\n".join(map(visible, folded.split("\n")))


def _space(match: re.Match[str]) -> str:
    return "\n\n" if len(_LINE_END.findall(match[0])) > 1 else " "


def number(count: int, noun: str) -> str:
    """`1 word`, `2,000 words`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


@dataclass(frozen=True)
class DiffStyle:
    """How much of a diff to show, and whether in colour or with marks."""

    colour: bool
    context: int = 10
    """Words of an equal stretch shown beside a change."""
    longest: int = 60
    """Words of one change shown before its middle is left out."""
    most: int = 40
    """Changes shown before the rest is left out."""
    full: bool = False
    """Show everything, without these limits."""


def diff_text(edits: Sequence[Edit], style: DiffStyle) -> Text:
    """Render edits; equal stretches are shown as in the first text."""
    from rich.text import Text

    text = Text()
    shown = 0
    last = len(edits) - 1
    for place, edit in enumerate(edits):
        if edit.op == "equal":
            before = 0 if place == 0 else style.context
            after = 0 if place == last else style.context
            text.append_text(_shortened(edit.a, before, after, style.full))
            continue
        if shown == style.most and not style.full:
            rest = sum(edit.op != "equal" for edit in edits[place:])
            text.append(f"\n⋯ {number(rest, 'more difference')} ⋯", style=_NOTE)
            break
        shown += 1
        _append_change(text, edit, style)
    return text


def one_side(edits: Sequence[Edit], side: str, style: DiffStyle) -> Text:
    """Render one side of a diff, `a` or `b`: what the other side lacks is marked."""
    from rich.text import Text

    text = Text()
    colour, marks = (_DELETED, "[--]") if side == "a" else (_INSERTED, "{++}")
    for edit in edits:
        own = getattr(edit, side)
        lead, core, tail = _stripped(own)
        if edit.op == "equal" or not core:
            text.append(squeezed(own))
            continue
        body = Text(
            _without_middle(core), style=colour if edit.op != "variant" else f"dim {colour}"
        )
        text.append(squeezed(lead))
        text.append_text(body if style.colour else Text(marks[:2]) + body + Text(marks[2:]))
        text.append(squeezed(tail))
    return text


def _append_change(text: Text, edit: Edit, style: DiffStyle) -> None:
    # White space around a change is not marked, unless the change is only white space.
    lead, a, a_tail = _stripped(edit.a)
    b_lead, b, b_tail = _stripped(edit.b)
    text.append(squeezed(lead or b_lead))
    half = style.longest // 2
    for side, colour, marks in ((a, _DELETED, "[--]"), (b, _INSERTED, "{++}")):
        if not side:
            continue
        if marks == "{++}" and style.colour and a[-1:].isalnum():
            text.append(" ")  # without marks, "oldnew" would read as one word
        body = _shortened(side, half, half, style.full, inline=True)
        body.stylize(colour if edit.op != "variant" else f"dim {colour}")
        if style.colour:
            text.append_text(body)
        else:
            text.append(marks[:2]).append_text(body).append(marks[2:])
    text.append(squeezed(a_tail or b_tail))


def _stripped(side: str) -> tuple[str, str, str]:
    core = side.strip()
    if not core:
        return "", side, ""
    start = side.index(core)
    return side[:start], core, side[start + len(core) :]


def _shortened(side: str, before: int, after: int, full: bool, inline: bool = False) -> Text:
    """Show the first and last words of a stretch, and the number of words between them."""
    from rich.text import Text

    if full:
        return Text(squeezed(side))
    hidden = count_words(side) - before - after
    if hidden <= max(3, (before + after) // 4):
        return Text(_without_middle(side))
    edge = " " if inline else "\n"
    note = f"⋯ {number(hidden, 'word')} {'more' if inline else 'alike'} ⋯"
    head, tail = _first_words(side, before), _last_words(side, after)
    text = Text(_without_middle(head) + edge if head else "")
    text.append(note, style=_NOTE)
    return text.append(edge + _without_middle(tail) if tail else "")


def _first_words(side: str, count: int) -> str:
    """The first words of a long stretch, found without scanning all of it."""
    words = find_words(side[:_LOOK])
    if not count or len(words) <= count:
        return side[:_LOOK] if count else ""
    return side[: int(words.ends[count - 1])]


def _last_words(side: str, count: int) -> str:
    words = find_words(side[-_LOOK:])
    if not count or len(words) <= count:
        return side[-_LOOK:] if count else ""
    return words.text[int(words.starts[len(words) - count]) :]


def _without_middle(side: str) -> str:
    """Leave out the middle of a long piece: a single word may be as long as a file."""
    hidden = len(side) - _LONGEST_PIECE
    if hidden <= 0:
        return squeezed(side)
    half = _LONGEST_PIECE // 2
    note = number(hidden, "character")
    return f"{squeezed(side[:half])} ⋯ {note} ⋯ {squeezed(side[-half:])}"
