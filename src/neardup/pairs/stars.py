"""The star search: for each document the most similar kept one, without listing all pairs.

Documents are visited in keep order. A document that is similar to a kept one is removed; any other
is kept. So every removal is proven, and no two kept documents are similar.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from neardup.collection.collected import Collected
from neardup.collection.settings import DedupSettings
from neardup.collection.source import DocumentProgress
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.frozen import dataclass
from neardup.kernels import thread_count
from neardup.kernels.hamming_join import TooManyPairsError, hamming_stars
from neardup.kernels.star_join import (
    KEPT,
    OPEN,
    REMOVED,
    Decisions,
    stars_of_pairs as decide_by_pairs,
)
from neardup.pairs.by_features.exact_join import Measure
from neardup.pairs.by_features.star_search import StarSearch, known_copies
from neardup.pairs.choose import curve_of, joins_features, plan_for
from neardup.pairs.search import FoundPairs, search_both
from neardup.pairs.told import Told, Units
from neardup.pairs.told_stars import ToldStars
from neardup.settings import EXACT

if TYPE_CHECKING:
    from neardup.pairs.by_fingerprints import Plan

Places = NDArray[np.int64]

# Up to so many pairs, listing all of them is the faster way to the stars of fingerprints.
_PAIRS_OF_EACH, _FEW_PAIRS = 4, 1 << 18


@dataclass(frozen=True, eq=False)
class Stars:
    """For each document of a collection the kept one that it duplicates, and their similarity.

    `kept_for` is a place. Places go on through the other collection, if there is one: its first
    document has the place `len(kept_for)`. A kept document has its own place, and the similarity
    NaN. `pairs` has all accepted pairs where the search has found them anyhow, else it is None.
    """

    kept_for: Places
    similarity: NDArray[np.float64]
    candidates: int
    false_by_distance: NDArray[np.int64]
    plan: str
    reason: str
    curve: tuple[tuple[float, float], ...] | None = ()
    pairs: FoundPairs | None = None
    clashes: Places | None = None  # pairs of pinned documents that are similar, if any was told of


@dataclass(frozen=True, eq=False)
class Before:
    """The most similar document of another collection, for those that have one at the threshold.

    `places` are of the first of each group of copies, in the input; `kept_for` go on through the
    other collection.
    """

    places: Places
    kept_for: Places
    similarity: NDArray[np.float64]


def stars_after(
    left: Collected,
    right: Collected,
    before: Before,
    order: Places,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
    *,
    within: bool,
    progress: DocumentProgress | None = None,
) -> Stars:
    """The stars of `left` if its documents were compared with `right` already.

    All documents of `right` are kept and come first.
    """
    if not within:
        known = _known_before(left, before, order)
        none = np.zeros(fingerprinter.scheme.bits + 1, np.int64)
        return Stars(*_of_left(known, len(left)), len(before.places), none, EXACT, "")
    if joins_features(settings):
        return _by_features(left, None, order, fingerprinter, settings, True, progress, before)
    found = search_both(left, None, fingerprinter, settings)
    a, b = np.concatenate((found.a, before.places)), np.concatenate((found.b, before.kept_for))
    similarity = np.concatenate((found.similarity, before.similarity))
    merged = replace(found, a=a, b=b, similarity=similarity)
    kept_for, similarity, _ = stars_of_pairs(left, right, merged, order)
    return Stars(
        kept_for,
        similarity,
        found.candidates + len(before.places),
        found.false_by_distance,
        found.plan,
        found.reason,
        found.curve,
        found,
    )


def _known_before(left: Collected, before: Before, order: Places) -> Decisions:
    known = known_copies(left, None, order)
    first_in_order = known.copy_of[before.places]
    known.kept_for[first_in_order] = before.kept_for
    known.similarity[first_in_order] = before.similarity
    return known


def find_stars(
    left: Collected,
    right: Collected | None,
    order: Places,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
    *,
    within: bool = True,
    progress: DocumentProgress | None = None,
    told: Told | None = None,
) -> Stars:
    """The stars of `left`, whose places are in keep order in `order`.

    All documents of `right` are kept and come first. Without `within`, the documents of `left`
    are compared with those of `right` only. What people have decided (`told`) is obeyed: documents
    that are removed for one that they were not found to be similar to have the similarity NaN.
    """
    if joins_features(settings):
        return _by_features(
            left, right, order, fingerprinter, settings, within, progress, told=told
        )
    if settings.is_scored:
        found = search_both(left, right, fingerprinter, settings, within=within)
        return _by_pairs(left, right, found, order, within, told)
    from neardup.pairs.by_fingerprints import MaskPlan

    plan, reason = plan_for(len(left.copies.firsts), settings)
    masks = plan.mask_rows() if isinstance(plan, MaskPlan) else None
    few = None
    if settings.similarity == "hamming" and (masks is not None or plan.is_exact) and told is None:
        # The join of all pairs is faster, unless most documents are in many pairs.
        few = _PAIRS_OF_EACH * len(left) + _FEW_PAIRS
    try:
        found = search_both(left, right, fingerprinter, settings, within=within, most_pairs=few)
    except TooManyPairsError:
        if few is None:
            raise
        return _by_rows(left, right, order, plan, masks, reason, settings, within, progress)
    return _by_pairs(left, right, found, order, within, told)


def _by_pairs(
    left: Collected,
    right: Collected | None,
    found: FoundPairs,
    order: Places,
    within: bool,
    told: Told | None,
) -> Stars:
    kept_for, similarity, clashes = stars_of_pairs(
        left, right, found, order, within=within, told=told
    )
    return Stars(
        kept_for,
        similarity,
        found.candidates,
        found.false_by_distance,
        found.plan,
        found.reason,
        found.curve,
        found,
        clashes,
    )


def _by_rows(
    left: Collected,
    right: Collected | None,
    order: Places,
    plan: Plan,
    masks: NDArray[np.uint64] | None,
    reason: str,
    settings: DedupSettings,
    within: bool,
    progress: DocumentProgress | None,
) -> Stars:
    """By the star search on fingerprints: linear where many documents are alike."""
    bits = settings.scheme.bits
    found = hamming_stars(
        left.rows[0],
        order[left.words[order] > 0],
        None if right is None else right.rows[0][right.firsts],
        bits=bits,
        distance=int(settings.threshold),
        masks=masks,
        within=right is None or within,
        threads=thread_count(settings.threads),
        progress=progress,
    )
    kept_for = found.kept_for
    if right is not None:
        given = kept_for >= len(left)
        kept_for[given] = len(left) + right.firsts[kept_for[given] - len(left)]
    removed = kept_for != np.arange(len(left))
    return Stars(
        kept_for,
        np.where(removed, 1 - found.distance / bits, np.nan),
        int(removed.sum()),
        np.zeros(bits + 1, np.int64),
        plan.name,
        reason,
        curve_of(plan, len(left.copies.firsts), settings.similarity),
    )


def _by_features(
    left: Collected,
    right: Collected | None,
    order: Places,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
    within: bool,
    progress: DocumentProgress | None,
    before: Before | None = None,
    told: Told | None = None,
) -> Stars:
    """Complete, by the star join on features."""
    sides = [left] if right is None else [left, right]
    only = None
    if told is not None:
        begins = (0, len(left))
        only = [
            np.union1d(side.firsts, _beside_copies(side, told.special - begin))
            for side, begin in zip(sides, begins, strict=False)
        ]
    search = StarSearch(
        sides,
        Measure(settings.similarity, settings.threshold),
        across=right is not None and not within,
        memory=settings.memory,
        threads=fingerprinter.threads,
        only=only,
    )
    if before is None:
        known = known_copies(left, right, order, told)
    else:
        known = _known_before(left, before, order)
    takes_part = left.words > 0
    if told is not None:
        order = told.order(order)
        takes_part[told.special[told.special < len(left)]] = True
    own = order[takes_part[order]]
    given = np.zeros(0, np.int64)
    if right is not None or search.left_out:
        possible = np.zeros(len(known.copy_of), np.bool_)
        possible[search.possible] = True
        given = np.flatnonzero(possible[len(left) :]) + len(left)
    if told is not None and right is not None:
        given = np.union1d(given, len(left) + _beside_copies(right, told.special - len(left)))
    if search.left_out:
        # `possible` speaks of the first copy in the input, `copy_of` names the first in keep order.
        possible[left.filled] = possible[left.firsts[left.copies.group_of]]
        if told is not None:  # an exact copy of such a document can be similar to it
            possible[told.special] = True
            possible[_copies_of(left, told.special)] = True
        is_first = known.copy_of[own] == own
        anyhow = own[is_first & ~possible[own]]
        known.decision[anyhow] = np.where(known.kept_for[anyhow] == anyhow, KEPT, REMOVED)
        own = own[~is_first | possible[own]]
    decided, looked_up = np.concatenate((given, own)), own[:0]
    if right is not None and not within:
        decided, looked_up = given, own
    units = None
    if told is None:
        search.decide(decided, looked_up, known, progress)
    else:
        rank = _turns(len(left), len(known.copy_of), order)
        units = Units(told, known, rank, len(left), within=right is None or within)
        search.decide_told(decided, looked_up, known, units, progress)
    kept_for, similarity = _of_left(known, len(left))
    return Stars(
        kept_for,
        similarity,
        search.join.compared,
        np.zeros(fingerprinter.scheme.bits + 1, np.int64),
        EXACT,
        "exact: each document is looked up by its features among the kept ones; none is missed",
        clashes=None if units is None else units.clashes,
    )


def _turns(documents: int, count: int, order: Places) -> Places:
    """The turn of each place: first those of the other collection, then those of `order`."""
    rank = np.empty(count, np.int64)
    rank[np.concatenate((np.arange(documents, count), order))] = np.arange(count)
    return rank


def _copies_of(collected: Collected, places: Places) -> Places:
    """The places of all exact copies of some documents, of those that are not empty."""
    group = np.full(len(collected), -1, np.int64)
    group[collected.filled] = collected.copies.group_of
    inside = places[(places >= 0) & (places < len(collected))]
    wanted = np.zeros(len(collected.copies.firsts), np.bool_)
    wanted[group[inside][group[inside] >= 0]] = True
    return np.asarray(collected.filled[wanted[collected.copies.group_of]])


def _beside_copies(collected: Collected, places: Places) -> Places:
    """Some documents that are no longer copies, and the first of the other copies of each."""
    inside = places[(places >= 0) & (places < len(collected))]
    inside = inside[collected.words[inside] > 0]
    others = np.setdiff1d(_copies_of(collected, inside), inside)
    group = np.full(len(collected), -1, np.int64)
    group[collected.filled] = collected.copies.group_of
    _, firsts = np.unique(group[others], return_index=True)
    return np.union1d(inside, others[firsts])


def _of_left(known: Decisions, count: int) -> tuple[Places, NDArray[np.float64]]:
    """What was found for the documents of `left`; copies that are still open follow the first."""
    kept_for, similarity = known.kept_for[:count].copy(), known.similarity[:count].copy()
    still_open = np.flatnonzero(known.decision[:count] == OPEN)
    first = known.copy_of[still_open]
    follows = known.kept_for[first] != first
    kept_for[still_open[follows]] = known.kept_for[first[follows]]
    similarity[still_open[follows]] = known.similarity[first[follows]]
    return kept_for, similarity


def stars_of_pairs(
    left: Collected,
    right: Collected | None,
    found: FoundPairs,
    order: Places,
    *,
    within: bool = True,
    told: Told | None = None,
) -> tuple[Places, NDArray[np.float64], Places | None]:
    """The stars that all accepted pairs make: `kept_for`, `similarity` and `clashes` of `Stars`.

    Places run on through `right`, in the pairs too.
    """
    known = known_copies(left, right, order)
    own = order[left.words[order] > 0]
    if told is not None:
        told_stars = ToldStars(left, right, found, told.order(order), told, within=within)
        clashes = told_stars.decide(known)
        rest = told_stars.others
        # What is left has no pairs with documents that were decided on.
        found = replace(
            found,
            a=found.a[rest[found.a]],
            b=found.b[rest[found.a]],
            similarity=found.similarity[rest[found.a]],
        )
        own = own[rest[own]]
    if right is None or within:
        given = np.arange(len(left), len(known.copy_of))
        places = np.concatenate((given, own))
        decide_by_pairs(places, found.a, found.b, found.similarity, known)
    else:
        # The most similar document of `right`, ties to the first.
        by_similarity = np.lexsort((found.b, -found.similarity, found.a))
        a, rows = np.unique(found.a[by_similarity], return_index=True)
        best = by_similarity[rows]
        first_in_order = known.copy_of[a]
        known.kept_for[first_in_order] = found.b[best]
        known.similarity[first_in_order] = found.similarity[best]
    return *_of_left(known, len(left)), None if told is None else clashes
