"""Random choices that are the same with every version of Python."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

Item = TypeVar("Item")


class Chance:
    """Choices that depend on the names alone; Python only keeps the stream of `random()`."""

    def __init__(self, *names: object) -> None:
        self._next = Random("/".join(map(str, names))).random

    def below(self, most: int) -> int:
        """A whole number from 0 to `most` - 1."""
        return int(self._next() * most)

    def pick(self, items: Sequence[Item]) -> Item:
        return items[self.below(len(items))]

    def happens(self, share: float) -> bool:
        """True in this share of all calls."""
        return self._next() < share

    def between(self, low: float, high: float) -> float:
        return low + (high - low) * self._next()

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        order = sorted((self._next(), place) for place in range(len(items)))
        return [items[place] for _, place in order]
