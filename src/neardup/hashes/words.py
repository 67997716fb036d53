"""The bundled words on which hash families are tried."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def common_words() -> tuple[str, ...]:
    """A thousand common English words, the most frequent ones at the beginning.

    >>> common_words()[:3]
    ('the', 'of', 'and')
    """
    text = files(__package__).joinpath("common_words.txt").read_text(encoding="utf-8")
    return tuple(text.split())
