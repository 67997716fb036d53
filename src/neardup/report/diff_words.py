"""What every diff says: how much changed, and how its text is written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from neardup.features.text import count_words
from neardup.report.visible import visible
from neardup.verify.diff import Edit

_WHITE_SPACE = re.compile("[ \t\r\n\f\v\x85\xa0\u2028\u2029]+")
_LINE_END = re.compile("\r\n|[\r\n\f\v\x85\u2028\u2029]")


@dataclass(frozen=True)
class DiffCounts:
    """What a diff amounts to: places that changed, and the words on each side of them."""

    changes: int
    words_a: int
    words_b: int
    variants: int

    @classmethod
    def of(cls, edits: Sequence[Edit]) -> DiffCounts:
        """Count changes, and apart from them the variants of case and punctuation."""
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
    """White space folded, paragraphs kept apart, everything else made visible.

    Single line ends go too: lines as long as they were written seldom suit the terminal.
    """
    folded = _WHITE_SPACE.sub(_space, side)
    return "\n".join(map(visible, folded.split("\n")))


def _space(match: re.Match[str]) -> str:
    return "\n\n" if len(_LINE_END.findall(match[0])) > 1 else " "


def number(count: int, noun: str) -> str:
    """A count with its noun, in the plural unless it is one."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
