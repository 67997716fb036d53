"""Texts by their names: two have nothing in common, and an edited one is near its original."""

from __future__ import annotations

import random
from functools import cache

WORDS = 50
VOCABULARY = 20_000


@cache
def _vocabulary() -> list[str]:
    chance = random.Random("vocabulary")
    return ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(VOCABULARY)]


def text_of(id: str) -> str:
    """The text of a document."""
    return " ".join(random.Random(id).choices(_vocabulary(), k=WORDS))


def edited(text: str) -> str:
    """The same with another word in the middle: 45 of 51 shingles are shared, 0.88."""
    words = text.split()
    words[WORDS // 2] = "exchanged"
    return " ".join(words)
