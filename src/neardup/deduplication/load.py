"""A result from the folder that it was saved in, without reading the input again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from neardup.cluster import Clusters
from neardup.collection.collected import Collected
from neardup.collection.deliveries import Delivery, Origins
from neardup.collection.model import with_own_model
from neardup.collection.rejected import RejectedRows
from neardup.collection.settings import DedupSettings
from neardup.collection.source import fingerprinter_of
from neardup.deduplication.document_files import DOCUMENTS, OTHERS, part_files
from neardup.deduplication.listed_pairs import HeldPairs
from neardup.deduplication.obeyed import OBEYED, Obeyed
from neardup.deduplication.removals import Both, Evidence, Found, evidence_of
from neardup.deduplication.result import Result
from neardup.deduplication.rows import keep_order
from neardup.deduplication.stored_source import StoredOthers, StoredSource
from neardup.errors import InputError
from neardup.fingerprints import Scheme
from neardup.kernels.hamming_join import RowGroups
from neardup.pairs.all_pairs import PAIRS_AT_ONCE, PairBatch, joined
from neardup.read import Rejected

Places = NDArray[np.int64]


def load(path: str | os.PathLike[str]) -> Result:
    """The result that was saved in the folder `path`; `InputError` if there is none."""
    folder = Path(path)
    summary = summary_in(folder)
    try:
        return _Loaded(folder, summary).result()
    except (OSError, pa.ArrowException, KeyError) as error:
        raise InputError(
            f"{path} is not the complete folder of a run ({_said(error)}); run dedup again"
        ) from None


def summary_in(folder: Path) -> dict[str, Any]:
    """The summary of a run that can be opened again."""
    try:
        summary = json.loads((folder / "summary.json").read_bytes())
    except FileNotFoundError:
        missing = "there is no such folder" if not folder.exists() else "it has no summary.json"
        raise InputError(f"{folder} is not a folder that dedup wrote: {missing}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {folder / 'summary.json'}: {_said(error)}") from None
    if not isinstance(summary, dict) or "scheme" not in summary or "settings" not in summary:
        raise InputError(f"{folder} is not a folder that dedup wrote; its summary.json is another")
    if "columns" not in summary or not (folder / DOCUMENTS).exists():
        raise InputError(
            f"{folder} was written by an earlier version of neardup and lacks {DOCUMENTS}; run "
            "dedup again"
        )
    return summary


def settings_of(summary: Mapping[str, Any], folder: Path) -> DedupSettings:
    """The settings of a run; the scheme is the one that its fingerprints were made by.

    A model is the copy in the folder of the run.
    """
    settings = DedupSettings.of(**with_own_model(summary["settings"], folder))
    levels = tuple(float(level) for level in summary["levels"])
    return replace(settings, scheme=Scheme.parse(summary["scheme"]), levels=levels)


def documents_in(folder: Path) -> pa.Table:
    """What the run tells of every document."""
    return _table(folder / DOCUMENTS)


def stored_keep_order(
    folder: Path, summary: Mapping[str, Any], settings: DedupSettings, documents: pa.Table
) -> Places:
    """The places of the documents of a run, the preferred one first.

    A run on a cluster stores no ranks, since no task sees all documents: the order is found anew.
    """
    if "rank" in documents.column_names:
        return np.argsort(documents["rank"].to_numpy())
    if "engine" not in summary:
        return np.arange(len(documents))
    if settings.keep.column is not None and summary["format"] == "csv":
        raise InputError(
            f"{folder} does not tell which documents keep={settings.keep} prefers: CSV has texts "
            "only; run dedup with --format parquet or jsonl to open the run again"
        )
    source = StoredSource(folder, summary, settings, documents)
    return keep_order(source, settings.keep, documents["words"].to_numpy())


def _said(error: BaseException) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error).partition("\n")[0]


class _Loaded:
    """The parts of a result, from the files of its folder."""

    def __init__(self, folder: Path, summary: dict[str, Any]) -> None:
        self._folder, self._summary = folder, summary
        self._settings = settings_of(summary, folder)
        self._documents = documents_in(folder)
        self._others = None
        if (folder / OTHERS).exists():
            self._others = StoredOthers(folder, summary["against"], self._settings.scheme.fields)

    def result(self) -> Result:
        settings, summary = self._settings, self._summary
        fingerprinter = fingerprinter_of(settings.scheme, settings.threads)
        found = Found(
            summary["candidates"],
            np.zeros(settings.scheme.bits + 1, np.int64),
            summary["plan"],
            summary["reason"],
            (),
            None if summary["false"] is None else summary["candidates"] - summary["false"],
        )
        return Result(
            StoredSource(self._folder, summary, settings, self._documents),
            settings,
            fingerprinter,
            self.both,
            self._others,
            self._order,
            found,
            self._clusters,
            self._evidence,
            self._all_pairs,
            {stage: spent for stage, spent in summary["seconds"].items() if stage != "output"},
            summary["wall_seconds"] - summary["seconds"].get("output", 0),
            tuple(summary["resumed"]),
            self._delivery,
            self._origins,
            summary["started"],
            self._obeyed,
        )

    @cached_property
    def _obeyed(self) -> Obeyed | None:
        if not (self._folder / OBEYED).exists():
            return None
        held = json.loads((self._folder / OBEYED).read_bytes())
        others: dict[Any, int] = {}
        if self.both.right is not None:
            for place, id in enumerate(self.both.right.ids.to_pylist(), len(self.both.left)):
                others.setdefault(id, place)
        return Obeyed.of_stored(held, others.get)

    @cached_property
    def both(self) -> Both:
        rejected = RejectedRows()
        with (self._folder / "rejected.jsonl").open(encoding="utf-8", newline="") as lines:
            rejected.add(Rejected(**json.loads(line)) for line in lines)
        words = self._documents["words"].to_numpy()
        kinds = self._documents["copy_of"].fill_null(-1).to_numpy()
        filled = np.flatnonzero(kinds >= 0)
        firsts, group_of = np.unique(kinds[filled], return_inverse=True)
        copies = RowGroups(np.searchsorted(filled, firsts), group_of.astype(np.int64))
        ids = self._documents["id"].combine_chunks()
        left = Collected(ids, words, filled, copies, (), None, rejected)
        if self._others is None:
            return Both(left, None)
        count = len(self._others.table)
        right = Collected(
            self._others.table["id"].combine_chunks(),
            np.ones(count, np.uint32),
            np.arange(count),
            RowGroups.alone(count),
            (),
            None,
            RejectedRows(),
        )
        return Both(left, right, self._summary["within"])

    @cached_property
    def _order(self) -> Places:
        return stored_keep_order(self._folder, self._summary, self._settings, self._documents)

    @cached_property
    def _origins(self) -> Origins | None:
        if self._others is None or "source" not in self._others.table.column_names:
            return None
        others = self._others.table
        added = others["added"].cast(pa.int64()).fill_null(0).to_numpy()
        numbered = self._summary["columns"]["id"] is None
        own = self._summary["source"] or ""
        return Origins(own, numbered, others["source"].to_pylist(), added)

    @property
    def _delivery(self) -> Delivery | None:
        if self._summary.get("delivery") is None:
            return None
        return Delivery(self._summary["source"], self._summary["delivery"])

    def _places(self, ids: pa.ChunkedArray, is_other: pa.ChunkedArray | None) -> Places:
        """The places of documents by their ids; -1 for null."""
        own = _found(ids, self.both.left.ids)
        if is_other is None or self.both.right is None:
            return own
        others = _found(ids, self.both.right.ids) + len(self.both.left)
        return np.where(is_other.fill_null(False).to_numpy(zero_copy_only=False), others, own)

    @cached_property
    def _clusters(self) -> Clusters:
        table = _table(self._folder / "clusters.parquet")
        n = len(self.both.left)
        place = self._places(table["id"], None)
        is_other = table["duplicate_of_other"] if self.both.right is not None else None
        kept = table["kept"].to_numpy(zero_copy_only=False)
        kept_for = np.where(kept, place, self._places(table["duplicate_of"], is_other))
        cluster = table["cluster"].to_numpy()
        similarity = np.where(kept, np.nan, table["similarity"].fill_null(np.nan).to_numpy())
        found = Clusters(
            n, cluster, place, self._around(cluster, place, kept_for), kept_for, similarity
        )
        if "via" not in table.column_names:
            return found
        through_other = table["via_other"] if self.both.right is not None else None
        via = np.where(kept, place, self._places(table["via"], through_other))
        return replace(found, via=via, link=self._links(place, via, kept))

    def _around(self, cluster: Places, place: Places, kept_for: Places) -> Places:
        """The document that each cluster was made around: of the other collection, or the first."""
        n = len(self.both.left)
        obeyed = self._obeyed
        order = self._order if obeyed is None else obeyed.told.order(self._order)
        rank = np.empty(n, np.int64)
        rank[order] = np.arange(n)
        count = int(cluster[-1]) + 1 if len(cluster) else 0
        best = np.full(count, n, np.int64)
        np.minimum.at(best, cluster, rank[place])
        around = order[np.minimum(best, n - 1)] if n else best
        others = kept_for >= n
        around[cluster[others]] = kept_for[others]
        return np.asarray(around[cluster])

    def _links(self, place: Places, via: Places, kept: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The similarity of each removed document to the next one in its chain."""
        kinds, count = self.both.kinds, self.both.count
        kinds = np.where(kinds < 0, np.arange(count), kinds)  # decisions may name empty documents
        pairs = joined(list(self._stored.batches()))
        one, other = kinds[place], kinds[via]
        if self._settings.pairs == "evidence":  # these name the documents, not the first copies
            one, other = place, via
        keys = pairs.a * count + pairs.b
        order = np.argsort(keys)
        wanted = np.minimum(one, other) * count + np.maximum(one, other)
        rows = np.minimum(np.searchsorted(keys[order], wanted), max(0, len(keys) - 1))
        link = np.full(len(place), np.nan)
        if len(keys):
            known = keys[order][rows] == wanted
            link[known] = pairs.similarity[order][rows[known]]
        link[kinds[place] == kinds[via]] = 1.0
        link[kept] = np.nan
        return link

    @cached_property
    def _stored(self) -> HeldPairs:
        """The pairs that the folder lists."""
        if self._settings.pairs == "none":
            return HeldPairs(joined([]))
        return HeldPairs(joined(list(self._pair_batches())))

    def _pair_batches(self) -> Iterator[PairBatch]:
        for part in part_files(self._folder / "pairs.parquet"):
            with part.open("rb") as file:
                for batch in pq.ParquetFile(file).iter_batches(PAIRS_AT_ONCE):
                    yield self._pairs_of(pa.Table.from_batches([batch]))

    def _pairs_of(self, table: pa.Table) -> PairBatch:
        is_other = table["b_other"] if self.both.right is not None else None
        return PairBatch(
            self._places(table["a"], None),
            self._places(table["b"], is_other),
            table["distance"].to_numpy(),
            table["similarity"].to_numpy(),
        )

    @cached_property
    def _all_pairs(self) -> HeldPairs | None:
        """All pairs, without the exact copies, which are listed beside them."""
        if self._settings.pairs != "all":
            return None
        pairs, kinds = self._stored.pairs, self.both.kinds
        copies = (kinds[pairs.a] == kinds[pairs.b]) & (pairs.b < len(self.both.left))
        copies &= kinds[pairs.a] >= 0
        return HeldPairs(pairs.take(~copies))

    @property
    def _evidence(self) -> Evidence:
        if self._settings.pairs == "none":
            return evidence_of(self.both, self._clusters, None)
        pairs = self._stored.pairs
        if self._settings.pairs == "evidence":
            return Evidence(pairs.a, pairs.b, pairs.distance, pairs.similarity)
        keys = pairs.a * self.both.count + pairs.b

        def distances_of(a: Places, b: Places) -> NDArray[np.uint16]:
            wanted = np.minimum(a, b) * self.both.count + np.maximum(a, b)
            return np.asarray(pairs.distance[np.searchsorted(keys, wanted)])

        return evidence_of(self.both, self._clusters, distances_of)


def _table(path: Path) -> pa.Table:
    tables = []
    for part in part_files(path):
        # Through a Python file, because Arrow does not accept names that are not UTF-8.
        with part.open("rb") as file:
            tables.append(pq.read_table(file))
    return pa.concat_tables(tables).unify_dictionaries()


def _found(ids: pa.ChunkedArray, among: pa.Array) -> Places:
    """Where the ids are among others, which may be of another type; -1 for none."""
    if among.type != ids.type:
        among, ids = among.cast(pa.large_string()), ids.cast(pa.large_string())
    places = pc.index_in(ids, value_set=among, skip_nulls=True).fill_null(-1)
    return np.asarray(places.to_numpy()).astype(np.int64)
