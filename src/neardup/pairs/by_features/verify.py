"""Verification: the true similarity of candidates, in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from neardup.collection.feature_store import FeatureStore
from neardup.features.weighted import WeightedFeatures
from neardup.frozen import dataclass
from neardup.kernels.hamming_join import RowPairs, TooManyPairsError
from neardup.kernels.set_join import similarities

Places = NDArray[np.int64]
Similarities = NDArray[np.float64]
# A feature and its weight, in the store and as a copy.
_FEATURE_BYTES = 2 * 16


@dataclass(frozen=True, eq=False)
class Searched:
    """The documents that take part in a search: their places, ascending, and features."""

    store: FeatureStore
    places: Places

    def bytes_of(self, places: Places) -> int:
        """Bytes of the features of some documents while they are read from the store."""
        return _FEATURE_BYTES * int(self.store.sizes[places].sum(dtype=np.int64))


class TrueSimilarity:
    """The similarity of pairs of documents, computed on their features.

    The features of all documents are kept in memory if they fit. Otherwise those of as many pairs
    as fit, at least one, are read from the store at a time.
    """

    def __init__(self, sides: Sequence[Searched], measure: str, memory: int, threads: int) -> None:
        self._sides = sides
        self._measure, self._memory, self._threads = measure, memory, threads
        self._at_hand: list[WeightedFeatures] | None = None
        if sum(side.bytes_of(side.places) for side in self._sides) <= memory:
            self._at_hand = [side.store.take(side.places) for side in self._sides]

    def of(self, a: Places, b: Places) -> Similarities:
        """The similarity of documents a[i] and b[i]."""
        if self._at_hand is not None:
            return self._computed(self._at_hand, [side.places for side in self._sides], a, b)
        if not len(a):
            return np.zeros(0)
        places = [np.unique(np.concatenate((a, b)))]
        if len(self._sides) > 1:
            places = [np.unique(a), np.unique(b)]
        chosen = list(zip(self._sides, places, strict=True))
        if len(a) > 1 and sum(side.bytes_of(some) for side, some in chosen) > self._memory:
            # Pairs are sorted by their first document; those of one are split by the second.
            order = np.argsort(b, kind="stable") if a[0] == a[-1] else np.arange(len(a))
            found = np.empty(len(a))
            for half in np.array_split(order, 2):
                found[half] = self.of(a[half], b[half])
            return found
        return self._computed([side.store.take(some) for side, some in chosen], places, a, b)

    def _computed(
        self, features: list[WeightedFeatures], places: list[Places], a: Places, b: Places
    ) -> Similarities:
        return similarities(
            *features[0].arrays,
            np.searchsorted(places[0], a),
            np.searchsorted(places[-1], b),
            measure=self._measure,
            right=features[1].arrays if len(features) > 1 else None,
            threads=self._threads,
        )


@dataclass(eq=False)
class AcceptedPairs:
    """The pairs accepted so far, at most `most`, and the number of rejected candidates."""

    most: int
    bits: int
    parts: list[tuple[Places, Places, NDArray[np.uint16], Similarities]] = field(
        default_factory=list
    )
    candidates: int = 0
    accepted: int = 0
    false_by_distance: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.false_by_distance = np.zeros(self.bits + 1, np.int64)

    def add(self, pairs: RowPairs, similarity: Similarities, holds: NDArray[np.bool_]) -> None:
        """Keep the true pairs, and count the others by their distance."""
        self.candidates += len(pairs)
        self.accepted += int(holds.sum())
        if self.accepted > self.most:
            raise TooManyPairsError(f"more than {self.most:,} pairs are accepted")
        self.false_by_distance += np.bincount(pairs.distance[~holds], minlength=self.bits + 1)
        if holds.any():
            self.parts.append(
                (pairs.a[holds], pairs.b[holds], pairs.distance[holds], similarity[holds])
            )

    def together(self) -> tuple[Places, Places, NDArray[np.uint16], Similarities]:
        """All accepted pairs in order; the parts are released."""
        nothing = (
            np.zeros(0, np.int64),
            np.zeros(0, np.int64),
            np.zeros(0, np.uint16),
            np.zeros(0),
        )
        columns = list(zip(*[nothing, *self.parts], strict=True))
        self.parts.clear()
        a, b, distance, similarity = (np.concatenate(columns.pop(0)) for _ in range(4))
        return a, b, distance, similarity
