"""The tables of a run by places instead of ids: who was removed for whom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow._compute import SetLookupOptions, call_function

from neardup.deduplication.load import documents_in, settings_of, stored_keep_order
from neardup.frozen import dataclass
from neardup.kernels.columns import chosen, column_of, converted, taken
from neardup.runs.folder import RunFolder
from neardup.settings import CONTAINMENTS

Places = NDArray[np.int64]
Similarities = NDArray[np.float64]

NONE = -1  # no place, no cluster, no source


@dataclass(frozen=True, eq=False)
class Removals:
    """The documents of a run, and what happened to them, by place.

    The documents of the other collection follow those of the input. `kept_for` and `via` are
    places, and NONE where nothing was removed; `copy_of` is the first document with the same
    features, NONE for an empty one. `sources` are numbers of `source_names`. `rank` is the place
    in keep order. By containment, a similarity of 1 does not tell exact copies (`copies_at_1`).
    """

    documents: int
    others: int
    ids: pa.Array
    other_ids: pa.Array
    kept: NDArray[np.bool_]
    words: NDArray[np.uint32]
    copy_of: Places
    sources: NDArray[np.int32]
    source_names: tuple[str, ...]
    rank: Places | None
    cluster: Places
    kept_for: Places
    similarity: Similarities
    via: Places | None
    decided_by: dict[int, str]
    copies_at_1: bool

    @property
    def count(self) -> int:
        """The number of documents of both collections."""
        return self.documents + self.others

    @property
    def removed(self) -> Places:
        """The removed documents, ascending."""
        return np.flatnonzero(~self.kept)

    @property
    def is_copy(self) -> NDArray[np.bool_]:
        """Whether a document of the input was removed as an exact copy.

        It has the features of an earlier one, or of the one it is a duplicate of.
        """
        n = self.documents
        own = np.arange(n)
        found = (self.copy_of != own) & (self.copy_of >= 0)
        target = self.kept_for
        inside = (target >= 0) & (target < n)
        found |= inside & (self.copy_of >= 0) & (self.copy_of == self.copy_of[target % max(1, n)])
        if self.copies_at_1:
            found |= (target >= n) & (self.similarity == 1)
        return np.asarray(found & ~self.kept)


class PlacesOfIds:
    """The places of documents by their ids, of the input and of the other collection."""

    def __init__(self, folder: RunFolder, ids: pa.Array, other_ids: pa.Array) -> None:
        self._folder = folder
        self._ids, self._other_ids = ids, other_ids
        self._numbers = (
            np.asarray(ids.to_numpy()) if pa.types.is_integer(ids.type) and len(ids) else None
        )
        self._are_places = self._numbers is not None and bool(
            (self._numbers == np.arange(len(ids))).all()
        )

    def of(self, file: str, ids: pa.Array, is_other: NDArray[np.bool_] | None = None) -> Places:
        """The places of ids; NONE for null. `is_other` says which are of the other collection."""
        if is_other is None or not is_other.any():
            return self._inside(file, ids)
        found = np.empty(len(ids), np.int64)
        found[~is_other] = self._inside(file, chosen(ids, ~is_other))
        others = _looked_up(chosen(ids, is_other), self._other_ids)
        self._require(file, ids, others)
        found[is_other] = others + len(self._ids)
        return found

    def _inside(self, file: str, ids: pa.Array) -> Places:
        if self._are_places and pa.types.is_integer(ids.type):
            found = np.asarray(ids.fill_null(NONE).to_numpy()).astype(np.int64)
            found[found >= len(self._ids)] = NONE
        else:
            found = _looked_up(ids, self._ids)
        self._require(file, ids, found)
        return found

    def _require(self, file: str, ids: pa.Array, found: Places) -> None:
        if int((found < 0).sum()) > ids.null_count:
            raise self._folder.damaged(file, "it names documents that documents.parquet has not")


def _looked_up(ids: pa.Array, known: pa.Array) -> Places:
    if ids.type != known.type:
        # Where documents of both collections may be named, ids of two types are strings.
        ids, known = converted(ids, pa.large_string()), converted(known, pa.large_string())
    options = SetLookupOptions(value_set=known, skip_nulls=True)
    found = call_function("index_in", [ids], options)
    return np.asarray(found.fill_null(NONE).to_numpy(zero_copy_only=False)).astype(np.int64)


def read_removals(folder: RunFolder) -> tuple[Removals, PlacesOfIds]:
    """Read who was removed for whom."""
    documents = _Documents(folder)
    ids, other_ids = documents.ids, _other_ids(folder)
    places = PlacesOfIds(folder, ids, other_ids)
    n = len(ids)
    cluster = np.full(n, NONE, np.int64)
    kept_for = np.full(n, NONE, np.int64)
    similarity = np.full(n, np.nan)
    via: Places | None = None
    decided_by: dict[int, str] = {}
    columns = ["cluster", "id", "duplicate_of", "similarity", "duplicate_of_other"]
    for batch in folder.batches("clusters.parquet", [*columns, "via", "via_other", "decided_by"]):
        names = batch.schema.names
        at = places.of("clusters.parquet", batch["id"])
        cluster[at] = batch["cluster"].to_numpy()
        is_other = _flags(batch, "duplicate_of_other")
        kept_for[at] = places.of("clusters.parquet", batch["duplicate_of"], is_other)
        similarity[at] = batch["similarity"].to_numpy(zero_copy_only=False)
        if "via" in names:
            via = np.full(n, NONE, np.int64) if via is None else via
            through_other = _flags(batch, "via_other")
            via[at] = places.of("clusters.parquet", batch["via"], through_other)
        if "decided_by" in names:
            by = batch["decided_by"].to_pylist()
            decided_by |= {place: name for place, name in zip(at.tolist(), by, strict=True) if name}
    removals = Removals(
        n,
        len(other_ids),
        ids,
        other_ids,
        documents.kept,
        documents.words,
        documents.copy_of,
        documents.sources,
        documents.source_names,
        documents.rank,
        cluster,
        kept_for,
        similarity,
        via,
        decided_by,
        folder.settings.get("similarity") not in CONTAINMENTS,
    )
    return removals, places


def _flags(batch: pa.RecordBatch, name: str) -> NDArray[np.bool_] | None:
    """A column of flags; None if the run has no other collection, and no such column."""
    if name not in batch.schema.names:
        return None
    return np.asarray(batch[name].fill_null(False).to_numpy(zero_copy_only=False))


def _other_ids(folder: RunFolder) -> pa.Array:
    if not folder.has("others.parquet"):
        return pa.nulls(0, pa.large_string())
    return _joined([batch["id"] for batch in folder.batches("others.parquet", ["id"])])


def _joined(parts: list[pa.Array]) -> pa.Array:
    if not parts:
        return pa.nulls(0, pa.large_string())
    if not pa.types.is_integer(parts[0].type):
        parts = [converted(part, pa.large_string()) for part in parts]
    return pa.concat_arrays(parts)


class _Documents:
    """The columns of documents.parquet."""

    def __init__(self, folder: RunFolder) -> None:
        ids: list[pa.Array] = []
        parts: dict[str, list[NDArray[Any]]] = {
            name: [] for name in ("kept", "words", "copy_of", "source", "rank")
        }
        names: dict[str, int] = {}
        for batch in folder.batches("documents.parquet", ["id", *parts]):
            ids.append(batch["id"])
            parts["kept"].append(np.asarray(batch["kept"].to_numpy(zero_copy_only=False)))
            parts["words"].append(batch["words"].to_numpy())
            parts["copy_of"].append(batch["copy_of"].fill_null(NONE).to_numpy())
            parts["source"].append(_source_numbers(batch["source"], names))
            if "rank" in batch.schema.names:
                parts["rank"].append(batch["rank"].to_numpy())
        self.ids = _joined(ids)
        self.kept = _concatenated(parts["kept"], np.bool_)
        self.words = _concatenated(parts["words"], np.uint32)
        self.copy_of = _concatenated(parts["copy_of"], np.int64)
        self.sources = _concatenated(parts["source"], np.int32)
        self.source_names = tuple(names)
        self.rank = _concatenated(parts["rank"], np.int64) if parts["rank"] else _rank(folder)
        if len(self.ids) != folder.summary["documents"]:
            raise folder.damaged(
                "documents.parquet",
                f"it has {len(self.ids):,} rows, and the run {folder.summary['documents']:,} "
                "documents",
            )


def _rank(folder: RunFolder) -> Places | None:
    """The places in keep order of a run that stores none; None if it is that of the input."""
    if "engine" not in folder.summary:
        return None
    settings = settings_of(folder.summary, folder.path)
    order = stored_keep_order(folder.path, folder.summary, settings, documents_in(folder.path))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank


def _source_numbers(column: pa.Array, names: dict[str, int]) -> NDArray[np.int32]:
    """The numbers of the sources, which are the same in all batches."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    numbers = [names.setdefault(name, len(names)) for name in column.dictionary.to_pylist()]
    of_batch = np.array([*numbers, NONE], np.int32)  # NONE for null
    return np.asarray(of_batch[column.indices.fill_null(len(numbers)).to_numpy()])


