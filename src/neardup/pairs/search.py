"""Candidates and their true similarity: every accepted pair was computed on the features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from neardup.collection.budget import Budget
from neardup.collection.collected import Collected
from neardup.collection.feature_store import FeatureStore
from neardup.collection.settings import EXACT, DedupSettings
from neardup.fingerprints import hamming
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.kernels.hamming_join import RowPairs
from neardup.kernels.set_join import TooManyPairsError, TooManyPostingsError
from neardup.pairs.by_features.exact_join import JoinSide, Measure, join_chosen, keep_possible
from neardup.pairs.by_features.verify import AcceptedPairs, Searched, TrueSimilarity
from neardup.pairs.by_fingerprints import Plan, plan_of
from neardup.pairs.by_fingerprints.passes import Passes
from neardup.pairs.by_fingerprints.rows import FingerprintSide as RowSide, GroupedSide, Rows
from neardup.pairs.choose import (
    Bands,
    Work,
    cheapest_bands,
    curve_of,
    least_cosine,
    most_postings,
    search_distance,
)

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FoundPairs:
    """The accepted pairs of documents, by place (a < b, in order), and how they were found.

    `false_by_distance` counts the candidates that were refused, by their distance.
    `curve` is the chance to be found by similarity: nothing where every pair is, None if unknown.
    """

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    distance: NDArray[np.uint16]
    similarity: NDArray[np.float64]
    candidates: int
    false_by_distance: NDArray[np.int64]
    plan: str
    reason: str
    curve: tuple[tuple[float, float], ...] | None = ()


@dataclass(frozen=True, eq=False)
class SearchSide:
    """A collection that is searched."""

    collected: Collected

    @property
    def store(self) -> FeatureStore:
        """The features of all its documents."""
        if self.collected.features is None:
            raise ValueError("a similarity of features needs them")
        return self.collected.features

    def release_features(self) -> None:
        """Give up the features, which clusters and outputs do not need."""
        if self.collected.features is not None:
            self.collected.features.release()

    def fingerprints(self, bits: int) -> Rows:
        """Those of the first document of each kind."""
        firsts = self.collected.firsts
        if self.collected.rows is None:
            raise ValueError("a search by fingerprints needs them")
        rows = np.ascontiguousarray(self.collected.rows[firsts])
        return Rows(rows, bits, self.collected.words[firsts])

    def rows(self, fingerprinter: Fingerprinter, places: Places) -> NDArray[np.uint64]:
        """The fingerprints of some documents."""
        if self.collected.rows is not None:
            return np.asarray(self.collected.rows[places])
        some, numbers = np.unique(places, return_inverse=True)
        return np.asarray(_rows_at(self.store, fingerprinter, some)[numbers])


def find_by_features(
    left: SearchSide,
    right: SearchSide | None,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
) -> FoundPairs:
    """Every pair of the wanted similarity, by a join on the features themselves.

    Where `candidates` is `auto` and bands of fingerprints are far quicker, by those.
    """
    sides = [
        JoinSide.at(side.store, side.collected.firsts) for side in (left, right) if side is not None
    ]
    measure = Measure(settings.similarity, settings.threshold)
    budget = Budget(settings.memory)
    keep_possible(sides, measure, memory=budget.work, threads=fingerprinter.threads)
    work = min(budget.work, sum(side.join_bytes for side in sides))
    most_pairs = budget.pairs(work + sum(side.store.held_bytes for side in sides))
    bands, limit = None, None
    if settings.candidates != EXACT:
        work_to_do = Work(
            sum(int(side.wanted.sum()) for side in sides),
            sum(side.features for side in sides),
            weighted=not fingerprinter.scheme.are_sets,
        )
        bands = cheapest_bands(work_to_do, settings)
        limit = most_postings(work_to_do, bands, budget.work)
    try:
        found = join_chosen(
            sides[0],
            None if right is None else sides[1],
            measure,
            memory=budget.work,
            most_postings=limit,
            most_pairs=most_pairs,
            threads=fingerprinter.threads,
        )
    except TooManyPostingsError as error:
        if bands is None:
            raise  # without bands there is no limit
        return _found_by_bands(left, right, sides, bands, error.postings, fingerprinter, settings)
    except TooManyPairsError:
        raise budget.too_many_pairs(most_pairs, settings.limit) from None
    return FoundPairs(
        found.a,
        found.b,
        distances(left.rows(fingerprinter, found.a), (right or left).rows(fingerprinter, found.b)),
        found.similarity,
        found.compared,
        np.zeros(fingerprinter.scheme.bits + 1, np.int64),
        EXACT,
        "exact: a join on the features finds every pair",
    )


def _found_by_bands(
    left: SearchSide,
    right: SearchSide | None,
    sides: Sequence[JoinSide],
    bands: Bands,
    postings: int,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
) -> FoundPairs:
    """By fingerprints as wide as the bands need, which the features give at once."""
    plan = plan_of(bands.name, bands.bits)
    scheme = replace(fingerprinter.scheme, bits=bands.bits, projection=None)
    wide = replace(fingerprinter, scheme=scheme)
    places = [np.flatnonzero(side.wanted) for side in sides]
    rows = [
        RowSide(Rows(_rows_at(side.store, wide, some), bands.bits), some)
        for side, some in zip(sides, places, strict=True)
    ]
    reason = (
        f"{plan} on {bands.bits} bits: finds {plan.recall(least_cosine(settings)):.3f} of the "
        f"pairs at the threshold; a join on the features, with {postings:,} postings to look at, "
        "would take far longer"
    )
    # The distance of a pair is that of the fingerprints asked for, not of the wide ones.
    narrow = [
        _rows_at(side.store, fingerprinter, some) for side, some in zip(sides, places, strict=True)
    ]

    def narrow_distances(pairs: RowPairs) -> NDArray[np.uint16]:
        a, b = np.searchsorted(places[0], pairs.a), np.searchsorted(places[-1], pairs.b)
        return distances(narrow[0][a], narrow[-1][b])

    found = _accepted(left, right, rows, plan, fingerprinter, settings, narrow_distances)
    return _found_pairs(found, plan, reason, settings, sum(map(len, places)))


def _rows_at(
    store: FeatureStore, fingerprinter: Fingerprinter, places: Places
) -> NDArray[np.uint64]:
    """The fingerprints of documents at these places, which ascend, batch by batch."""
    rows = [np.zeros((0, -(-fingerprinter.scheme.bits // 64)), np.uint64)]
    for where, part in store.parts():
        begin, end = np.searchsorted(places, [where.start, where.stop])
        if begin < end:
            rows.append(fingerprinter.rows_of_features(part.take(places[begin:end] - where.start)))
    return np.concatenate(rows)


def find_by_plan(
    left: SearchSide,
    right: SearchSide | None,
    fingerprinter: Fingerprinter,
    plan: Plan,
    reason: str,
    settings: DedupSettings,
) -> FoundPairs:
    """Candidates by their fingerprints, then their true similarity."""
    rows = [
        RowSide(side.fingerprints(plan.bits), side.collected.firsts)
        for side in (left, right)
        if side is not None
    ]
    found = _accepted(
        left, right, rows, plan, fingerprinter, settings, lambda pairs: pairs.distance
    )
    return _found_pairs(found, plan, reason, settings, len(left.collected.copies.firsts))


def _found_pairs(
    found: AcceptedPairs, plan: Plan, reason: str, settings: DedupSettings, documents: int
) -> FoundPairs:
    return FoundPairs(
        *found.together(),
        found.candidates,
        found.false_by_distance,
        plan.name,
        reason,
        curve_of(plan, documents, settings.similarity),
    )


def _accepted(
    left: SearchSide,
    right: SearchSide | None,
    rows: Sequence[RowSide],
    plan: Plan,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
    distances_of: Callable[[RowPairs], NDArray[np.uint16]],
) -> AcceptedPairs:
    """Go through the candidates of a plan, some at a time, and keep those that hold."""
    budget = Budget(settings.memory)
    sides = [side for side in (left, right) if side is not None]
    grouped = [GroupedSide.of(side, plan.needs_words, fingerprinter.threads) for side in rows]
    passes = Passes(
        plan,
        grouped[0],
        grouped[1] if len(grouped) > 1 else None,
        search_distance(plan.bits, settings),
        fingerprinter.threads,
        budget.work // 2,
    )
    true: TrueSimilarity | None = None
    used = budget.work
    if settings.similarity != "hamming":
        used += sum(side.store.held_bytes for side in sides)
        searched = [Searched(side.store, one.places) for side, one in zip(sides, rows, strict=True)]
        true = TrueSimilarity(
            searched, settings.similarity, budget.work // 2, fingerprinter.threads
        )
    accepted = AcceptedPairs(budget.pairs(used), fingerprinter.scheme.bits)
    try:
        for pairs in passes:
            if true is None:
                similarity = 1 - pairs.distance / plan.bits
                holds = np.ones(len(pairs), np.bool_)
            else:
                similarity = true.of(pairs.a, pairs.b)
                holds = similarity >= settings.threshold
            accepted.add(RowPairs(pairs.a, pairs.b, distances_of(pairs)), similarity, holds)
    except TooManyPairsError:
        raise budget.too_many_pairs(accepted.most, settings.limit) from None
    return accepted


def distances(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """How many bits differ, row by row."""
    return np.asarray(hamming(a, b), np.uint16) if len(a) else np.zeros(0, np.uint16)
