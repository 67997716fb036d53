"""Builds clusters from exact copies and verified pairs, one row per document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.cluster.keep import KeepPolicy, first_of_each
from neardup.errors import SettingError
from neardup.kernels.columns import column_of
from neardup.kernels.set_join import components

Places = NDArray[np.int64]
_PAIRS_AT_A_TIME = 1 << 16  # as Python ints they take four times the memory


WAYS = ("components", "star")


def star(a: Places, b: Places, order: Places) -> Places:
    """For each document, the kept document it duplicates; a kept document maps to itself.

    Documents are visited in `order` (their places, the preferred one first). A document that is not
    yet removed is kept, and removes all documents it has a pair with. So no two kept documents are
    a pair, and in a chain A~B~C with A first, C is kept.

    >>> star(np.array([0, 1]), np.array([1, 2]), order=np.arange(3)).tolist()
    [0, 0, 2]
    """
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    better, worse = np.minimum(rank[a], rank[b]), np.maximum(rank[a], rank[b])
    by_rank = np.argsort(better, kind="stable")
    # Pairs are sorted by their better document: all that could remove it came before.
    kept_for = list(range(len(order)))
    for start in range(0, len(by_rank), _PAIRS_AT_A_TIME):
        some = by_rank[start : start + _PAIRS_AT_A_TIME]
        for one, other in zip(better[some].tolist(), worse[some].tolist(), strict=True):
            if kept_for[one] == one and kept_for[other] == other:
                kept_for[other] = one
    found = np.empty_like(order)
    found[order] = order[np.array(kept_for, dtype=np.int64)]
    return found


@dataclass(frozen=True)
class Copies:
    """Exact copies: documents (`members`) and the one that stands for each (`representatives`).

    A representative stands for itself; it may or may not be listed as its own member.
    """

    members: Places
    representatives: Places


@dataclass(frozen=True)
class Pairs:
    """Accepted pairs between representatives, each once, and their similarity."""

    a: Places
    b: Places
    similarity: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Clusters:
    """One row for each document in a cluster of two or more, by cluster, then in input order.

    Clusters are numbered from 0 in the order of their first members. `kept_for` is the place of the
    document kept instead of this one, or its own place if it is kept. `similarity` is the
    similarity to the kept document: 1 for an exact copy, else that of the verified pair. It is NaN
    (null in the table) for the kept document itself, and for documents that are connected to it
    only by a chain of pairs.
    """

    cluster: Places
    place: Places
    kept_for: Places
    similarity: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        n: int,
        copies: Copies,
        pairs: Pairs,
        *,
        way: str = "components",
        policy: str | KeepPolicy = "first",
        lengths: Places | None = None,
        values: Any = None,
    ) -> Clusters:
        """Cluster n documents: as connected components, or as stars around the kept documents.

        `lengths` (NumPy) and `values` (Arrow) have an entry for each of the n documents, and are
        needed if the policy compares them.
        """
        if way not in WAYS:
            raise SettingError(f"cluster={way!r} is unknown; choose {' or '.join(WAYS)}")
        # From here on documents are numbered among those that have a copy or a pair.
        places, number = _numbered(n, copies, pairs)
        stands_for = np.arange(len(places))
        stands_for[number[copies.members]] = number[copies.representatives]
        a, b = number[pairs.a], number[pairs.b]
        order = KeepPolicy.parse(policy).order(
            len(places),
            None if lengths is None else lengths[places],
            None if values is None else values.take(column_of(places)),
        )
        if way == "star":
            kept_for = _stars(a, b, stands_for, order)
        else:
            labels = components(len(places), a, b)[stands_for]
            kept_for = _spread(first_of_each(labels, order), labels)
        similarity = _similarity(a, b, pairs.similarity, stands_for, kept_for)
        return cls._of_rows(places, kept_for, similarity)

    @classmethod
    def _of_rows(
        cls, places: Places, kept_for: Places, similarity: NDArray[np.float64]
    ) -> Clusters:
        """Number the clusters of two or more, and drop single documents."""
        rows = np.flatnonzero(np.bincount(kept_for, minlength=len(places))[kept_for] > 1)
        first = np.full(len(places), len(places))
        np.minimum.at(first, kept_for[rows], rows)
        first = first[kept_for[rows]]
        number = np.zeros(len(places), np.int64)
        number[rows] = np.cumsum(first == rows) - 1
        cluster = number[first]
        rows_by_cluster = np.argsort(cluster, kind="stable")
        rows = rows[rows_by_cluster]
        return cls(cluster[rows_by_cluster], places[rows], places[kept_for[rows]], similarity[rows])

    def __len__(self) -> int:
        """The number of clusters."""
        return int(self.cluster[-1]) + 1 if len(self.cluster) else 0

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Whether the document of each row is kept."""
        return np.asarray(self.place == self.kept_for)

    @property
    def sizes(self) -> Places:
        """The number of documents of each cluster."""
        return np.bincount(self.cluster)

    @property
    def removed(self) -> Places:
        """The places of the documents to remove, ascending."""
        return np.sort(self.place[~self.kept])

    def table(self, ids: pa.Array | pa.ChunkedArray | None = None) -> pa.Table:
        """`cluster, id, kept, duplicate_of, similarity`; without ids, places are used.

        `duplicate_of` and `similarity` are null for the kept document.
        """
        id_ = column_of(self.place)
        duplicate_of = column_of(self.kept_for, self.kept)
        return pa.table(
            {
                "cluster": column_of(self.cluster),
                "id": id_ if ids is None else ids.take(id_),
                "kept": column_of(self.kept),
                "duplicate_of": duplicate_of if ids is None else ids.take(duplicate_of),
                "similarity": column_of(self.similarity, np.isnan(self.similarity)),
            }
        )


def _numbered(n: int, copies: Copies, pairs: Pairs) -> tuple[Places, Places]:
    """The documents with a copy or a pair, ascending, and the number of each among them."""
    found = np.zeros(n, bool)
    for places in (copies.members, copies.representatives, pairs.a, pairs.b):
        found[places] = True
    return np.flatnonzero(found), np.cumsum(found) - 1


def _stars(a: Places, b: Places, stands_for: Places, order: Places) -> Places:
    """Stars of documents and their copies.

    Copies are similar to the same documents and to each other. So the preferred copy decides for
    all: either it is kept and removes the others, or all are removed together.
    """
    best_of_copies = _spread(first_of_each(stands_for, order), stands_for)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    kept = star(a, b, np.argsort(rank[best_of_copies], kind="stable"))
    return np.asarray(best_of_copies[kept[stands_for]])


def _spread(found: Places, labels: Places) -> Places:
    """Give the one document found for each label to all documents of that label."""
    by_label = np.zeros(len(labels), np.int64)
    by_label[labels[found]] = found
    return np.asarray(by_label[labels])


def _similarity(
    a: Places,
    b: Places,
    similarity: NDArray[np.float64],
    stands_for: Places,
    kept_for: Places,
) -> NDArray[np.float64]:
    """The similarity of each document to the one kept for it, where it is known."""
    kept_kind = stands_for[kept_for]
    found = np.full(len(stands_for), np.nan)
    for one, other in ((a, b), (b, a)):
        direct = kept_kind[one] == other
        found[one[direct]] = similarity[direct]
    found = found[stands_for]
    found[kept_kind == stands_for] = 1.0
    found[kept_for == np.arange(len(kept_for))] = np.nan
    return found
