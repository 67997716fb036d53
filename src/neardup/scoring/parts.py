"""What a score is made of, and what a search by score needs of a scorer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from neardup.collection.records import Records
from neardup.frozen import dataclass

Places = NDArray[np.int64]
Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Agreement:
    """One part of the score of a pair: how far the two documents agree in it.

    `name` is a field, or a similarity of the whole text; `how` says how it is compared. `a` and `b`
    are the two values, None for the whole text. `similarity` is None where a side is empty, which
    is no evidence. `adds` is what the part adds to the score; the parts sum up to it.
    """

    name: str
    how: str
    a: str | None
    b: str | None
    similarity: float | None
    weight: float
    adds: float


@dataclass(frozen=True, eq=False)
class Among:
    """The documents that take part in a search: their places, ascending, on the left and right.

    Without `right`, pairs are within the left collection.
    """

    left: Places
    right: Places | None = None


class Scorer(Protocol):
    """A similarity by which pairs are searched for: `fields`, or `model`."""

    @property
    def name(self) -> str: ...

    def candidates(
        self,
        left: Records,
        right: Records | None,
        threshold: float,
        *,
        among: Among,
        memory: int,
    ) -> Iterator[tuple[Places, Places]]:
        """Pairs of places that may reach the threshold, some at a time.

        Within one collection a < b. A pair may come twice. Work takes about `memory` bytes.
        """

    def promise(self, threshold: float) -> str:
        """How the candidates were found, and which pairs that finds; known after the search."""

    def scores(
        self,
        left: Records,
        right: Records | None,
        a: Places,
        b: Places,
        *,
        at_least: float = 0.0,
    ) -> Scores:
        """The score of documents a[i] and b[i]; one below `at_least` may be given as 0."""

    def explain(
        self, a: Mapping[str, str | None], b: Mapping[str, str | None]
    ) -> tuple[float, tuple[Agreement, ...]]:
        """The score of two records, given by the names of their columns, and its parts."""
