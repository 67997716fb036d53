"""The star search: for each document the most similar kept one, without listing all pairs.

Documents are visited in keep order. A document that is similar to a kept one is removed; any other
is kept. So every removal is proven, and no two kept documents are similar.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.collection.collected import Collected
from neardup.collection.settings import DedupSettings
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.pairs.search import FoundPairs, search

Places = NDArray[np.int64]
DocumentProgress = Callable[[int, int], None]  # documents done, of all


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
    if right is not None and within:
        raise NotImplementedError("both kinds of pairs in one pass")
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


def stars_of_pairs(
    left: Collected, right: Collected | None, found: FoundPairs, order: Places
) -> tuple[Places, NDArray[np.float64]]:
    """The stars that all accepted pairs make: `kept_for` and `similarity` of `Stars`."""
    kinds = left.firsts[left.copies.group_of]
    kind_of = np.full(len(left), -1, np.int64)
    kind_of[left.filled] = kinds
    partners: dict[int, list[tuple[float, int]]] = {}
    for a, b, similarity in zip(
        found.a.tolist(), found.b.tolist(), found.similarity.tolist(), strict=True
    ):
        partners.setdefault(a, []).append((similarity, b))
        if right is None:
            partners.setdefault(b, []).append((similarity, a))
    kept_for = np.arange(len(left), dtype=np.int64)
    best = np.full(len(left), np.nan)
    kept: dict[int, tuple[int, int]] = {}  # of a kind: the rank and place of the kept document
    for rank, place in enumerate(order.tolist()):
        kind = int(kind_of[place])
        if kind < 0:
            continue
        if right is not None:
            options = [(-s, b, len(left) + b) for s, b in partners.get(kind, ())]
        elif kind in kept:
            options = [(-1.0, *kept[kind])]
        else:
            options = [(-s, *kept[b]) for s, b in partners.get(kind, ()) if b in kept]
        if options:
            negative, _, kept_for[place] = min(options)
            best[place] = -negative
        elif right is None:
            kept[kind] = (rank, place)
    return kept_for, best
