"""The search for pairs: by the exact join, or by candidates that are then verified."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from neardup.collection.budget import Budget
from neardup.collection.collected import Collected
from neardup.collection.settings import DedupSettings
from neardup.fingerprints import hamming
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.frozen import dataclass
from neardup.kernels.hamming_join import RowPairs
from neardup.kernels.set_join import TooManyPairsError, TooManyPostingsError
from neardup.pairs.by_features.exact_join import JoinSide, Measure, join_chosen, keep_possible
from neardup.pairs.by_features.verify import AcceptedPairs, Searched, TrueSimilarity
from neardup.pairs.choose import (
    Bands,
    Work,
    cheapest_bands,
    curve_of,
    joins_features,
    least_cosine,
    most_postings,
    plan_for,
    search_distance,
)
from neardup.settings import EXACT

# Plans are imported where they are used: the exact join needs none of them.
if TYPE_CHECKING:
    from neardup.pairs.by_fingerprints import Plan
    from neardup.pairs.by_fingerprints.rows import FingerprintSide as RowSide, Rows

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FoundPairs:
    """The accepted pairs of documents, by place (a < b, in order), and how they were found.

    `false_by_distance` counts the rejected candidates by their distance. `curve` is the chance of
    being found, by similarity: empty if every pair is found, None if unknown.
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


def search(
    collections: Sequence[Collected],
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
    *,
    most_pairs: int | None = None,
) -> FoundPairs:
    """Every accepted pair within a collection, or between two.

    More than `most_pairs` of a plan raise `TooManyPairsError`; without it, more than the memory
    has room for raise `NeardupError`.
    """
    left, right = collections[0], collections[1] if len(collections) > 1 else None
    if joins_features(settings):
        return find_by_features(left, right, fingerprinter, settings)
    if settings.is_scored:
        return _scored(left, right, fingerprinter, settings)
    n = sum(len(one.copies.firsts) for one in collections)
    plan, reason = plan_for(n, settings)
    return find_by_plan(left, right, fingerprinter, plan, reason, settings, most_pairs)


def search_both(
    left: Collected,
    right: Collected | None,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
    *,
    within: bool = True,
    most_pairs: int | None = None,
) -> FoundPairs:
    """Every accepted pair with `right` and, with `within` or without `right`, within `left`.

    Places run on through `right`; see `search` for the rest.
    """
    if right is None:
        return search([left], fingerprinter, settings, most_pairs=most_pairs)
    between = search([left, right], fingerprinter, settings, most_pairs=most_pairs)
    between = replace(between, b=between.b + len(left))
    if not within:
        return between
    own = search([left], fingerprinter, settings, most_pairs=most_pairs)
    a, b = np.concatenate((own.a, between.a)), np.concatenate((own.b, between.b))
    rows = np.lexsort((b, a))
    return replace(
        own,
        a=a[rows],
        b=b[rows],
        distance=np.concatenate((own.distance, between.distance))[rows],
        similarity=np.concatenate((own.similarity, between.similarity))[rows],
        candidates=own.candidates + between.candidates,
        false_by_distance=own.false_by_distance + between.false_by_distance,
    )


def _scored(
    left: Collected,
    right: Collected | None,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
) -> FoundPairs:
    """Pairs by a scorer of the columns of documents."""
    from neardup.pairs.by_score import find_by_score

    found = find_by_score(left, right, fingerprinter, settings)
    return FoundPairs(
        found.a,
        found.b,
        found.distance,
        found.similarity,
        found.candidates,
        np.zeros(fingerprinter.scheme.bits + 1, np.int64),
        settings.similarity,
        found.promise,
    )


def find_by_features(
    left: Collected,
    right: Collected | None,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
) -> FoundPairs:
    """Every pair at or above the threshold, by the exact join on features.

    If `candidates` is `auto` and bands of fingerprints are far faster, they are used instead.
    """
    sides = [JoinSide.at(side.store, side.firsts) for side in (left, right) if side is not None]
    measure = Measure(settings.similarity, settings.threshold)
    budget = Budget(settings.memory)
    keep_possible(
        sides,
        measure,
        memory=budget.work,
        threads=fingerprinter.threads,
        across=right is not None,
    )
    work = min(budget.work, sum(side.join_bytes for side in sides))
    most_pairs = budget.pairs(work + sum(side.store.held_bytes for side in sides))
    bands, limit = None, None
    if settings.candidates != EXACT and not settings.is_containment:
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
        distances(
            left.rows_at(found.a, fingerprinter), (right or left).rows_at(found.b, fingerprinter)
        ),
        found.similarity,
        found.compared,
        np.zeros(fingerprinter.scheme.bits + 1, np.int64),
        EXACT,
        "exact: a join on the features finds every pair",
    )


