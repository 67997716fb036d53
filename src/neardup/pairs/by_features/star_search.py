"""The star join over whole collections: their features, counts, index and memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from neardup.collection.budget import Budget
from neardup.collection.collected import Collected
from neardup.collection.source import DocumentProgress
from neardup.kernels.star_join import (
    KEPT,
    OPEN,
    Decisions,
    DocumentCounts,
    StarJoin,
    StoredFeatures,
)
from neardup.pairs.by_features.exact_join import JoinSide, Measure, keep_possible
from neardup.pairs.told import Told, Units

Places = NDArray[np.int64]

# Documents between two reports of progress, at which a run can also be interrupted.
_AT_ONCE = 1 << 11
_PAIRS_AT_ONCE = 1 << 16
_MANY = 1 << 7
_NO_LIMIT = 1 << 62


class StarSearch:
    """A star join of one collection, or of two whose places run on from one to the other.

    Of each group of exact copies only the first document takes part, or those of `only`; of these
    the ones that can be in a pair are `possible`; `left_out` says whether others were looked for.
    With `across`, only pairs between the two collections count.
    """

    def __init__(
        self,
        collections: Sequence[Collected],
        measure: Measure,
        *,
        across: bool,
        memory: int,
        threads: int,
        only: Sequence[Places] | None = None,
    ) -> None:
        self.threads = threads
        budget = Budget(memory).work
        chosen = [one.firsts for one in collections] if only is None else only
        sides = [
            JoinSide.at(one.store, places) for one, places in zip(collections, chosen, strict=True)
        ]
        features = sum(side.features for side in sides)
        table = budget // 3
        self.left_out = across or features > table
        if self.left_out:
            keep_possible(sides, measure, memory=budget, threads=threads, across=across)
            features = sum(side.features for side in sides)
        counts = DocumentCounts(features, table)
        for side in sides:
            for where, part in side.store.parts():
                counts.see(part.arrays, side.wanted[where], threads=threads)
        counts.finish(threads=threads)
        stored = StoredFeatures(weighted=any(side.store.weighted for side in sides))
        for side in sides:
            side.store.add_to(stored)
        self.possible = np.flatnonzero(np.concatenate([side.wanted for side in sides]))
        self.join = StarJoin(
            stored,
            counts,
            measure=measure.name,
            threshold=measure.threshold,
            features=features,
            memory=budget - min(table, 2 * features),
        )

    def decide(
        self,
        decided: Places,
        looked_up: Places,
        known: Decisions,
        progress: DocumentProgress | None = None,
    ) -> None:
        """Decide on documents in this order, and look up others without deciding on them.

        Where the index is full before the last document, the rest is looked up in it, and decided
        on in another pass with an index of its own.
        """
        total, before = len(decided) + len(looked_up), 0
        while True:
            done = self._pass(decided, known, progress, before, total)
            before, decided = before + done, decided[done:]
            rest = np.concatenate((decided, looked_up))
            for start in range(0, len(rest), _AT_ONCE):
                self.join.look_up(rest[start : start + _AT_ONCE], known, threads=self.threads)
                if progress is not None and not len(decided):
                    progress(before + min(start + _AT_ONCE, len(rest)), total)
            if not len(decided):
                return
            self.join.clear()

    def pairs_between(
        self, indexed: Places, looked_up: Places
    ) -> Iterator[tuple[Places, Places, NDArray[np.float64]]]:
        """The pairs of indexed documents with others, as columns a < b and similarity."""
        while len(indexed):
            done, *_ = self.join.pairs(
                indexed, search=False, insert=True, most=_NO_LIMIT, threads=self.threads
            )
            indexed, rest = indexed[done:], looked_up
            while len(rest):
                now, a, b, similarity = self.join.pairs(
                    rest[:_AT_ONCE],
                    search=True,
                    insert=False,
                    most=_PAIRS_AT_ONCE,
                    threads=self.threads,
                )
                yield a, b, similarity
                rest = rest[now:]
            self.join.clear()

    def decide_told(
        self,
        decided: Places,
        looked_up: Places,
        known: Decisions,
        units: Units,
        progress: DocumentProgress | None = None,
    ) -> None:
        """As `decide`, and obey what people have decided about special documents.

        The join decides on runs of ordinary documents. At the turn of a special one, its unit is
        looked up among the kept ones; what was found in earlier passes is remembered.
        """
        total, before = len(decided) + len(looked_up), 0
        is_special = np.zeros(len(known.copy_of), np.bool_)
        is_special[units.told.special] = True
        while True:
            done = self._told_pass(decided, known, units, is_special, progress, before, total)
            before, decided = before + done, decided[done:]
            rest = np.concatenate((decided, looked_up))
            ordinary = rest[~is_special[rest]]
            for start in range(0, len(ordinary), _AT_ONCE):
                self.join.look_up(ordinary[start : start + _AT_ONCE], known, threads=self.threads)
            if not len(decided):
                # The last pass: nothing is decided after these have been looked up.
                special = looked_up[is_special[looked_up]]
                self._note(special[known.decision[special] == OPEN], known, units)
                for place in special.tolist():
                    if units.is_open(place):
                        units.settle(place)
                if progress is not None and total:
                    progress(total, total)
                return
            special = rest[is_special[rest]]
            self._note(special[known.decision[special] == OPEN], known, units)
            self.join.clear()

    def _told_pass(
        self,
        places: Places,
        known: Decisions,
        units: Units,
        is_special: NDArray[np.bool_],
        progress: DocumentProgress | None,
        before: int,
        total: int,
    ) -> int:
        """Decide on documents until the index is full; how many were decided on."""
        turns = np.flatnonzero(is_special[places])
        done = 0
        while done < len(places):
            following = int(np.searchsorted(turns, done))
            until = int(turns[following]) if following < len(turns) else len(places)
            if until == done:
                if not self._settle(int(places[done]), known, units):
                    break
                done += 1
                continue
            some = places[done : min(until, done + _AT_ONCE)]
            now = self.join.decide(some, known, threads=self._threads_for(some))
            done += now
            if progress is not None:
                progress(before + done, total)
            if now < len(some):
                break
        return done

    def _settle(self, place: int, known: Decisions, units: Units) -> bool:
        """Decide on a special document; whether there was room for it if it is kept."""
        if units.is_open(place):
            unit = np.array(units.told.unit(place), np.int64)
            self._note(unit[known.decision[unit] == OPEN], known, units)
            units.settle(place)
        if known.decision[place] != KEPT:
            return True
        return self.join.decide(np.array([place], np.int64), known) == 1

    def _threads_for(self, places: Places) -> int:
        """One for a few documents, because starting others would take longer."""
        return self.threads if len(places) >= _MANY else 1

    def _note(self, places: Places, known: Decisions, units: Units) -> None:
        """Look up special documents that are open."""
        while len(places):
            done, a, b, similarity = self.join.pairs(
                places,
                search=True,
                insert=False,
                most=_PAIRS_AT_ONCE,
                threads=self._threads_for(places),
            )
            # Those in the index are kept.
            kept_a = known.decision[a] == KEPT
            place, kept = np.where(kept_a, b, a), np.where(kept_a, a, b)
            units.note(zip(place.tolist(), kept.tolist(), similarity.tolist(), strict=True))
            places = places[done:]

    def _pass(
        self,
        places: Places,
        known: Decisions,
        progress: DocumentProgress | None,
        before: int,
        total: int,
    ) -> int:
        """Decide on documents until the index is full; how many were decided on."""
        done = 0
        while done < len(places):
            some = places[done : done + _AT_ONCE]
            now = self.join.decide(some, known, threads=self.threads)
            done += now
            if progress is not None:
                progress(before + done, total)
            if now < len(some):
                break
        return done


def known_copies(
    left: Collected, right: Collected | None, order: Places, told: Told | None = None
) -> Decisions:
    """The documents of both collections, all open; `order` are the places of `left` in keep order.

    The documents of `right` are kept. Those of `told` are no longer copies of others.
    """
    others = 0 if right is None else len(right)
    copy_of = np.arange(len(left) + others, dtype=np.int64)
    if len(left.copies.firsts) < len(left.filled):
        copy_of[left.filled] = _first_copies(left, order)
        if told is not None:
            told.leave_copies(copy_of[: len(left)], order)
    known = Decisions.none(copy_of)
    known.decision[len(left) :] = KEPT
    return known


def _first_copies(left: Collected, order: Places) -> Places:
    """For each document that is not empty the first in keep order with the same features."""
    group = np.full(len(left), -1, np.int64)
    group[left.filled] = left.copies.group_of
    filled = order[group[order] >= 0][::-1]
    first = np.empty(len(left.copies.firsts), np.int64)
    first[group[filled]] = filled  # the last one assigned is the first in keep order
    return np.asarray(first[left.copies.group_of])
