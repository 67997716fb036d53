"""The runs of words that two texts share, on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup.cli.terminal import count, say
from neardup.visible import visible

if TYPE_CHECKING:
    from neardup.comparison.spans import SharedSpans

_SPANS, _SPAN = 10, 300  # shown without `full`; characters of each


def say_spans(found: SharedSpans, names: tuple[str, str], *, full: bool) -> None:
    """Print how much of each text is shared, and the runs, the longest first."""
    for side, name in enumerate(names):
        words, shared = found.words[side], found.shared[side]
        which = name or ("the first text", "the second text")[side]
        say(f"{which}: {shared:,} of {count(words, 'word')} ({shared / words:.0%}) shared")
    least = count(found.min_words, "word")
    say(f"{count(len(found.spans), 'run')} of {least} or more, longest first:")
    by_length = found.longest_first
    for span in by_length if full else by_length[:_SPANS]:
        say()
        a, b = f"{span.a_start:,}–{span.a_end:,}", f"{span.b_start:,}–{span.b_end:,}"
        say(f"{count(span.words, 'word')}, characters {a} and {b}:")
        text = visible(" ".join(span.text.split()))
        say(f"  {text if full or len(text) <= _SPAN else text[: _SPAN - 1] + '…'}")
    if not full and len(by_length) > _SPANS:
        say()
        say(f"{len(by_length) - _SPANS:,} more; --full shows all of them, and their whole text")
