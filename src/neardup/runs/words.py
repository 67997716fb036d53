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
_OTHERS = re.compile(r"[^\x00-\x7f]+")


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
    """A text for the index, which cuts ASCII into words itself, and takes all else for letters.

    The pattern of `words_of` would cut it, too, but takes a second for 2 MB.

    >>> indexed("Ah, 東京…É! 😀").split()
    ['Ah,', '東', '京', 'é!', '😀']
    """
    return text if text.isascii() else _OTHERS.sub(_spaced, text)


def _spaced(others: re.Match[str]) -> str:
    return others[0].translate(_SPACED)


class _Spaced(dict[int, str]):
    """Characters beyond ASCII for the index: letters in lower case, solos apart, no signs."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        kind = reference.kinds().get(code)
        if kind in ("letter", "mark"):
            found = reference.lower(char)
        elif kind == "solo" or _SYMBOL.match(char):
            found = f" {char} "
        else:
            found = " "
        self[code] = found
        return found


_SYMBOL = re.compile(f"[{_SYMBOLS}]")
_SPACED = _Spaced()


@cache
def _pattern() -> re.Pattern[str]:
    ranges: dict[str, list[str]] = {"letter": [], "mark": [], "solo": [], "space": []}
    for first, last, kind in reference.kind_ranges():
        ranges[kind].append(f"{_escaped(first)}-{_escaped(last)}")
    letters, marks, solos = ("".join(ranges[kind]) for kind in ("letter", "mark", "solo"))
    return re.compile(f"[{letters}][{letters}{marks}]*|[{solos}{_SYMBOLS}]")


def _escaped(code: int) -> str:
    return f"\\U{code:08x}"