def _found_by_bands(
    left: Collected,
    right: Collected | None,
    sides: Sequence[JoinSide],
    bands: Bands,
    postings: int,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
) -> FoundPairs:
    """Pairs by bands, on wide fingerprints made of the features."""
    from neardup.pairs.by_fingerprints import plan_of
    from neardup.pairs.by_fingerprints.rows import FingerprintSide as RowSide, Rows

    plan = plan_of(bands.name, bands.bits)
    scheme = replace(fingerprinter.scheme, bits=bands.bits, projection=None)
    wide = replace(fingerprinter, scheme=scheme)
    places = [np.flatnonzero(side.wanted) for side in sides]
    rows = [
        RowSide(Rows(side.store.rows(wide, some), bands.bits), some)
        for side, some in zip(sides, places, strict=True)
    ]
    reason = (
        f"{plan} on {bands.bits} bits: finds {plan.recall(least_cosine(settings)):.3f} of the "
        f"pairs at the threshold; the exact join, with {postings:,} postings, would take far "
        "longer"
    )
    # The distance of a pair is that of the fingerprints asked for, not of the wide ones.
    narrow = [
        side.store.rows(fingerprinter, some) for side, some in zip(sides, places, strict=True)
    ]

    def narrow_distances(pairs: RowPairs) -> NDArray[np.uint16]:
        a, b = np.searchsorted(places[0], pairs.a), np.searchsorted(places[-1], pairs.b)
        return distances(narrow[0][a], narrow[-1][b])

    found = _accepted(left, right, rows, plan, fingerprinter, settings, narrow_distances)
    return _found_pairs(found, plan, reason, settings, sum(map(len, places)))


def find_by_plan(
    left: Collected,
    right: Collected | None,
    fingerprinter: Fingerprinter,
    plan: Plan,
    reason: str,
    settings: DedupSettings,
    most_pairs: int | None = None,
) -> FoundPairs:
    """Candidates by a plan on fingerprints, verified by their true similarity."""
    from neardup.pairs.by_fingerprints.rows import FingerprintSide as RowSide

    rows = [
        RowSide(_first_rows(side, plan.bits), side.firsts)
        for side in (left, right)
        if side is not None
    ]
    found = _accepted(
        left, right, rows, plan, fingerprinter, settings, lambda pairs: pairs.distance, most_pairs
    )
    return _found_pairs(found, plan, reason, settings, len(left.copies.firsts))


def _first_rows(collected: Collected, bits: int) -> Rows:
    """The fingerprints of the first document of each group of copies."""
    from neardup.pairs.by_fingerprints.rows import Rows

    firsts = collected.firsts
    return Rows(np.ascontiguousarray(collected.rows[0][firsts]), bits, collected.words[firsts])


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
    left: Collected,
    right: Collected | None,
    rows: Sequence[RowSide],
    plan: Plan,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
    distances_of: Callable[[RowPairs], NDArray[np.uint16]],
    most_pairs: int | None = None,
) -> AcceptedPairs:
    """Verify the candidates of a plan, some at a time, and keep the true ones."""
    from neardup.pairs.by_fingerprints.passes import Passes
    from neardup.pairs.by_fingerprints.rows import GroupedSide

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
    room = budget.pairs(used)
    most = room if most_pairs is None else min(room, most_pairs)
    accepted = AcceptedPairs(most, fingerprinter.scheme.bits)
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
        if most_pairs is not None:
            raise
        raise budget.too_many_pairs(accepted.most, settings.limit) from None
    return accepted


def distances(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """How many bits differ, row by row."""
    return np.asarray(hamming(a, b), np.uint16) if len(a) else np.zeros(0, np.uint16)
