"""Stars of listed pairs that obey what people have decided.

Only documents that pairs and decisions connect with a special one are decided on here, one by one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from neardup.collection.collected import Collected
from neardup.kernels.set_join import components
from neardup.kernels.star_join import KEPT, REMOVED, Decisions
from neardup.pairs.search import FoundPairs
from neardup.pairs.told import Told, Units

Places = NDArray[np.int64]


class ToldStars:
    """The stars around special documents; `others` are all places that are left to decide on.

    `order` are the places of `left` in keep order, with the pinned ones first.
    """

    def __init__(
        self,
        left: Collected,
        right: Collected | None,
        found: FoundPairs,
        order: Places,
        told: Told,
        *,
        within: bool,
    ) -> None:
        self._documents, self._order, self._told = len(left), order, told
        self._within = right is None or within
        self._count = len(left) + (0 if right is None else len(right))
        # An empty document is a kind of its own: it is similar to none.
        self._kind = np.arange(self._count)
        begins = 0
        for side in (left, right):
            if side is not None:
                self._kind[begins + side.filled] = begins + side.firsts[side.copies.group_of]
                begins += len(side)
        links = np.array(told.links, np.int64).reshape(-1, 2)
        a = np.concatenate((found.a, self._kind[links[:, 0]]))
        b = np.concatenate((found.b, self._kind[links[:, 1]]))
        labels = components(self._count, np.minimum(a, b), np.maximum(a, b))[self._kind]
        told_of = np.zeros(self._count, np.bool_)
        told_of[labels[told.special]] = True
        self.others: NDArray[np.bool_] = ~told_of[labels]
        rows = np.flatnonzero(~self.others[found.a])
        self._similar: dict[int, list[tuple[int, float]]] = {}
        for one, other, similarity in zip(
            found.a[rows].tolist(),
            found.b[rows].tolist(),
            found.similarity[rows].tolist(),
            strict=True,
        ):
            self._similar.setdefault(one, []).append((other, similarity))
            self._similar.setdefault(other, []).append((one, similarity))
        self._kept: dict[int, list[int]] = {}  # the kept documents of a kind, in order

    def decide(self, known: Decisions) -> Places:
        """Decide on the documents; returns pairs of pinned ones that are similar."""
        given = np.arange(self._documents, self._count)
        rank = np.empty(self._count, np.int64)
        rank[np.concatenate((given, self._order))] = np.arange(self._count)
        units = Units(self._told, known, rank, self._documents, within=self._within)
        special = set(self._told.special.tolist())
        for place in given[~self.others[given]].tolist():
            self._keep(place)
        found: dict[int, tuple[int, float]] = {}  # of the ordinary documents of a kind
        for place in self._order[~self.others[self._order]].tolist():
            if place in special:
                if units.is_open(place):
                    for one in self._told.unit(place):
                        if one < self._documents:
                            units.note((one, *near) for near in self._near(one))
                    units.settle(place)
                if known.decision[place] == KEPT and self._within:
                    self._keep(place)
                    found.clear()
                continue
            kind = int(self._kind[place])
            if kind not in found:
                near = list(self._near(place))
                if not near:
                    known.decision[place] = KEPT
                    if self._within:
                        self._keep(place)
                        found.clear()
                    continue
                found[kind] = min(near, key=lambda one: (-one[1], rank[one[0]]))
            known.decision[place] = REMOVED
            known.kept_for[place], known.similarity[place] = found[kind]
        return units.clashes

    def _keep(self, place: int) -> None:
        self._kept.setdefault(int(self._kind[place]), []).append(place)

    def _near(self, place: int) -> Iterator[tuple[int, float]]:
        """The kept documents that are similar to one, and how similar they are."""
        kind = int(self._kind[place])
        for other in self._kept.get(kind, ()):
            yield other, 1.0
        for near, similarity in self._similar.get(kind, ()):
            for other in self._kept.get(near, ()):
                yield other, similarity
