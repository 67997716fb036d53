"""The review queue: doubtful pairs first, one for each family of documents."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup.frozen import dataclass
from neardup.runs.cluster_table import ClusterTable
from neardup.runs.folder import RunFolder
from neardup.runs.links import PAIR, PairFile
from neardup.runs.places import Places, Removals

MOST_NEAR_MISSES = 100_000
# Why a pair is in the queue.
NEAR, LOOSE, CHAINED, MISSED, TO_LABEL = range(5)
_LOOSE_FROM = 3  # a cluster of two has all of its pairs


@dataclass(frozen=True, eq=False)
class Doubtful:
    """Pairs by places, the most doubtful first; `a` is the kept document of a removal.

    `cluster` is -1 for a near miss. `reason` is one of the numbers above.
    """

    a: Places
    b: Places
    similarity: NDArray[np.float64]
    cluster: Places
    reason: NDArray[np.int8]


def doubtful_pairs(
    folder: RunFolder, removals: Removals, clusters: ClusterTable, pairs: PairFile
) -> Doubtful:
    """The queue of a run: the weakest removal of each cluster, and the nearest near misses.

    They are in the order of their distance from the threshold. A cluster that few pairs hold
    together comes as early as its density is low: one without pairs, like a removal at the
    threshold. Exact copies are never doubtful. Of near misses there is one for any two families
    (clusters or single documents), at most `MOST_NEAR_MISSES`.
    """
    if folder.has_pairs_to_label:
        return _pairs_to_label(pairs)
    removal, doubt = _removals(folder, removals, clusters)
    missed, missed_by = _near_misses(folder, removals, pairs)
    doubt = np.concatenate((doubt, missed_by))
    both = [
        np.concatenate(parts)
        for parts in zip(vars(removal).values(), vars(missed).values(), strict=True)
    ]
    order = np.lexsort((both[1], both[0], doubt))
    return Doubtful(*(part[order] for part in both))


def _pairs_to_label(pairs: PairFile) -> Doubtful:
    """All pairs of a file of pairs to label, in its order."""
    parts = [np.zeros(0, PAIR), *pairs.batches()]
    every = np.concatenate(parts)
    nothing = np.full(len(every), -1, np.int64)
    reason = np.full(len(every), TO_LABEL, np.int8)
    return Doubtful(every["a"], every["b"], every["similarity"], nothing, reason)


def _removals(
    folder: RunFolder, removals: Removals, clusters: ClusterTable
) -> tuple[Doubtful, NDArray[np.float64]]:
    """The weakest removal of each cluster, and how doubtful it is: 0 is most."""
    removed = np.flatnonzero(~removals.kept & ~removals.is_copy & (removals.cluster >= 0))
    removed = removed[[place not in removals.decided_by for place in removed.tolist()]]
    similarity, cluster = removals.similarity[removed], removals.cluster[removed]
    order = np.lexsort((removed, similarity, cluster))
    firsts = np.unique(cluster[order], return_index=True)[1]
    chosen = order[firsts]
    place, similarity, cluster = removed[chosen], similarity[chosen], cluster[chosen]
    margin = np.abs(similarity - folder.threshold)
    reason = np.where(similarity < folder.threshold, CHAINED, NEAR)
    density = clusters.density[cluster]
    looseness = np.where(
        np.isnan(density) | (clusters.size[cluster] < _LOOSE_FROM),
        np.inf,
        density * (1 - folder.threshold),
    )
    reason = np.where((looseness < margin) & (reason == NEAR), LOOSE, reason)
    found = Doubtful(removals.kept_for[place], place, similarity, cluster, reason.astype(np.int8))
    return found, np.minimum(margin, looseness)


def _near_misses(
    folder: RunFolder, removals: Removals, pairs: PairFile
) -> tuple[Doubtful, NDArray[np.float64]]:
    """The listed pairs below the threshold, one for any two families, the most similar first."""
    n = removals.documents
    family = np.arange(removals.count) + removals.count
    inside = removals.cluster >= 0
    family[:n][inside] = removals.cluster[inside]
    best = np.zeros(0, np.dtype([("a", "<i8"), ("b", "<i8"), ("similarity", "<f8")]))
    for some in pairs.batches():
        a, b = some["a"], some["b"]
        missed = (some["similarity"] < folder.threshold) & (family[a] != family[b])
        if not missed.any():
            continue
        more = np.empty(int(missed.sum()), best.dtype)
        for name in ("a", "b", "similarity"):
            more[name] = some[name][missed]
        best = _best_of_families(np.concatenate((best, more)), family)
    missed_by = folder.threshold - best["similarity"]
    nothing = np.full(len(best), -1, np.int64)
    reason = np.full(len(best), MISSED, np.int8)
    found = Doubtful(best["a"], best["b"], best["similarity"], nothing, reason)
    return found, missed_by


def _best_of_families(pairs: NDArray[np.void], family: Places) -> NDArray[np.void]:
    one, other = family[pairs["a"]], family[pairs["b"]]
    low, high = np.minimum(one, other), np.maximum(one, other)
    order = np.lexsort((pairs["b"], pairs["a"], -pairs["similarity"], high, low))
    low, high = low[order], high[order]
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    found = pairs[order[is_first]]
    if len(found) > MOST_NEAR_MISSES:
        nearest = np.lexsort((found["b"], found["a"], -found["similarity"]))
        found = found[nearest[:MOST_NEAR_MISSES]]
    return found
