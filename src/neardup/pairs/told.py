"""What people have decided about documents, by places, and how a search obeys it.

Documents that are the *same* are a unit: they are kept or removed together. A unit is decided on at
the turn of its first member in keep order: it is removed for the most similar kept document that is
similar to any member and different from none, else one member is kept and the others are removed
for it. Pinned documents come first and are always kept, as those of the other collection are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from neardup.frozen import dataclass
from neardup.kernels.star_join import KEPT, OPEN, REMOVED, Decisions

Places = NDArray[np.int64]
_NOBODY: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class Told:
    """Links between documents that are the same, those that differ from each, and pinned ones.

    Places go on through the other collection. The links make a forest: no two documents that
    differ are connected, and none is connected twice.
    """

    links: tuple[tuple[int, int], ...]
    different: Mapping[int, frozenset[int]]
    pinned: frozenset[int]

    @cached_property
    def units(self) -> Mapping[int, tuple[int, ...]]:
        """The documents that are the same as each linked one, itself included, ascending."""
        of: dict[int, list[int]] = {}
        for a, b in self.links:
            one, other = of.setdefault(a, [a]), of.setdefault(b, [b])
            if len(one) < len(other):
                one, other = other, one
            one += other
            for place in other:
                of[place] = one
        made = {id(members): tuple(sorted(members)) for members in of.values()}
        return {place: made[id(members)] for place, members in of.items()}

    @cached_property
    def special(self) -> Places:
        """All documents that something was decided about, ascending."""
        named = {*self.units, *self.different, *self.pinned}
        return np.array(sorted(named), np.int64)

    def unit(self, place: int) -> tuple[int, ...]:
        """The documents that are the same as this one, itself included."""
        return self.units.get(place, (place,))

    def differ(self, unit: Iterable[int], other: int) -> bool:
        """Whether any document of a unit differs from another document."""
        enemies = self.different.get(other, _NOBODY)
        return bool(enemies) and any(place in enemies for place in unit)

    def order(self, order: Places) -> Places:
        """A keep order with the pinned documents first."""
        if not self.pinned:
            return order
        first = np.isin(order, np.fromiter(self.pinned, np.int64))
        return np.concatenate((order[first], order[~first]))

    def leave_copies(self, copy_of: Places, order: Places) -> None:
        """Take special documents out of their groups of exact copies; others get a new first.

        `order` are the places whose copies are grouped, in keep order.
        """
        own = self.special[self.special < len(copy_of)]
        firsts = np.unique(copy_of[own])
        is_special = np.zeros(len(copy_of), np.bool_)
        is_special[own] = True
        others = order[np.isin(copy_of[order], firsts) & ~is_special[order]]
        first_of: dict[int, int] = {}
        for place, first in zip(others.tolist(), copy_of[others].tolist(), strict=True):
            copy_of[place] = first_of.setdefault(first, place)
        copy_of[own] = own


@dataclass(frozen=True)
class _Best:
    """The kept document that a unit may be removed for, and how similar the members are to it."""

    similarity: float
    kept: int
    members: Mapping[int, float]


class Units:
    """Decides on special documents; the caller tells which kept documents they are similar to.

    `documents` is the number of documents of the collection, `rank` the turn of each place.
    Without `within`, documents are removed for those of the other collection only.
    """

    def __init__(
        self, told: Told, known: Decisions, rank: Places, documents: int, *, within: bool
    ) -> None:
        self.told, self.known, self.rank = told, known, rank
        self._documents, self._within = documents, within
        self._best: dict[int, _Best] = {}
        self._clashes: dict[tuple[int, int], None] = {}

    @property
    def clashes(self) -> Places:
        """Pairs of pinned documents that are similar and not of one unit; both are kept."""
        return np.array(sorted(self._clashes), np.int64).reshape(-1, 2)

    def note(self, similar: Iterable[tuple[int, int, float]]) -> None:
        """Remember open documents and the kept ones they are similar to, each pair once."""
        told = self.told
        found: dict[tuple[int, int], dict[int, float]] = {}
        for place, kept, similarity in similar:
            unit = told.unit(place)
            if place in told.pinned:
                differ = kept in told.different.get(place, _NOBODY)
                if kept in told.pinned and kept not in unit and not differ:
                    self._clashes[min(place, kept), max(place, kept)] = None
                continue
            if not told.differ(unit, kept):
                found.setdefault((unit[0], kept), {})[place] = similarity
        for (first, kept), members in found.items():
            most = max(members.values())
            best = self._best.get(first)
            if best is None or (-most, self.rank[kept]) < (-best.similarity, self.rank[best.kept]):
                self._best[first] = _Best(most, kept, members)

    def settle(self, place: int) -> None:
        """Decide on the unit of a document, all members of which were looked up.

        Other pinned documents of the unit stay open until it is their turn.
        """
        unit = self.told.unit(place)
        own = [one for one in unit if one < self._documents and self.is_open(one)]
        others = [one for one in unit if one >= self._documents]
        pinned = [one for one in own if one in self.told.pinned]
        best, members = self._best.pop(unit[0], None), dict[int, float]()
        if others:
            kept = others[0]
        elif pinned and self._within:
            kept = min(pinned, key=lambda one: int(self.rank[one]))
        elif best is not None:
            kept, members = best.kept, dict(best.members)
        elif self._within:
            kept = min(own, key=lambda one: int(self.rank[one]))
        else:
            self.known.decision[own] = KEPT
            return
        known = self.known
        for one in own:
            if one == kept or (one == place and one in self.told.pinned):
                known.decision[one] = KEPT
            elif one not in self.told.pinned:
                known.decision[one] = REMOVED
                known.kept_for[one] = kept
                known.similarity[one] = members.get(one, np.nan)

    def is_open(self, place: int) -> bool:
        return bool(self.known.decision[place] == OPEN)
