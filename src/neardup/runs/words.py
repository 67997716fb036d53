"""The words that a search looks for: as `nd1` defines them, and symbols such as emoji.

Every Chinese character is a word of its own, so that a phrase finds any part of a Chinese text.
"""

from __future__ import annotations

import re
from functools import cache

from neardup.kernels.reference import text as reference

# Arrows, signs and emoji: no words of a document, but people look for them.
_SYMBOLS = "\u2190-\u2bff\U0001f000-\U0001faff"
_ASCII = re.compile("[a-z0-9_]+")


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case.

    >>> words_of("Ah, 東京! 😀")
    ['ah', '東', '京', '😀']
    """
    if text.isascii():
        return _ASCII.findall(text.lower())
    found: list[str] = _pattern().findall(reference.lower(text))
    return found


def indexed(text: str) -> str:
    """A text for the index: words with spaces between; ASCII is cut into words there."""
    return text if text.isascii() else " ".join(words_of(text))


@cache
def _pattern() -> re.Pattern[str]:
    ranges: dict[str, list[str]] = {"letter": [], "mark": [], "solo": [], "space": []}
    for first, last, kind in reference.kind_ranges():
        ranges[kind].append(f"{_escaped(first)}-{_escaped(last)}")
    letters, marks, solos = ("".join(ranges[kind]) for kind in ("letter", "mark", "solo"))
    return re.compile(f"[{letters}][{letters}{marks}]*|[{solos}{_SYMBOLS}]")


def _escaped(code: int) -> str:
    return f"\\U{code:08x}"
