"""What other thresholds would give, from the pairs that a run lists."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from neardup.cluster import ClusterRule, Clusters, KeepPolicy
from neardup.deduplication.listed_pairs import HeldPairs
from neardup.deduplication.removals import Both, components_of
from neardup.frozen import dataclass
from neardup.kernels.star_join import KEPT, OPEN, Decisions, stars_of_pairs
from neardup.pairs.all_pairs import PairBatch
from neardup.runs.cluster_table import ClusterTable
from neardup.runs.folder import RunFolder
from neardup.runs.links import PAIR, PairFile
from neardup.runs.places import Places, Removals
from neardup.runs.views import ThresholdRow, ThresholdTable

_STEPS = 100


def threshold_table(
    folder: RunFolder, removals: Removals, clusters: ClusterTable, pairs: PairFile
) -> ThresholdTable:
    """The results at steps of 0.01, or of one bit, from the least that the run knows."""
    if not folder.has_all_pairs or folder.obeyed_decisions:
        return _remaining(folder, removals)
    involved = _Involved(folder, removals, pairs)
    rows = tuple(_row(involved, removals, threshold) for threshold in _thresholds(folder))
    least = "its threshold" if folder.floor is None else f"its floor, {folder.floor:g}"
    note = f"The run lists all pairs from {least} on, so these results are exact."
    if folder.floor is None and not folder.by_distance:
        note += " To see lower thresholds, run neardup dedup with a --floor, such as 0.6."
    return ThresholdTable(rows, True, note, folder.by_distance)


def _thresholds(folder: RunFolder) -> list[float]:
    if folder.by_distance:
        return [float(bits) for bits in range(int(folder.settings["threshold"]), -1, -1)]
    least = folder.threshold if folder.floor is None else folder.floor
    first = int(np.ceil(least * _STEPS - 1e-9))
    steps = [step / _STEPS for step in range(first, _STEPS + 1)]
    return sorted({least, folder.threshold, *steps})


def _remaining(folder: RunFolder, removals: Removals) -> ThresholdTable:
    """The removals of the run whose similarity reaches other thresholds."""
    removed = removals.removed
    similarity = removals.similarity[removed]
    rows = []
    for threshold in _thresholds(folder):
        least = 1 - threshold / int(folder.settings["bits"]) if folder.by_distance else threshold
        if folder.floor is not None and threshold < folder.threshold:
            continue
        remaining = int((similarity >= least).sum())
        rows.append(
            ThresholdRow(threshold, removals.documents - remaining, remaining, None, None, None)
        )
    note = (
        "Counts the removals of this run whose similarity reaches the threshold. At a higher "
        "threshold, some of the other documents would be removed for another kept one. "
    )
    if folder.obeyed_decisions:
        note += "The run obeyed decisions, which would hold at any threshold."
    elif folder.by_distance:
        note += "For exact results, run neardup dedup with --pairs all."
    else:
        note += (
            "For exact results, also at lower thresholds, run neardup dedup with a --floor, such "
            "as 0.6."
        )
    return ThresholdTable(tuple(rows), False, note, folder.by_distance)


@dataclass(frozen=True, eq=False)
class _Numbered:
    """What `components_of` asks of two collections, for the involved documents only."""

    left: Places
    kinds: Places
    count: int


class _Involved:
    """The documents that are in a pair or have a copy, numbered anew in the order of places."""

    def __init__(self, folder: RunFolder, removals: Removals, pairs: PairFile) -> None:
        n = removals.documents
        self.folder = folder
        kind = np.concatenate((removals.copy_of, np.arange(n, removals.count)))
        involved = pairs.degrees(removals.count) > 0
        copies = np.flatnonzero((removals.copy_of >= 0) & (removals.copy_of != np.arange(n)))
        if folder.within:
            involved[copies] = True
            involved[removals.copy_of[copies]] = True
        else:  # copies follow the first of their kind, which alone is in the pairs
            involved[copies] = involved[removals.copy_of[copies]]
        self.places = np.flatnonzero(involved)
        self.own = int(np.searchsorted(self.places, n))
        number = np.full(removals.count, -1, np.int64)
        number[self.places] = np.arange(len(self.places))
        self.kinds = number[kind[self.places]]
        mine = self.places[: self.own]
        rank = mine if removals.rank is None else removals.rank[mine]
        self.order = np.argsort(rank, kind="stable")
        self.cluster = removals.cluster[mine]
        found = np.concatenate([np.zeros(0, PAIR), *pairs.batches()])
        a, b = number[found["a"]], number[found["b"]]
        # Pairs of copies say nothing that the kinds do not.
        real = self.kinds[a] != self.kinds[b]
        self.pairs = PairBatch(a[real], b[real], found["distance"][real], found["similarity"][real])

    def kept_for(self, threshold: float) -> Places:
        """The document that each is a duplicate of, or itself."""
        pairs = self.pairs
        if self.folder.by_distance:
            pairs = pairs.take(pairs.distance <= threshold)
        else:
            pairs = pairs.take(pairs.similarity >= threshold)
        rule = ClusterRule.parse(self.folder.settings["cluster"])
        if rule.kind != "star" and self.folder.within:
            both = cast(Both, _Numbered(np.arange(self.own), self.kinds, len(self.places)))
            held = HeldPairs(pairs)
            return components_of(both, self.order, held, _unknown, share=rule.share).kept_for
        return self._stars(pairs)

    def _stars(self, pairs: PairBatch) -> Places:
        first = np.arange(len(self.places))
        in_order = self.order[::-1]
        first[self.kinds[in_order]] = in_order  # the last one assigned is the first in keep order
        copy_of = np.arange(len(self.places))
        copy_of[: self.own] = first[self.kinds[: self.own]]
        known = Decisions.none(copy_of)
        known.decision[self.own :] = KEPT
        if self.folder.within:
            places = np.concatenate((np.arange(self.own, len(self.places)), self.order))
            stars_of_pairs(places, pairs.a, pairs.b, pairs.similarity, known)
        else:
            best = np.lexsort((pairs.b, -pairs.similarity, pairs.a))
            a, rows = np.unique(pairs.a[best], return_index=True)
            known.kept_for[copy_of[a]] = pairs.b[best[rows]]
        kept_for = known.kept_for[: self.own].copy()
        still_open = np.flatnonzero(known.decision[: self.own] == OPEN)
        of_first = copy_of[still_open]
        follows = known.kept_for[of_first] != of_first
        kept_for[still_open[follows]] = known.kept_for[of_first[follows]]
        return kept_for


def _unknown(a: Places, _b: Places) -> NDArray[np.float64]:
    """The similarities of documents that a chain connects; nobody looks at them here."""
    return np.zeros(len(a))


def _row(involved: _Involved, removals: Removals, threshold: float) -> ThresholdRow:
    kept_for = involved.kept_for(threshold)
    policy = KeepPolicy.parse(involved.folder.settings["keep"])
    found = Clusters.of(kept_for, np.zeros(len(kept_for)), policy=policy)
    removed = len(found.removed)
    now = np.full(len(kept_for), -1, np.int64)
    now[found.place] = found.cluster
    split, joined = _changes(involved.cluster, now)
    return ThresholdRow(threshold, removals.documents - removed, removed, len(found), split, joined)


def _changes(before: Places, now: Places) -> tuple[int, int]:
    """How many clusters were split, and how many are made of several; -1 is no cluster."""
    members = np.flatnonzero(before >= 0)
    # A document that is in no cluster any more is one by itself.
    alone = np.where(now < 0, len(now) + np.arange(len(now)), now)
    pairs = _distinct_pairs(before[members], alone[members])
    split = int((np.unique(pairs[0], return_counts=True)[1] > 1).sum())
    both = np.flatnonzero((before >= 0) & (now >= 0))
    pairs = _distinct_pairs(now[both], before[both])
    joined = int((np.unique(pairs[0], return_counts=True)[1] > 1).sum())
    return split, joined


def _distinct_pairs(one: Places, other: Places) -> tuple[Places, Places]:
    width = int(other.max()) + 1 if len(other) else 1
    keys = np.unique(one * width + other)
    first, second = np.divmod(keys, width)
    return first, second
