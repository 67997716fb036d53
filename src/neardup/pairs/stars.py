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
    return Stars(
        *stars_of_pairs(left, right, merged, order),
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
) -> Stars:
    """The stars of `left`, whose places are in keep order in `order`.

    All documents of `right` are kept and come first. Without `within`, the documents of `left`
    are compared with those of `right` only.
    """
    if joins_features(settings):
        return _by_features(left, right, order, fingerprinter, settings, within, progress)
    from neardup.pairs.by_fingerprints import MaskPlan

    plan, reason = plan_for(len(left.copies.firsts), settings)
    masks = plan.mask_rows() if isinstance(plan, MaskPlan) else None
    few = None
    if settings.similarity == "hamming" and (masks is not None or plan.is_exact):
        # The join of all pairs is faster, unless most documents are in many pairs.
        few = _PAIRS_OF_EACH * len(left) + _FEW_PAIRS
    try:
        found = search_both(left, right, fingerprinter, settings, within=within, most_pairs=few)
    except TooManyPairsError:
        if few is None:
            raise
        return _by_rows(left, right, order, plan, masks, reason, settings, within, progress)
    kept_for, similarity = stars_of_pairs(left, right, found, order, within=within)
    return Stars(
        kept_for,
        similarity,
        found.candidates,
        found.false_by_distance,
        found.plan,
        found.reason,
        found.curve,
        found,
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
) -> Stars:
    """Complete, by the star join on features."""
    search = StarSearch(
        [left] if right is None else [left, right],
        Measure(settings.similarity, settings.threshold),
        across=right is not None and not within,
        memory=settings.memory,
        threads=fingerprinter.threads,
    )
    if before is None:
        known = known_copies(left, right, order)
    else:
        known = _known_before(left, before, order)
    own = order[left.words[order] > 0]
    given = np.zeros(0, np.int64)
    if right is not None or search.left_out:
        possible = np.zeros(len(known.copy_of), np.bool_)
        possible[search.possible] = True
        given = np.flatnonzero(possible[len(left) :]) + len(left)
    if search.left_out:
        # `possible` speaks of the first copy in the input, `copy_of` names the first in keep order.
        possible[left.filled] = possible[left.firsts[left.copies.group_of]]
        is_first = known.copy_of[own] == own
        anyhow = own[is_first & ~possible[own]]
        known.decision[anyhow] = np.where(known.kept_for[anyhow] == anyhow, KEPT, REMOVED)
        own = own[~is_first | possible[own]]
    if right is not None and not within:
        search.decide(given, own, known, progress)
    else:
        search.decide(np.concatenate((given, own)), own[:0], known, progress)
    kept_for, similarity = _of_left(known, len(left))
    return Stars(
        kept_for,
        similarity,
        search.join.compared,
        np.zeros(fingerprinter.scheme.bits + 1, np.int64),
        EXACT,
        "exact: each document is looked up by its features among the kept ones; none is missed",
    )


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
) -> tuple[Places, NDArray[np.float64]]:
    """The stars that all accepted pairs make: `kept_for` and `similarity` of `Stars`.

    Places run on through `right`, in the pairs too.
    """
    known = known_copies(left, right, order)
    own = order[left.words[order] > 0]
    if right is None or within:
        given = np.arange(len(left), len(known.copy_of))
        places = np.concatenate((given, own))
        decide_by_pairs(places, found.a, found.b, found.similarity, known)
        return _of_left(known, len(left))
    # The most similar document of `right`, ties to the first.
    by_similarity = np.lexsort((found.b, -found.similarity, found.a))
    a, rows = np.unique(found.a[by_similarity], return_index=True)
    best = by_similarity[rows]
    first_in_order = known.copy_of[a]
    known.kept_for[first_in_order] = found.b[best]
    known.similarity[first_in_order] = found.similarity[best]
    return _of_left(known, len(left))
