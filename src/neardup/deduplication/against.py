"""New documents against old ones: those similar to an old document are removed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.collected import Collected
from neardup.collection.source import Source
from neardup.deduplication.result import PAIRS_AT_ONCE, Result
from neardup.kernels.columns import column_of
from neardup.pairs.search import FoundPairs

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Matches:
    """The documents to remove (`place`), each with the most similar old one (`kept_for`).

    A cluster is an old document with the new ones that are removed for it, in the order of the
    first of these.
    """

    old_ids: pa.Array

    cluster: Places
    place: Places
    kept_for: Places
    similarity: NDArray[np.float64]

    @classmethod
    def of(cls, new: Collected, old: Collected, found: FoundPairs) -> Matches:
        """Take the best match of each new document, for all its exact copies."""
        a, b, similarity = found.a, found.b, found.similarity
        order = np.lexsort((b, -similarity, a))
        firsts, first_rows = np.unique(a[order], return_index=True)
        best = order[first_rows]
        kinds = new.firsts[new.copies.group_of]
        number = np.searchsorted(firsts, kinds)
        number[number == len(firsts)] = 0
        matched = firsts[number] == kinds if len(firsts) else np.zeros(len(kinds), np.bool_)
        place, match = new.filled[matched], best[number[matched]]
        _, cluster_first, cluster = np.unique(b[match], return_index=True, return_inverse=True)
        by_appearance = np.argsort(np.argsort(cluster_first, kind="stable"), kind="stable")
        cluster = by_appearance[cluster]
        rows = np.argsort(cluster, kind="stable")
        return cls(old.ids, cluster[rows], place[rows], b[match][rows], similarity[match][rows])

    def __len__(self) -> int:
        return int(self.cluster[-1]) + 1 if len(self.cluster) else 0

    @property
    def kept(self) -> NDArray[np.bool_]:
        return np.zeros(len(self.place), np.bool_)

    @property
    def sizes(self) -> Places:
        """How many documents each old one removes."""
        return np.bincount(self.cluster)

    @property
    def removed(self) -> Places:
        """The places of the documents to remove, ascending."""
        return np.sort(self.place)

    def table(self, ids: pa.Array) -> pa.Table:
        """One row for each removed document, with the old one that it is a duplicate of."""
        return pa.table(
            {
                "cluster": column_of(self.cluster),
                "id": ids.take(column_of(self.place)),
                "kept": column_of(self.kept),
                "duplicate_of": self.old_ids.take(column_of(self.kept_for)),
                "similarity": column_of(self.similarity),
            }
        )


@dataclass(frozen=True, eq=False, repr=False)
class AgainstResult(Result):
    """A `Result` whose pairs are between new documents (`a`) and old ones (`b`)."""

    old_source: Source
    old: Collected

    def pair_batches(self, most: int = PAIRS_AT_ONCE) -> Iterator[pa.RecordBatch]:
        """The accepted pairs by ids, at most `most` at a time; copies are left out."""
        found = self.found
        for begin in range(0, max(1, len(found.a)), most):
            part = slice(begin, begin + most)
            yield pa.RecordBatch.from_pydict(
                {
                    "a": self.collected.ids.take(column_of(found.a[part])),
                    "b": self.old.ids.take(column_of(found.b[part])),
                    "distance": column_of(found.distance[part]),
                    "similarity": column_of(found.similarity[part]),
                }
            )

    def _clustered(self, found: FoundPairs) -> Matches:
        return Matches.of(self.collected, self.old, found)

    @property
    def exact_copies(self) -> int:
        """How many removed documents have similarity 1 to an old one."""
        return int((self.clustering.similarity == 1).sum())

    @property
    def other_source(self) -> Source:
        return self.old_source

    @property
    def other_ids(self) -> pa.Array:
        return self.old.ids
