"""Decisions of people, as a run obeys them: found in the collection, weighed, without conflicts."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_128_hexdigest

from neardup.collection.source import Source
from neardup.decisions import Decision, DecisionFile, Named
from neardup.decisions.current import opinion_of
from neardup.decisions.model import as_line
from neardup.decisions.rules import Said, Weighed, join_same, weighed
from neardup.deduplication.named_documents import NamedDocuments
from neardup.deduplication.removals import Both
from neardup.errors import InputError
from neardup.frozen import dataclass
from neardup.pairs.told import Told
from neardup.visible import visible

Places = NDArray[np.int64]
OBEYED = "obeyed.json"
MOST_LISTED = 20
_OBEYED = ("same", "different", "keep")


@dataclass(frozen=True, eq=False)
class Obeyed:
    """What a run obeys, by places, and what it could not.

    `deciders` are the reviewers who said that the documents of a unit are the same, by its first
    document. `names` are the ids of all special documents. `clashes` are pairs of pinned documents
    that the search has found to be similar.
    """

    file: str
    said: dict[str, int]
    told: Told
    deciders: dict[int, str]
    names: dict[int, str]
    obeyed: int
    stale: tuple[str, ...]
    conflicts: tuple[str, ...]
    clashes: tuple[tuple[int, int], ...] = ()

    def after(self, clashes: Places | None) -> Obeyed:
        """With what the search has found."""
        found = () if clashes is None else tuple((int(a), int(b)) for a, b in clashes.tolist())
        return replace(self, clashes=found)

    @cached_property
    def all_conflicts(self) -> tuple[str, ...]:
        """A sentence for each conflict."""
        return (
            *self.conflicts,
            *(
                f"{self.names[a]} and {self.names[b]} are near-duplicates, and both are to be "
                "kept; both are kept"
                for a, b in self.clashes
            ),
        )

    @property
    def summary(self) -> dict[str, Any]:
        """What `summary.json` says of decisions."""
        return {
            "file": self.file,
            **self.said,
            "obeyed": self.obeyed,
            "stale": list(self.stale[:MOST_LISTED]),
            "stale_count": len(self.stale),
            "conflicts": list(self.all_conflicts[:MOST_LISTED]),
            "conflict_count": len(self.all_conflicts),
        }

    def stored(self, documents: int, others: Callable[[int], Any]) -> dict[str, Any]:
        """All of it as plain values, for `obeyed.json`.

        A document of the other collection, whose places begin at `documents`, is stored by its id,
        which `others` tells, because a loaded result knows only some of them.
        """

        def named(place: int) -> Any:
            return place if place < documents else {"other": others(place)}

        told = self.told
        pairs = {(min(a, b), max(a, b)) for a, others in told.different.items() for b in others}
        return {
            "file": self.file,
            "said": self.said,
            "links": [[named(a), named(b)] for a, b in told.links],
            "different": [[named(a), named(b)] for a, b in sorted(pairs)],
            "pinned": sorted(told.pinned),
            "deciders": [[first, names] for first, names in self.deciders.items()],
            "names": [[named(place), name] for place, name in self.names.items()],
            "obeyed": self.obeyed,
            "stale": self.stale,
            "conflicts": self.conflicts,
            "clashes": self.clashes,
        }

    @classmethod
    def of_stored(cls, held: dict[str, Any], other: Callable[[Any], int | None]) -> Obeyed:
        """What `stored` returned; `other` tells the place of a document by its id, if it is known.

        Documents of the other collection that nothing was removed for are not known, and what is
        said of them has no effect.
        """

        def place_of(named: Any) -> int | None:
            return named if isinstance(named, int) else other(named["other"])

        links, different = (
            [(a, b) for a, b in (map(place_of, pair) for pair in held[name])]
            for name in ("links", "different")
        )
        enemies: dict[int, set[int]] = {}
        for a, b in different:
            if a is not None and b is not None:
                enemies.setdefault(a, set()).add(b)
                enemies.setdefault(b, set()).add(a)
        told = Told(
            tuple((a, b) for a, b in links if a is not None and b is not None),
            {place: frozenset(others) for place, others in enemies.items()},
            frozenset(held["pinned"]),
        )
        names = [(place_of(named), name) for named, name in held["names"]]
        return cls(
            held["file"],
            dict(held["said"]),
            told,
            dict(held["deciders"]),
            {place: name for place, name in names if place is not None},
            held["obeyed"],
            tuple(held["stale"]),
            tuple(held["conflicts"]),
            tuple((a, b) for a, b in held["clashes"]),
        )

    def decided_by(
        self, places: Places, partners: Places, below: NDArray[np.bool_]
    ) -> list[str | None]:
        """Who decided that documents are removed for their partners; None where similarity did.

        People did if the two are the same, or if they are not similar enough (`below`), but a
        document that is the same as one of them is.
        """
        units = self.told.units
        found: list[str | None] = []
        for place, partner, unproven in zip(
            places.tolist(), partners.tolist(), below.tolist(), strict=True
        ):
            unit = units.get(place) or units.get(partner)
            decided = unit is not None and (unproven or (place in unit and partner in unit))
            found.append(self.deciders[unit[0]] if decided and unit is not None else None)
        return found


@dataclass(frozen=True, eq=False)
class GivenDecisions:
    """The decisions that a run is to obey, as they are when it begins."""

    file: str
    decisions: tuple[Decision, ...]

    @property
    def fingerprint(self) -> str:
        """A hash of them, to tell whether a later run would obey the same."""
        return xxh3_128_hexdigest(b"".join(map(as_line, self.decisions)))


def given_decisions(decisions: str | os.PathLike[str] | DecisionFile) -> GivenDecisions:
    """What holds now in a file, or in that of a folder; `InputError` if there is none."""
    file = decisions if isinstance(decisions, DecisionFile) else DecisionFile.at(decisions)
    if not file.path.exists():
        raise InputError(f"there is no file of decisions at {file.path}")
    return GivenDecisions(os.fspath(file.path), file.current().decisions)


def obeyed_of(
    given: GivenDecisions, both: Both, source: Source, other_source: Source | None
) -> Obeyed:
    """Find the documents of the decisions in the collections, and weigh what is decided."""
    decisions = given.decisions
    named = list(dict.fromkeys(one for decision in decisions for one in decision.documents))
    own = [one for one in named if not one.other]
    places = NamedDocuments(both.left.ids, source).places_of(own)
    if both.right is not None and other_source is not None:
        others = [one for one in named if one.other]
        n = len(both.left)
        found = NamedDocuments(both.right.ids, other_source).places_of(others)
        places |= {one: n + place for one, place in found.items()}
    said, stale = _found(decisions, places)
    names = {place: _name(one) for one, place in reversed(places.items())}
    found_decisions = _Resolved(weighed(said), names, len(both.left))
    return Obeyed(
        given.file,
        {says: sum(one.says == says for one in decisions) for says in _OBEYED},
        found_decisions.told,
        found_decisions.deciders,
        names,
        len(found_decisions.obeyed),
        tuple(stale),
        tuple(found_decisions.conflicts),
    )


def _name(named: Named) -> str:
    return f"{named} of the other collection" if named.other else str(named)


def _found(
    decisions: Sequence[Decision], places: dict[Named, int]
) -> tuple[list[Said[int]], list[str]]:
    """The decisions by places, and a sentence for each that names a document that is gone."""
    said, stale = [], []
    for decision in decisions:
        documents = decision.documents
        gone = [one for one in documents if one not in places]
        keys = tuple(dict.fromkeys(places[one] for one in documents if one in places))
        lost = (
            documents[0] in gone if decision.says == "keep" else len(keys) < min(2, len(documents))
        )
        if not lost:
            said.append(Said(decision, keys))
        if gone and decision.says in _OBEYED:
            listed = ", ".join(map(_name, gone[:3])) + (" and others" if len(gone) > 3 else "")
            rest = "not obeyed" if lost else "obeyed for the other documents"
            what = f"{visible(decision.by) or 'nobody'} says {decision.says}"
            verb = "is" if len(gone) == 1 else "are"
            stale.append(f"{what}: {listed} {verb} no longer there with this content; {rest}")
    return said, stale


class _Resolved:
    """What holds at places, as far as it does not contradict itself."""

    def __init__(self, found: Weighed[int], names: dict[int, str], documents: int) -> None:
        self._names, self._documents = names, documents
        self.conflicts: list[str] = []
        self.obeyed: set[str] = set()
        for keys, decisions in found.contested:
            opinions = ", ".join(map(opinion_of, decisions))
            listed = " and ".join(names[key] for key in keys)
            self.conflicts.append(f"{listed}: reviewers disagree, neither is obeyed ({opinions})")
        self._enemies: dict[int, dict[int, Decision]] = {}
        for pair, decisions in found.different.items():
            a, b = sorted(pair)
            self.obeyed.update(one.key for one in decisions)
            if a < documents:  # documents of the other collection are kept anyhow
                self._enemies.setdefault(a, {})[b] = decisions[0]
                self._enemies.setdefault(b, {})[a] = decisions[0]
        self._links: list[tuple[int, int]] = []
        self._unit: dict[int, list[int]] = {}
        self._by: dict[int, list[str]] = {}  # by the identity of a unit
        self._left_out: set[tuple[str, int, int]] = set()
        join_same(found, self._join)
        pinned = {place: said for place, said in found.pinned.items() if place < documents}
        self.obeyed.update(one.key for said in found.pinned.values() for one in said)
        different = {place: frozenset(others) for place, others in self._enemies.items()}
        self.told = Told(tuple(self._links), different, frozenset(pinned))
        self.deciders = {
            min(unit): ", ".join(dict.fromkeys(self._by[id(unit)]))
            for unit in {id(unit): unit for unit in self._unit.values()}.values()
        }
        self._say_pinned()

    def _join(self, a: int, b: int, decision: Decision) -> bool:
        """Make two documents one unit, unless documents that differ would come together."""
        one, other = self._unit.get(a, [a]), self._unit.get(b, [b])
        if one is not other:
            violated = self._violated(one, other)
            if violated is not None:
                self._say_left_out(a, b, decision, *violated)
                return False
            self._links.append((a, b))
            deciders = [*self._by.pop(id(one), ()), *self._by.pop(id(other), ())]
            small, large = sorted((one, other), key=len)
            large += small
            for place in small:
                self._unit[place] = large
            self._unit.update(dict.fromkeys((a, b), large))
            self._by[id(large)] = deciders
            one = large
        self._by[id(one)].append(visible(decision.by) or "nobody")
        self.obeyed.add(decision.key)
        return True

    def _violated(self, one: list[int], other: list[int]) -> tuple[int, int] | None:
        small, large = sorted((one, other), key=len)
        inside = set(large)
        for place in small:
            for enemy in self._enemies.get(place, ()):
                if enemy in inside:
                    return place, enemy
        return None

    def _say_left_out(self, a: int, b: int, decision: Decision, x: int, y: int) -> None:
        x, y = min(x, y), max(x, y)
        if (decision.key, x, y) in self._left_out:
            return
        self._left_out.add((decision.key, x, y))
        names = self._names
        self.conflicts.append(
            f"{names[a]} and {names[b]}: {opinion_of(decision)}, but {names[x]} and {names[y]}, "
            f"which would be the same then, differ ({opinion_of(self._enemies[x][y])}); they are "
            "not joined"
        )

    def _say_pinned(self) -> None:
        """Pinned documents that are the same as others that are kept anyhow."""
        for place in sorted(self.told.pinned):
            others = [
                one
                for one in self.told.unit(place)
                if one >= self._documents or (one in self.told.pinned and one < place)
            ]
            for other in others[:1]:
                self.conflicts.append(
                    f"{self._names[other]} and {self._names[place]} are the same, and both are to "
                    "be kept; both are kept"
                )