def _concatenated(parts: list[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, kind), *parts]).astype(kind)


def pair_batches(
    folder: RunFolder, places: PlacesOfIds
) -> Iterator[tuple[Places, Places, Similarities, NDArray[np.uint16]]]:
    """The listed pairs by places, some at a time: a, b, similarity and distance."""
    if not folder.has("pairs.parquet"):
        return
    for batch in folder.batches("pairs.parquet", ["a", "b", "similarity", "distance", "b_other"]):
        is_other = _flags(batch, "b_other")
        yield (
            places.of("pairs.parquet", batch["a"]),
            places.of("pairs.parquet", batch["b"], is_other),
            np.asarray(batch["similarity"].to_numpy(zero_copy_only=False), np.float64),
            np.asarray(batch["distance"].to_numpy(zero_copy_only=False), np.uint16),
        )


def some_ids(removals: Removals, begin: int, end: int) -> list[int | str]:
    """The ids of the documents at the places from `begin` to `end`, of both collections."""
    found: list[int | str] = []
    n = removals.documents
    for ids, first in ((removals.ids, 0), (removals.other_ids, n)):
        low, high = max(begin - first, 0), min(end - first, len(ids))
        if low < high:
            found += taken(ids, column_of(np.arange(low, high))).to_pylist()
    return found
