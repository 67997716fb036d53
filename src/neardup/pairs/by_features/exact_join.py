"""The exact join: every similar pair of whole collections, in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neardup.collection.feature_store import FeatureStore
from neardup.features.weighted import WeightedFeatures
from neardup.frozen import dataclass
from neardup.kernels.set_join import PossiblePartners, SimilarPairs, join_similar

Places = NDArray[np.int64]
Flags = NDArray[np.bool_]

# Another round over all features is worth it if the last one removed this share of them.
_WORTH = 0.1
# Maximum bytes of a join per feature: the feature, twice; its number; its entry in the numbering;
# its posting. Measured with 11.6 million features: 31.
_JOIN_BYTES = 48
# Each group is joined with every other, so the time grows with the square of their number.
_LEAST_GROUP = 1 << 20


@dataclass(frozen=True)
class Measure:
    """What counts as similar."""

    name: str
    threshold: float


@dataclass(eq=False)
class JoinSide:
    """A collection, and which of its documents take part in the join."""

    store: FeatureStore
    wanted: Flags

    @classmethod
    def at(cls, store: FeatureStore, places: Places) -> JoinSide:
        """The documents at these places."""
        wanted = np.zeros(len(store), np.bool_)
        wanted[places] = True
        return cls(store, wanted)

    @property
    def features(self) -> int:
        """The number of features of those documents."""
        return int(self.store.sizes[self.wanted].sum(dtype=np.int64))

    @property
    def join_bytes(self) -> int:
        """Bytes of a join of all of them."""
        return self.features * _JOIN_BYTES

    def groups(self, most: int) -> list[Places]:
        """The places of those documents, in runs of up to `most` features."""
        places = np.flatnonzero(self.wanted)
        ends = np.cumsum(self.store.sizes[places], dtype=np.int64)
        cuts = np.flatnonzero(np.diff((ends - 1) // max(1, most))) + 1
        return [run for run in np.split(places, cuts) if len(run)]


def keep_possible(
    sides: Sequence[JoinSide], measure: Measure, *, memory: int, threads: int, across: bool = False
) -> None:
    """Leave out the documents that can be in no pair; often these are nearly all.

    With `across`, only pairs between the two sides count. Repeats until a join of the rest fits
    `memory`, or a round removes little.
    """
    left = sum(side.features for side in sides)
    while left:
        before = left
        partners = PossiblePartners(
            min(before, memory),  # the filter takes up to one byte per feature
            measure=measure.name,
            threshold=measure.threshold,
            two=across,
            threads=threads,
        )
        for number, side in enumerate(sides):
            for where, part in side.store.parts():
                partners.see(part.arrays, side.wanted[where], right=across and number > 0)
        for side in sides:
            for where, part in side.store.parts():
                partners.keep_possible(part.arrays, side.wanted[where])
        left = sum(side.features for side in sides)
        if left * _JOIN_BYTES <= memory or left > (1 - _WORTH) * before:
            return


def join_chosen(
    left: JoinSide,
    right: JoinSide | None,
    measure: Measure,
    *,
    memory: int,
    most_postings: int | None,
    most_pairs: int,
    threads: int,
) -> SimilarPairs:
    """Every pair of these documents, by place: in one join if it fits `memory`.

    Otherwise they are joined group by group, each within `memory` and `most_postings`. More than
    `most_pairs` in total raise `TooManyPairsError`.
    """
    most = max(_LEAST_GROUP, memory // _JOIN_BYTES)
    room = most_pairs

    def found(
        own: WeightedFeatures, others: WeightedFeatures | None, a: Places, b: Places
    ) -> SimilarPairs:
        nonlocal room
        pairs = join_similar(
            *own.arrays,
            measure=measure.name,
            threshold=measure.threshold,
            right=None if others is None else others.arrays,
            most_postings=most_postings,
            most_pairs=room,
            threads=threads,
        )
        room -= len(pairs)
        return SimilarPairs(a[pairs.a], b[pairs.b], pairs.similarity, pairs.compared)

    parts = []
    groups = left.groups(most if right is None and left.features <= most else most // 2)
    for number, group in enumerate(groups):
        own = left.store.take(group)
        if right is None:
            parts.append(found(own, None, group, group))
            parts += (
                found(own, left.store.take(other), group, other) for other in groups[number + 1 :]
            )
        else:
            parts += (
                found(own, right.store.take(other), group, other)
                for other in right.groups(most // 2)
            )
    return _together(parts)


def _together(found: list[SimilarPairs]) -> SimilarPairs:
    if len(found) == 1:
        return found[0]
    a = np.concatenate([np.zeros(0, np.int64), *(some.a for some in found)])
    b = np.concatenate([np.zeros(0, np.int64), *(some.b for some in found)])
    similarity = np.concatenate([np.zeros(0), *(some.similarity for some in found)])
    order = np.lexsort((b, a))
    compared = sum(some.compared for some in found)
    return SimilarPairs(a[order], b[order], similarity[order], compared)
