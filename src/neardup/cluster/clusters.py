"""Clusters: which documents belong together, one row per document."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.cluster.keep import KeepPolicy
from neardup.frozen import dataclass
from neardup.kernels.columns import column_of, taken

Places = NDArray[np.int64]
Similarities = NDArray[np.float64]

# The ids at some places, null where the flags are set.
IdsAt = Callable[[Places, NDArray[np.bool_]], pa.Array]
_FIRST = KeepPolicy()


def pairs_in(sizes: Places) -> int:
    """The number of pairs inside clusters of these sizes.

    >>> pairs_in(np.array([1, 2, 4]))
    7
    """
    return int((sizes * (sizes - 1) // 2).sum())


@dataclass(frozen=True, eq=False)
class Clusters:
    """One row for each document in a cluster of two or more, by cluster, then in input order.

    Clusters are numbered from 0 in the order of their first members. `kept_for` is the place of the
    document that this one is a duplicate of, or its own place if it is kept. Places go on through
    the other collection, if there is one: its first document has the place `documents`. The
    documents of the other collection have no rows. `around` is the document that the cluster was
    made around; it is the kept one, unless the policy keeps none or several.

    `similarity` is the true similarity to `kept_for`, and NaN for a kept document. In connected
    components and dense clusters, `via` is the next document in the chain of pairs from this
    document to `kept_for` (its own place for a kept one), and `link` the similarity to that one.
    """

    documents: int
    cluster: Places
    place: Places
    around: Places
    kept_for: Places
    similarity: Similarities
    via: Places | None = None
    link: Similarities | None = None

    @classmethod
    def of(
        cls,
        kept_for: Places,
        similarity: Similarities,
        *,
        via: Places | None = None,
        link: Similarities | None = None,
        policy: KeepPolicy = _FIRST,
        pinned: Places | None = None,
    ) -> Clusters:
        """The clusters around the kept documents: each with those that are removed for it.

        All arrays have an entry for each document of the collection, except `pinned`: the places
        of documents that are kept by any policy.

        >>> clusters = Clusters.of(np.array([0, 1, 0]), np.array([np.nan, np.nan, 0.9]))
        >>> clusters.place.tolist(), clusters.removed.tolist()
        ([0, 2], [2])
        """
        n = len(kept_for)
        member = kept_for != np.arange(n)
        member[kept_for[member & (kept_for < n)]] = True
        rows = np.flatnonzero(member)
        _, firsts, numbers = np.unique(kept_for[rows], return_index=True, return_inverse=True)
        by_first = np.empty_like(firsts)
        by_first[np.argsort(firsts, kind="stable")] = np.arange(len(firsts))
        cluster = by_first[numbers]
        order = np.argsort(cluster, kind="stable")
        rows = rows[order]
        found = cls(
            n,
            cluster[order],
            rows,
            kept_for[rows],
            kept_for[rows],
            similarity[rows],
            None if via is None else via[rows],
            None if link is None else link[rows],
        )
        always = np.zeros(n, np.bool_)
        if pinned is not None:
            always[pinned] = True
        if policy.most == 0:
            return found._without_centres(always)
        return found._with_more(policy.most) if policy.most > 1 else found

    def __len__(self) -> int:
        """The number of clusters."""
        return int(self.cluster[-1]) + 1 if len(self.cluster) else 0

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Whether the document of each row is kept."""
        return np.asarray(self.place == self.kept_for)

    @property
    def sizes(self) -> Places:
        """The number of documents of each cluster that are in the collection."""
        return np.bincount(self.cluster)

    @property
    def removed(self) -> Places:
        """The places of the documents to remove, ascending."""
        return np.sort(self.place[~self.kept])

    def copies(self) -> Places:
        """How many documents each document of the collection stands for, itself included.

        A removed document stands for none. Those removed for a document of the other collection
        are not counted.
        """
        found = np.ones(self.documents, np.int64)
        found[self.removed] = 0
        kept_for = self.kept_for[~self.kept]
        # With the policy `none` the documents of a cluster are removed for each other.
        own = kept_for[kept_for < self.documents]
        np.add.at(found, own[found[own] > 0], 1)
        return found

    def table(
        self,
        ids: pa.Array | pa.ChunkedArray | None = None,
        ids_at: IdsAt | None = None,
    ) -> pa.Table:
        """`cluster, id, kept, duplicate_of, similarity` and, where chains connect, `via`.

        Without ids, places are used. `ids_at` gives the ids of documents of both collections; it
        is not needed if there is no other. The columns from `duplicate_of` on are null for a kept
        document.
        """
        kept = self.kept

        def named(places: Places) -> pa.Array:
            if ids_at is not None:
                return ids_at(places, kept)
            column = column_of(places, kept)
            return column if ids is None else taken(ids, column)

        id_ = column_of(self.place)
        columns = {
            "cluster": column_of(self.cluster),
            "id": id_ if ids is None else taken(ids, id_),
            "kept": column_of(kept),
            "duplicate_of": named(self.kept_for),
            "similarity": column_of(self.similarity, kept),
        }
        if self.via is not None:
            columns["via"] = named(self.via)
        return pa.table(columns)

    def _without_centres(self, always: NDArray[np.bool_]) -> Clusters:
        """Remove the kept documents too, each as a duplicate of its most similar member.

        Those with a flag in `always` stay.
        """
        centres = np.flatnonzero(self.kept & ~always[self.place])
        # A member that only a chain connects is not more similar than one with a pair.
        near = self.kept_for if self.via is None else self.via
        members = np.flatnonzero(~self.kept & (near == self.kept_for))
        best = members[
            np.lexsort((self.place[members], -self.similarity[members], self.cluster[members]))
        ]
        best = best[np.searchsorted(self.cluster[best], self.cluster[centres])]
        kept_for, similarity = self.kept_for.copy(), self.similarity.copy()
        kept_for[centres] = self.place[best]
        similarity[centres] = self.similarity[best]
        via, link = self.via, self.link
        if via is not None and link is not None:
            via, link = via.copy(), link.copy()
            via[centres], link[centres] = self.place[best], self.similarity[best]
        return replace(self, kept_for=kept_for, similarity=similarity, via=via, link=link)

    def _with_more(self, most: int) -> Clusters:
        """Keep the first `most` documents of each cluster, one of the other collection included."""
        starts = np.searchsorted(self.cluster, np.arange(len(self)))
        rank = np.arange(len(self.cluster)) - starts[self.cluster]
        # The kept one is the first, or a later one that people want to keep.
        centre = np.zeros(len(self), np.int64)
        centre[self.cluster[self.kept]] = rank[self.kept]
        rank += (rank < centre[self.cluster]) | (self.around >= self.documents)
        more = (rank < most) | self.kept
        return replace(
            self,
            kept_for=np.where(more, self.place, self.kept_for),
            similarity=np.where(more, np.nan, self.similarity),
            via=None if self.via is None else np.where(more, self.place, self.via),
            link=None if self.link is None else np.where(more, np.nan, self.link),
        )
