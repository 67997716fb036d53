"""The star search: for each document the most similar kept one, without listing all pairs.

Documents are visited in keep order. A document that is similar to a kept one is removed; any other
is kept. So every removal is proven, and no two kept documents are similar.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.collection.collected import Collected
from neardup.collection.settings import DedupSettings
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.kernels.star_join import KEPT, Decisions, stars_of_pairs as decide_by_pairs
from neardup.pairs.by_features.exact_join import Measure
from neardup.pairs.by_features.star_search import DocumentProgress, StarSearch, known_copies
from neardup.pairs.choose import joins_features
from neardup.pairs.search import FoundPairs, search
from neardup.settings import EXACT

Places = NDArray[np.int64]


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
    found = search([left] if right is None else [left, right], fingerprinter, settings)
    kept_for, similarity = stars_of_pairs(left, right, found, order)
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


def _by_features(
    left: Collected,
    right: Collected | None,
    order: Places,
    fingerprinter: Fingerprinter,
    settings: DedupSettings,
    within: bool,
    progress: DocumentProgress | None,
) -> Stars:
    """Complete, by the star join on features."""
    search = StarSearch(
        [left] if right is None else [left, right],
        Measure(settings.similarity, settings.threshold),
        across=right is not None and not within,
        memory=settings.memory,
        threads=fingerprinter.threads,
    )
    known = known_copies(left, right, order)
    possible = np.zeros(len(known.copy_of), np.bool_)
    possible[search.possible] = True
    # `possible` speaks of the first copy in the input, `copy_of` names the first in keep order.
    possible[left.filled] = possible[left.firsts[left.copies.group_of]]
    own = order[left.words[order] > 0]
    is_first = known.copy_of[own] == own
    kept_anyhow = own[is_first & ~possible[own]]
    known.decision[kept_anyhow] = KEPT
    own = own[~is_first | possible[own]]
    given = np.flatnonzero(possible[len(left) :]) + len(left)
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
    first = known.copy_of[:count]
    follows = (known.decision[:count] == 0) & (known.kept_for[first] != first)
    kept_for[follows] = known.kept_for[first[follows]]
    similarity[follows] = known.similarity[first[follows]]
    return kept_for, similarity


def stars_of_pairs(
    left: Collected, right: Collected | None, found: FoundPairs, order: Places
) -> tuple[Places, NDArray[np.float64]]:
    """The stars that all accepted pairs make: `kept_for` and `similarity` of `Stars`.

    The second documents of the pairs are of `right`, if there is one.
    """
    known = known_copies(left, right, order)
    own = order[left.words[order] > 0]
    if right is None:
        decide_by_pairs(own, found.a, found.b, found.similarity, known)
        return _of_left(known, len(left))
    # The most similar document of `right`, ties to the first.
    by_similarity = np.lexsort((found.b, -found.similarity, found.a))
    a, rows = np.unique(found.a[by_similarity], return_index=True)
    best = by_similarity[rows]
    first_in_order = known.copy_of[a]
    known.kept_for[first_in_order] = len(left) + found.b[best]
    known.similarity[first_in_order] = found.similarity[best]
    return _of_left(known, len(left))
