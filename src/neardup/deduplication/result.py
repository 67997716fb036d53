"""The result of a deduplication: pairs, clusters, kept rows and the summary."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.cluster import Clusters
from neardup.cluster.clusters import Copies, Pairs
from neardup.collection.collected import Collected
from neardup.collection.settings import DedupSettings
from neardup.collection.source import Source
from neardup.deduplication.rows import kept_rows, one_column, texts_at, together
from neardup.errors import SettingError
from neardup.fingerprints import Scheme
from neardup.kernels.columns import column_of
from neardup.pairs.search import FoundPairs

STAR_NOTE = "exact copies are paired with the first of their kind only"
PAIRS_AT_ONCE = 1 << 20


class Clustering(Protocol):
    """Which documents belong together: a row for each document of a cluster, by its place."""

    @property
    def cluster(self) -> NDArray[np.int64]: ...
    @property
    def place(self) -> NDArray[np.int64]: ...
    @property
    def kept(self) -> NDArray[np.bool_]: ...
    @property
    def similarity(self) -> NDArray[np.float64]: ...
    @property
    def sizes(self) -> NDArray[np.int64]: ...
    @property
    def removed(self) -> NDArray[np.int64]: ...
    def __len__(self) -> int: ...
    def table(self, ids: pa.Array) -> pa.Table: ...


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """What `dedup` found.

    `pairs` has a row for each accepted pair (`a, b, distance, similarity`), and one for each exact
    copy with the first document that it is a copy of. `clusters` has a row for each document in a
    cluster (`cluster, id, kept, duplicate_of, similarity`). `kept` has the kept rows.
    """

    source: Source
    settings: DedupSettings
    scheme: Scheme
    collected: Collected
    found: FoundPairs
    clustering: Clustering
    seconds: Mapping[str, float]

    @cached_property
    def pairs(self) -> pa.Table:
        """The accepted pairs, by ids, in the order of the input."""
        return pa.Table.from_batches(self.pair_batches())

    def pair_batches(self, most: int = PAIRS_AT_ONCE) -> Iterator[pa.RecordBatch]:
        """The rows of `pairs` in batches of about `most`; at least one, which may be empty."""
        members, firsts = self.collected.repeats()
        order = np.lexsort((members, firsts))
        members, firsts = members[order], firsts[order]
        # All pairs of a document are in one batch.
        ends = [0, len(self.collected)]
        cuts = np.unique(np.concatenate((ends, self.found.a[most::most], firsts[most::most])))
        for begin, end in pairwise(cuts.tolist() if len(cuts) > 1 else ends):
            near = slice(*np.searchsorted(self.found.a, [begin, end]))
            same = slice(*np.searchsorted(firsts, [begin, end]))
            yield self._pair_batch(near, members[same], firsts[same])

    def _pair_batch(
        self, near: slice, members: NDArray[np.int64], firsts: NDArray[np.int64]
    ) -> pa.RecordBatch:
        found, ids = self.found, self.collected.ids
        a, b = np.concatenate((found.a[near], firsts)), np.concatenate((found.b[near], members))
        distance = np.concatenate((found.distance[near], np.zeros(len(members), np.uint16)))
        similarity = np.concatenate((found.similarity[near], np.ones(len(members))))
        order = np.lexsort((b, a))
        batch = pa.RecordBatch.from_pydict(
            {
                "a": ids.take(column_of(a[order])),
                "b": ids.take(column_of(b[order])),
                "distance": column_of(distance[order]),
                "similarity": column_of(similarity[order]),
            }
        )
        return batch.replace_schema_metadata({"neardup.pairs": STAR_NOTE})

    @cached_property
    def clusters(self) -> pa.Table:
        """One row for each document that is in a cluster."""
        return self.clustering.table(self.collected.ids)

    @cached_property
    def kept(self) -> pa.Table:
        """The kept rows, with all columns of the input."""
        return together(kept_rows(self.source, self.keeps))

    @property
    def keeps(self) -> NDArray[np.bool_]:
        """Whether each document is kept."""
        kept = np.ones(len(self.collected), np.bool_)
        kept[self.clustering.removed] = False
        return kept

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The settings and the counts, as plain values."""
        from neardup.deduplication.summary import summary_of

        return summary_of(self)

    def save(
        self, path: str | os.PathLike[str], *, overwrite: bool = False, format: str = "parquet"
    ) -> None:
        """Write everything into the folder `path`, which appears complete or not at all."""
        from neardup.deduplication.save import save

        save(self, path, overwrite=overwrite, format=format)

    def rethreshold(self, threshold: float) -> Result:
        """The result at a stricter threshold, without running again."""
        if self.settings.similarity == "hamming":
            stricter, holds = threshold <= self.settings.threshold, self.found.distance <= threshold
        else:
            stricter = self.settings.threshold <= threshold <= 1
            holds = self.found.similarity >= threshold
        if not stricter:
            raise SettingError(
                f"threshold={threshold!r} is not stricter than {self.settings.threshold:g}, which "
                "this result was made with; run dedup again for that"
            )
        found = replace(
            self.found,
            a=self.found.a[holds],
            b=self.found.b[holds],
            distance=self.found.distance[holds],
            similarity=self.found.similarity[holds],
            false_by_distance=self.found.false_by_distance
            + np.bincount(self.found.distance[~holds], minlength=self.scheme.bits + 1),
        )
        settings = replace(self.settings, threshold=threshold)
        clustering = self._clustered(found)
        return replace(self, settings=settings, found=found, clustering=clustering)

    def _clustered(self, found: FoundPairs) -> Clustering:
        return clusters_of(self.source, self.settings, self.collected, found)

    @property
    def exact_copies(self) -> int:
        """How many documents have the same features as an earlier one."""
        return len(self.collected.repeats()[0])

    @property
    def other_source(self) -> Source:
        """The source of the second documents of the pairs."""
        return self.source

    @property
    def other_ids(self) -> pa.Array:
        """The ids of the source of the second documents."""
        return self.collected.ids

    def weakest(self, n: int = 10) -> pa.Table:
        """The accepted pairs nearest the threshold, with their texts, to judge the threshold by."""
        rows = self.weakest_rows(n)
        a, b = self.found.a[rows], self.found.b[rows]
        texts_a, texts_b = texts_at(self.source, a), texts_at(self.other_source, b)
        return pa.table(
            {
                "a": self.collected.ids.take(column_of(a)),
                "b": self.other_ids.take(column_of(b)),
                "similarity": column_of(self.found.similarity[rows]),
                "text_a": pa.array([texts_a[place] for place in a.tolist()], pa.large_string()),
                "text_b": pa.array([texts_b[place] for place in b.tolist()], pa.large_string()),
            }
        )

    def weakest_rows(self, n: int) -> NDArray[np.int64]:
        """The rows of the accepted pairs nearest the threshold, the weakest first."""
        return np.argsort(self.found.similarity, kind="stable")[:n]

    def _repr_html_(self) -> str:
        from neardup.deduplication.notebook import result_html

        return result_html(self)

    def __repr__(self) -> str:
        documents, clusters = len(self.collected), len(self.clustering)
        return (
            f"<Result of {documents:,} {'document' if documents == 1 else 'documents'}: "
            f"{len(self.clustering.removed):,} removed, "
            f"{clusters:,} {'cluster' if clusters == 1 else 'clusters'}>"
        )


def clusters_of(
    source: Source, settings: DedupSettings, collected: Collected, found: FoundPairs
) -> Clusters:
    """The clusters that exact copies and accepted pairs make, and which document each keeps."""
    members, representatives = collected.repeats()
    policy = settings.keep
    return Clusters.of(
        len(collected),
        Copies(members, representatives),
        Pairs(found.a, found.b, found.similarity),
        way=settings.cluster,
        policy=policy,
        lengths=collected.words.astype(np.int64),
        values=None if policy.column is None else one_column(source, policy.column),
    )
