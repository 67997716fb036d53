"""What people have decided about the documents of a run, by places."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from neardup.decisions import Current, Decision, DecisionFile, Named
from neardup.runs.places import Places

UNDECIDED, PARTLY, COMPLETELY = range(3)
_OPINIONS = ("same", "different", "keep")

PlaceOf = Callable[[Named], int | None]


class Decided:
    """The decisions that hold, each with the places of its documents.

    A decision about a document whose content has changed since, or that the run does not have, is
    about another document, and left out.
    """

    def __init__(self, current: Current, place_of: PlaceOf) -> None:
        self.current = current
        self._by_place: dict[int, set[int]] = {}
        self._open: dict[str, NDArray[np.bool_]] = {}
        self._states: NDArray[np.int8] | None = None
        self._decisions: list[tuple[Decision, tuple[int, ...]]] = []
        for decision in current.decisions:
            found = [place_of(document) for document in decision.documents]
            places = tuple(place for place in found if place is not None)
            for place in places:
                self._by_place.setdefault(place, set()).add(len(self._decisions))
            self._decisions.append((decision, places))

    def of_pair(self, a: int, b: int) -> list[Decision]:
        """The decisions that name both documents, the latest last."""
        numbers = self._by_place.get(a, set()) & self._by_place.get(b, set())
        return [self._decisions[number][0] for number in sorted(numbers)]

    def is_done(self, a: int, b: int, by: str) -> bool:
        """Whether somebody has decided on two documents, or `by` has skipped them."""
        return any(
            decision.says in _OPINIONS or decision.by == by for decision in self.of_pair(a, b)
        )

    def open_items(self, a: Places, b: Places, by: str) -> NDArray[np.bool_]:
        """Which pairs of the queue are neither decided nor skipped by `by`; found once."""
        if by not in self._open:
            self._open[by] = self._still_open(a, b, by)
        return self._open[by]

    def _still_open(self, a: Places, b: Places, by: str) -> NDArray[np.bool_]:
        found = np.ones(len(a), np.bool_)
        named = np.fromiter(self._by_place, np.int64, len(self._by_place))
        rows = np.flatnonzero(np.isin(a, named) & np.isin(b, named))
        for row in rows.tolist():
            found[row] = not self.is_done(int(a[row]), int(b[row]), by)
        return found

    def clusters(self, cluster: NDArray[np.int32], size: NDArray[np.int32]) -> NDArray[np.int8]:
        """Whether clusters are undecided, partly or completely decided; found once.

        A member is decided on if a decision names it together with another one of its cluster.
        """
        if self._states is None:
            self._states = self._state_of(cluster, size)
        return self._states

    def _state_of(self, cluster: NDArray[np.int32], size: NDArray[np.int32]) -> NDArray[np.int8]:
        members: dict[int, set[int]] = {}
        for decision, places in self._decisions:
            if decision.says not in _OPINIONS:
                continue
            together: dict[int, list[int]] = {}
            for place in places:
                together.setdefault(int(cluster[place]), []).append(place)
            for number, some in together.items():
                if number >= 0 and len(some) > 1:
                    members.setdefault(number, set()).update(some)
        found = np.zeros(len(size), np.int8)
        for number, those in members.items():
            found[number] = COMPLETELY if len(those) >= size[number] else PARTLY
        return found


class DecidedNow:
    """What is decided now: made anew when the file of decisions has changed."""

    def __init__(self, file: DecisionFile, place_of: PlaceOf) -> None:
        self._file, self._place_of = file, place_of
        self._places: dict[Named, int | None] = {}
        self._latest: Decided | None = None
        self._mutex = threading.Lock()

    def __call__(self) -> Decided:
        current = self._file.current()
        with self._mutex:
            if self._latest is None or self._latest.current is not current:
                self._latest = Decided(current, self._place)
            return self._latest

    def _place(self, document: Named) -> int | None:
        if document not in self._places:
            self._places[document] = self._place_of(document)
        return self._places[document]
