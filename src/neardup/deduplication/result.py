"""The result of a deduplication: pairs, clusters, kept and removed rows, and the summary."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.cluster import Clusters
from neardup.collection.collected import Collected
from neardup.collection.deliveries import Delivery, Origins
from neardup.collection.settings import DedupSettings
from neardup.collection.source import MemorySource, Source
from neardup.deduplication.listed_pairs import PairList, with_copies
from neardup.deduplication.obeyed import Obeyed
from neardup.deduplication.removals import Both, Evidence, Found
from neardup.deduplication.rows import names_beside, rows_where, texts_at, together
from neardup.errors import SettingError
from neardup.fingerprints import Scheme
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.frozen import dataclass
from neardup.kernels.columns import column_of, taken
from neardup.pairs.all_pairs import PAIRS_AT_ONCE, PairBatch

STAR_NOTE = "exact copies are paired with the first of their kind only"
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """What `dedup` found.

    `clusters` has a row for each document in a cluster (`cluster, id, kept, duplicate_of,
    similarity`), `kept` the kept rows, `removed` the removed ones. `pairs` (`a, b, distance,
    similarity`) has a row for each removed document and the one it is a duplicate of; with
    `pairs="all"`, a row for each pair, and one for each exact copy with the first of its kind.
    Against an index, `duplicate_of_source` and `duplicate_of_added` name the delivery, and `pairs`
    has `b_source`.
    """

    source: Source
    settings: DedupSettings
    fingerprinter: Fingerprinter
    both: Both
    other_source: Source | None
    order: Places
    found: Found
    clustering: Clusters
    evidence: Evidence
    all_pairs: PairList | None
    seconds: Mapping[str, float]
    wall_seconds: float
    resumed: tuple[str, ...] = ()  # passes taken over from an interrupted run
    delivery: Delivery | None = None  # if the kept documents are added to an index
    origins: Origins | None = None  # of the other collection, if it is an index
    started: str = ""  # when the run began, as ISO 8601
    obeyed: Obeyed | None = None  # what people have decided, if the run was told

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """The result in a folder that `save` or `neardup dedup` wrote.

        The input is not read: rows and texts come from the folder.

        >>> import tempfile
        >>> import neardup as nd
        >>> texts = ["one two three four five", "One, two, three, four, five!", "something else"]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     nd.dedup(texts, pairs="all").save(folder)
        ...     nd.Result.load(folder).rethreshold(0.9)
        <Result of 3 documents: 1 removed, 1 cluster>
        """
        from neardup.deduplication.load import load

        return load(path)

    @property
    def collected(self) -> Collected:
        """The documents of the collection."""
        return self.both.left

    @property
    def scheme(self) -> Scheme:
        """The scheme of the fingerprints."""
        return self.fingerprinter.scheme

    @cached_property
    def pairs(self) -> pa.Table:
        """The listed pairs, by ids, in the order of the input."""
        return pa.Table.from_batches(self.pair_batches())

    @property
    def pair_count(self) -> int:
        """The number of rows of `pairs`."""
        if self.settings.pairs == "none":
            return 0
        if self.all_pairs is not None and self.settings.pairs == "all":
            return len(self.all_pairs) + len(self._copies.a)
        return len(self.evidence.a)

    def pair_batches(self, most: int = PAIRS_AT_ONCE) -> Iterator[pa.RecordBatch]:
        """The rows of `pairs` in batches of about `most`; at least one, which may be empty."""
        for batch in self.listed_pairs(most):
            yield self.named_pairs(batch)

    def listed_pairs(self, most: int = PAIRS_AT_ONCE) -> Iterator[PairBatch]:
        """The pairs of `pairs` by their places, in batches as `pair_batches`."""
        if self.settings.pairs == "all" and self.all_pairs is not None:
            batches = with_copies(self.all_pairs, self._copies, most)
            yield next(batches, self._copies)
            yield from batches
            return
        if self.evidence.distance is None:
            raise SettingError("pairs='none' lists no pairs; run dedup with pairs='evidence'")
        found = PairBatch(
            self.evidence.a, self.evidence.b, self.evidence.distance, self.evidence.similarity
        )
        for begin in range(0, max(1, len(found.a)), most):
            yield found.take(slice(begin, begin + most))

    @property
    def _copies(self) -> PairBatch:
        """Each exact copy with the first of its kind; none if only others are compared with."""
        members, firsts = self.collected.repeats()
        if self.both.right is not None and not self.both.within:
            members = firsts = np.zeros(0, np.int64)
        count = len(members)
        found = PairBatch(firsts, members, np.zeros(count, np.uint16), np.ones(count))
        return found.in_order()

    def named_pairs(self, pairs: PairBatch) -> pa.RecordBatch:
        """Pairs as rows of `pairs`."""
        columns = {
            "a": taken(self.collected.ids, column_of(pairs.a)),
            "b": self.ids_at(pairs.b),
            "distance": column_of(pairs.distance),
            "similarity": column_of(pairs.similarity),
        }
        if self.both.right is not None:
            columns["b_other"] = column_of(pairs.b >= len(self.collected))
        if self.origins is not None:
            columns["b_source"] = self.sources_at(pairs.b)
        rows = pa.RecordBatch.from_pydict(columns)
        lists_all = self.settings.pairs == "all" and self.all_pairs is not None
        note = {"neardup.pairs": STAR_NOTE} if lists_all and self.both.within else None
        return rows.replace_schema_metadata(note)

    @cached_property
    def clusters(self) -> pa.Table:
        """One row for each document that is in a cluster."""
        table = self.clustering.table(self.collected.ids, self.ids_at)
        clustering = self.clustering
        more = self._origin_columns(clustering.kept_for, clustering.kept)
        if self.both.right is not None:
            is_other = clustering.kept_for >= len(self.collected)
            named = {"duplicate_of_other": column_of(is_other, clustering.kept)}
            if clustering.via is not None:
                through_other = clustering.via >= len(self.collected)
                named["via_other"] = column_of(through_other, clustering.kept)
            more = {**named, **more}
        if self.obeyed is not None:
            more["decided_by"] = self._decided_by
        for name, column in more.items():
            table = table.append_column(name, column)
        return table

    @cached_property
    def _decided_by(self) -> pa.Array:
        """Who decided, for each row of `clustering`; null where similarity did."""
        clustering, obeyed = self.clustering, self.obeyed
        names: list[str | None] = [None] * len(clustering.place)
        if obeyed is not None:
            rows = np.flatnonzero(~clustering.kept)
            partner = clustering.kept_for if clustering.via is None else clustering.via
            # In a component, chains connect documents that are not similar enough.
            below = (clustering.similarity < self.settings.least) & (clustering.via is None)
            found = obeyed.decided_by(clustering.place[rows], partner[rows], below[rows])
            for row, name in zip(rows.tolist(), found, strict=True):
                names[row] = name
        return pa.array(names, pa.string())

    @cached_property
    def kept(self) -> pa.Table:
        """The kept rows, with all columns of the input."""
        return together(rows_where(self.source, self.keeps))

    @cached_property
    def removed(self) -> pa.Table:
        """The removed rows, with all columns of the input, `duplicate_of` and `similarity`."""
        rows = together(rows_where(self.source, ~self.keeps))
        found = self.removed_columns()
        for name, beside in names_beside(found, rows.schema.names).items():
            rows = rows.append_column(beside, found[name])
        return rows

    @cached_property
    def documents(self) -> pa.Table:
        """One row for each document, in the order of the input: what became of it.

        `id`, `kept`, then the other columns of `clusters`, which are null for a document in no
        cluster.
        """
        places = self.clustering.place
        row_of = np.full(len(self.collected), -1, np.int64)
        row_of[places] = np.arange(len(places))
        in_clusters = self.clusters.drop_columns(["id", "kept"])
        found = taken(in_clusters, column_of(np.maximum(row_of, 0), row_of < 0))
        of_all = {"id": self.collected.ids, "kept": column_of(self.keeps)}
        return pa.table({**of_all, **dict(zip(found.column_names, found.columns, strict=True))})

    def removed_columns(self) -> dict[str, pa.Array]:
        """`duplicate_of` and `similarity` of the removed documents, in the order of the input.

        Against an index also where `duplicate_of` comes from.
        """
        clustering = self.clustering
        rows = np.flatnonzero(~clustering.kept)
        rows = rows[np.argsort(clustering.place[rows])]
        found = {
            "duplicate_of": self.ids_at(clustering.kept_for[rows]),
            "similarity": column_of(clustering.similarity[rows]),
            **self._origin_columns(clustering.kept_for[rows]),
        }
        if self.obeyed is not None:
            found["decided_by"] = taken(self._decided_by, column_of(rows))
        return found

    def _origin_columns(
        self, places: Places, nulls: NDArray[np.bool_] | None = None
    ) -> dict[str, pa.Array]:
        """The delivery of documents by their places, if the other collection is an index."""
        if self.origins is None:
            return {}
        n = len(self.collected)
        added = np.zeros(len(places), np.int64)
        others = places >= n
        added[others] = self.origins.added[places[others] - n]
        when = column_of(added, added == 0).view(pa.timestamp("ms", "UTC"))
        return {
            "duplicate_of_source": self.sources_at(places, nulls),
            "duplicate_of_added": when,
        }

    def sources_at(self, places: Places, nulls: NDArray[np.bool_] | None = None) -> pa.Array:
        """The sources of documents by their places; null where they are not known."""
        assert self.origins is not None
        names: dict[str | None, int] = {self.origins.own: 0}
        numbers = [names.setdefault(name, len(names)) for name in self.origins.sources]
        of_place = np.zeros(len(places), np.int64)
        others = places >= len(self.collected)
        of_place[others] = np.array(numbers, np.int64)[places[others] - len(self.collected)]
        return taken(pa.array(list(names), pa.string()), column_of(of_place, nulls))

    @property
    def keeps(self) -> NDArray[np.bool_]:
        """Whether each document is kept."""
        kept = np.ones(len(self.collected), np.bool_)
        kept[self.clustering.removed] = False
        return kept

    @property
    def kept_rows(self) -> Places:
        """The numbers of the kept rows, from 0, in the table or list that was given to `dedup`.

        With it, other objects of the same rows can be cut: `dataset.select(result.kept_rows)`,
        `frame.iloc[result.kept_rows]`. Files have no such numbers; their rows are in `kept`.

        >>> import neardup as nd
        >>> nd.dedup(["one two three four", "something else", "One, two, three, four!"]).kept_rows
        array([0, 1])
        """
        if not isinstance(self.source, MemorySource):
            raise SettingError(
                "kept_rows numbers the rows of a table or list in memory, and this run read files "
                "or was loaded from a folder; use kept, or the files of the output"
            )
        return np.asarray(self.source.row_numbers[self.keeps])

    @property
    def unproven(self) -> NDArray[np.bool_]:
        """Which rows of `clustering` are removed without reaching the threshold.

        Those that people have decided on are not among them.
        """
        clustering = self.clustering
        below = ~clustering.kept & (clustering.similarity < self.settings.least)
        return below & ~self.decided

    @property
    def decided(self) -> NDArray[np.bool_]:
        """Which rows of `clustering` are removed because people said so."""
        if self.obeyed is None:
            return np.zeros(len(self.clustering.place), np.bool_)
        return np.asarray(self._decided_by.is_valid())

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The settings and the counts, as plain values."""
        from neardup.deduplication.summary import summary_of

        return summary_of(self)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        format: str | None = None,
        copies: bool = False,
    ) -> None:
        """Write everything into the folder `path`, or the kept rows alone into a file.

        A path that ends with `.parquet`, `.jsonl` or `.csv` (the latter two also with `.gz`, `.zst`
        or `.bz2`) is a file. Either appears complete or not at all. `format` is that of the rows in
        a folder, parquet unless given. With `copies`, the kept rows have a column `copies`: how
        many documents of the input each stands for, itself included.
        """
        from neardup.deduplication.kept_file import kept_file, save_kept
        from neardup.deduplication.save import save

        file = kept_file(path, format)
        if file is None:
            save(self, path, overwrite=overwrite, format=format or "parquet", copies=copies)
        else:
            save_kept(self, file, path, overwrite=overwrite, copies=copies)

    def rethreshold(self, threshold: float) -> Result:
        """The result at another threshold, without searching again.

        It needs all pairs (`pairs="all"`, which any `cluster` but `star` finds anyhow), and a
        threshold that is stricter or, if the result has a `floor`, not below the floor.
        """
        from neardup.deduplication.rethreshold import rethresholded

        return rethresholded(self, threshold)

    @property
    def exact_copies(self) -> int:
        """How many removed documents have the same features as another one."""
        return int(self.copied.sum())

    @cached_property
    def copied(self) -> NDArray[np.bool_]:
        """Which rows of `clustering` are removed, and have the same features as another document.

        That is an earlier document of the input, or the one it is a duplicate of.
        """
        clustering = self.clustering
        copied = ~clustering.kept
        rows = np.flatnonzero(copied)
        place, kept_for = clustering.place[rows], clustering.kept_for[rows]
        kinds, n = self.both.kinds, len(self.collected)
        is_copy = (kinds[place] == kinds[kept_for]) | (
            (kept_for >= n) & (clustering.similarity[rows] == 1)
        )
        if self.both.within:
            is_copy |= kinds[place] != place
        is_copy &= kinds[place] >= 0  # people may remove an empty document
        copied[rows] = is_copy
        return copied

    def ids_at(self, places: Places, nulls: NDArray[np.bool_] | None = None) -> pa.Array:
        """The ids of documents by their places, which go on through the other collection.

        Where documents of both collections may be meant, and their ids are of different types,
        all are strings; so are they beside an index if the documents have no ids.
        """
        right = self.both.right
        if right is None and not self._numbered:
            return taken(self.collected.ids, column_of(places, nulls))
        if right is not None and not self.both.within:
            begins = len(self.collected)
            ids = right.ids.cast(pa.large_string()) if self._numbered else right.ids
            return taken(ids, column_of(np.maximum(places - begins, 0), nulls))
        return taken(self._all_ids, column_of(places, nulls))

    def id_at(self, place: int) -> str:
        """The id of one document, of either collection, as text."""
        if place < len(self.collected):
            return str(self.collected.ids[place])
        return str(self.ids_at(np.array([place]))[0])

    def other_id(self, place: int) -> Any:
        """The id of a document of the other collection, by its place, as it is there."""
        assert self.both.right is not None
        return self.both.right.ids[place - len(self.collected)].as_py()

    @property
    def _numbered(self) -> bool:
        """Whether documents without ids are compared with an index, whose ids have names."""
        return self.origins is not None and self.origins.numbered

    @cached_property
    def _all_ids(self) -> pa.Array:
        parts = [self.collected.ids]
        if self.both.right is not None and (len(self.both.right) or self.origins is None):
            parts.append(self.both.right.ids)
        if self._numbered or any(part.type != parts[0].type for part in parts):
            parts = [part.cast(pa.large_string()) for part in parts]
        return pa.concat_arrays(parts)

    def texts_at(self, places: Places) -> dict[int, str]:
        """The texts of documents by their places, which go on through the other collection."""
        n = len(self.collected)
        texts = texts_at(self.source, places[places < n])
        if self.other_source is not None:
            found = texts_at(self.other_source, places[places >= n] - n)
            texts |= {n + place: text for place, text in found.items()}
        return texts

    def weakest(self, n: int = 10) -> pa.Table:
        """The pairs nearest the threshold that removed a document, with their texts."""
        rows = self.weakest_rows(n)
        a, b = self.evidence.a[rows], self.evidence.b[rows]
        texts = self.texts_at(np.concatenate((a, b)))
        return pa.table(
            {
                "a": taken(self.collected.ids, column_of(a)),
                "b": self.ids_at(b),
                "similarity": column_of(self.evidence.similarity[rows]),
                "text_a": pa.array([texts[place] for place in a.tolist()], pa.large_string()),
                "text_b": pa.array([texts[place] for place in b.tolist()], pa.large_string()),
            }
        )

    def weakest_rows(self, n: int) -> Places:
        """The rows of the evidence nearest the threshold, the weakest first.

        Without those below the threshold, which people have decided on.
        """
        similarity = self.evidence.similarity
        order = np.argsort(similarity, kind="stable")
        if self.obeyed is not None:
            order = order[similarity[order] >= self.settings.least]
        return order[:n]

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
