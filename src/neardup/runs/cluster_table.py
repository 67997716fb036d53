"""What lists show about clusters, computed for all of them at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup.frozen import dataclass
from neardup.runs.links import PairFile
from neardup.runs.places import NONE, Places, Removals


@dataclass(frozen=True, eq=False)
class ClusterTable:
    """The clusters of a run, one entry for each, in the order of their numbers.

    `weakest` is NaN where nothing is removed, `density` unless all pairs are listed. The clusters
    with a member of source number s are `source_clusters[source_begins[s]:source_begins[s + 1]]`.
    """

    around: Places
    size: NDArray[np.int32]
    weakest: NDArray[np.float64]
    density: NDArray[np.float64]
    copies: NDArray[np.int32]
    chains: NDArray[np.int32]
    sources: NDArray[np.int32]
    around_source: NDArray[np.int32]
    source_begins: Places
    source_clusters: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.size)


def clusters_of(
    removals: Removals, pairs: PairFile, threshold: float, has_all_pairs: bool
) -> ClusterTable:
    """The clusters; `has_all_pairs` if all pairs from the threshold on are listed."""
    members = np.flatnonzero(removals.cluster >= 0)
    of_member = removals.cluster[members]
    count = int(of_member.max()) + 1 if len(of_member) else 0
    around = _around(removals, members, count)
    is_around_other = around >= removals.documents
    removed = members[~removals.kept[members]]
    of_removed = removals.cluster[removed]
    similarity = removals.similarity[removed]
    weakest = np.full(count, np.inf)
    np.minimum.at(weakest, of_removed, similarity)
    weakest[np.isinf(weakest)] = np.nan
    size = np.bincount(of_member, minlength=count) + is_around_other
    sources, begins, of_source = _sources(removals, members, count)
    density = np.full(count, np.nan)
    if has_all_pairs:
        density = _density(removals, pairs, around, size, threshold)
    return ClusterTable(
        around,
        size.astype(np.int32),
        weakest,
        density,
        _counted(of_removed[removals.is_copy[removed]], count),
        _counted(of_removed[similarity < threshold], count),
        sources,
        np.concatenate((removals.sources, np.full(removals.others, NONE, np.int32)))[around],
        begins,
        of_source,
    )


def _counted(numbers: Places, count: int) -> NDArray[np.int32]:
    return np.bincount(numbers, minlength=count).astype(np.int32)


def _around(removals: Removals, members: Places, count: int) -> Places:
    """The document that each cluster is around: the one that most others were removed for.

    Ties go to kept documents, then to the first. Without removals it is the first document.
    """
    around = np.full(count, -1, np.int64)
    # Members ascend, so that the first one of a cluster is written last.
    around[removals.cluster[members[::-1]]] = members[::-1]
    removed = members[~removals.kept[members]]
    key = removals.cluster[removed] * removals.count + removals.kept_for[removed]
    keys, counts = np.unique(key, return_counts=True)
    cluster, target = np.divmod(keys, max(1, removals.count))
    is_kept = target >= removals.documents
    is_kept[~is_kept] = removals.kept[target[~is_kept]]
    order = np.lexsort((target, ~is_kept, -counts, cluster))
    firsts = np.unique(cluster[order], return_index=True)[1]
    around[cluster[order][firsts]] = target[order][firsts]
    return around


def _sources(
    removals: Removals, members: Places, count: int
) -> tuple[NDArray[np.int32], Places, NDArray[np.int32]]:
    """The number of sources of each cluster, and the clusters of each source."""
    known = members[removals.sources[members] >= 0]
    kinds = len(removals.source_names)
    keys = np.unique(removals.sources[known].astype(np.int64) * count + removals.cluster[known])
    source, cluster = np.divmod(keys, max(1, count))
    begins = np.searchsorted(source, np.arange(kinds + 1))
    return _counted(cluster, count), begins, cluster.astype(np.int32)


def _density(
    removals: Removals, pairs: PairFile, around: Places, size: Places, threshold: float
) -> NDArray[np.float64]:
    """The share of the possible pairs of each cluster that reach the threshold.

    Of exact copies only the first one is in the list of pairs, and stands for all of them.
    """
    n, count = removals.documents, len(around)
    cluster = np.concatenate((removals.cluster, np.full(removals.others, -1, np.int64)))
    others = around >= n
    cluster[around[others]] = np.flatnonzero(others)
    kind = np.concatenate((removals.copy_of, np.arange(n, removals.count)))
    members = np.flatnonzero((cluster >= 0) & (kind >= 0))
    alike = np.zeros(removals.count, np.int64)  # members with the features of this first one
    same_cluster = cluster[kind[members]] == cluster[members]
    np.add.at(alike, kind[members[same_cluster]], 1)
    found = np.zeros(count)
    firsts = np.flatnonzero(alike)
    np.add.at(found, cluster[firsts], alike[firsts] * (alike[firsts] - 1) / 2)
    for some in pairs.batches():
        a, b = some["a"], some["b"]
        counted = (
            (some["similarity"] >= threshold)
            & (cluster[a] >= 0)
            & (cluster[a] == cluster[b])
            & (kind[a] != kind[b])
        )
        a, b = kind[a[counted]], kind[b[counted]]
        np.add.at(found, cluster[a], alike[a] * alike[b])
    possible = size * (size - 1) / 2
    density = np.full(count, np.nan)
    np.divide(found, possible, out=density, where=possible > 0)
    return np.asarray(np.minimum(density, 1.0))
