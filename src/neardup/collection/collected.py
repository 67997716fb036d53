"""A collection read once: what must be known of all documents at the same time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.feature_store import FeatureStore
from neardup.collection.rarity import Rarity
from neardup.collection.records import Records
from neardup.collection.rejected import RejectedRows
from neardup.collection.source import DocumentBatch, Progress, Source
from neardup.engines.local import Mapped
from neardup.features.columns import GivenTerms
from neardup.features.weighted import WeightedFeatures
from neardup.fingerprints.fingerprinter import Fingerprinter, Rows
from neardup.frozen import dataclass
from neardup.kernels.hamming_join import RowGroups, group_rows
from neardup.kernels.machine import release_memory

Places = NDArray[np.int64]

# The place of each document, its number among the distinct ones, and the first of each of those.
_DOCUMENT_BYTES = 4 * 8
# Batches have up to 4 MB of text, or a single document, whose features take ten times its size.
_MOST_BATCHES_AT_ONCE = 4
_LARGE_BATCH = 16 << 20


@dataclass(frozen=True, eq=False)
class Collected:
    """All documents by their places: ids, word counts, and which are exact copies.

    `copies` groups the documents that are not empty (`filled`, their places) by their features, or
    by their fingerprints if there are no features. `rows` are the fingerprints, one array for each
    fingerprinter that `collect` was given. `seconds` is the time for reading, features and
    fingerprints. `records` has the columns of all documents, where a scorer needs
    them, and `rarity` says how rare words are in all collections of the run, for a model.
    """

    ids: pa.Array
    words: NDArray[np.uint32]
    filled: Places
    copies: RowGroups
    rows: tuple[NDArray[np.uint64], ...]
    features: FeatureStore | None
    rejected: RejectedRows
    seconds: dict[str, float] = field(default_factory=dict)
    records: Records | None = None
    rarity: Rarity | None = None

    def __len__(self) -> int:
        return len(self.words)

    @property
    def firsts(self) -> Places:
        """The place of the first document of each group of exact copies."""
        return np.asarray(self.filled[self.copies.firsts])

    def repeats(self) -> tuple[Places, Places]:
        """The places of exact copies, and of the first document that each is a copy of."""
        first = self.firsts[self.copies.group_of]
        later = first != self.filled
        return self.filled[later], first[later]

    @property
    def store(self) -> FeatureStore:
        """The features, where the search needs them."""
        if self.features is None:
            raise ValueError("features were not collected")
        return self.features

    def release_features(self) -> None:
        """Give up features and columns, which clusters and outputs do not need."""
        if self.features is not None:
            self.features.release()
        if self.records is not None:
            self.records.release()

    def rows_at(self, places: Places, fingerprinter: Fingerprinter) -> NDArray[np.uint64]:
        """The fingerprints of some documents: those collected, or made of the features."""
        if self.rows:
            return np.asarray(self.rows[0][places])
        some, numbers = np.unique(places, return_inverse=True)
        return np.asarray(self.store.rows(fingerprinter, some)[numbers])


@dataclass
class _Parts:
    """Batches as they come, to be put together at the end."""

    ids: list[pa.Array] = field(default_factory=list)
    words: list[NDArray[np.uint32]] = field(default_factory=list)
    rows: list[tuple[NDArray[np.uint64], ...]] = field(default_factory=list)
    keys: list[NDArray[np.uint64]] = field(default_factory=list)
    rejected: RejectedRows = field(default_factory=RejectedRows)
    documents: int = 0
    bytes: int = 0

    def count(self, ids: pa.Array) -> tuple[int, int]:
        """One more batch: how many documents there are now, and how many bytes they take."""
        self.documents += len(ids)
        self.bytes += ids.nbytes + _DOCUMENT_BYTES * len(ids)
        self.bytes += sum(made[-1].nbytes for made in (self.words, self.keys) if made)
        self.bytes += sum(rows.nbytes for rows in self.rows[-1])
        return self.documents, self.bytes


@dataclass(frozen=True, eq=False)
class _Made:
    """A batch with its fingerprints and word counts, its features and their keys."""

    batch: DocumentBatch
    rows: list[Rows]
    features: WeightedFeatures | None
    keys: NDArray[np.uint64]
    seconds: dict[str, float]


class _FeatureWork:
    """Makes fingerprints and features of batches; threads take a batch each, as far as memory goes.

    Threads that take batches need not wait for each other, as those that share a batch do.
    """

    def __init__(
        self, fingerprinter: Fingerprinter, rows_by: Sequence[Fingerprinter], needs_features: bool
    ) -> None:
        self.workers = min(fingerprinter.threads, _MOST_BATCHES_AT_ONCE)
        threads = fingerprinter.threads // self.workers
        self._fingerprinter = fingerprinter.with_threads(threads) if needs_features else None
        self._rows_by = [one.with_threads(threads) for one in rows_by]

    def made_of(self, batches: Iterable[DocumentBatch]) -> Iterable[_Made]:
        return Mapped(self._made, batches, self.workers, purpose="read the input", large=_is_large)

    def _made(self, batch: DocumentBatch) -> _Made:
        features, keys = None, np.zeros((0, 2), np.uint64)
        if not len(batch.ids):
            return _Made(batch, [], features, keys, {})
        began = time.perf_counter()
        rows = [one.rows(batch.columns) for one in self._rows_by]
        after_rows = time.perf_counter()
        if self._fingerprinter is not None:
            features = self._fingerprinter.features(batch.columns)
            keys = features.content_keys()
        spent = {"fingerprint": after_rows - began, "features": time.perf_counter() - after_rows}
        return _Made(batch, rows, features, keys, spent)


def _is_large(batch: DocumentBatch) -> bool:
    """Whether a batch has a document so long that its features need much memory."""
    columns = batch.columns
    if isinstance(columns, GivenTerms):
        return bool(columns.terms.nbytes > _LARGE_BATCH)
    return bool(sum(column.texts.nbytes for column in columns) > _LARGE_BATCH)


def collect(
    source: Source,
    fingerprinter: Fingerprinter,
    *,
    features: FeatureStore | None,
    records: Records | None = None,
    rarity: Rarity | None = None,
    rows_by: Sequence[Fingerprinter] = (),
    by_words: bool = False,
    watch: Callable[[int, int], None] | None = None,
    progress: Progress | None = None,
) -> Collected:
    """Read all documents once.

    Their features go to the store, their columns to `records` and `rarity`. Without a store, copies
    are documents of the same fingerprint, and `rows_by` must not be empty. With `by_words`, copies
    have the same number of words as well.
    `watch` is called with the number of documents so far and the bytes that are held of them, not
    counting the store; it may refuse more.
    """
    parts, began = _Parts(), time.perf_counter()
    seconds = {"features": 0.0, "fingerprint": 0.0}
    work = _FeatureWork(fingerprinter, rows_by, needs_features=features is not None)
    for made in work.made_of(source.batches(progress)):
        batch = made.batch
        parts.rejected.add(batch.rejected)
        # A batch in which all rows were rejected does not tell the type of the ids.
        if not len(batch.ids):
            continue
        parts.ids.append(batch.ids)
        parts.rows.append(tuple(rows for rows, _ in made.rows))
        if features is None or made.features is None:
            parts.words.append(made.rows[0][1])
        else:
            parts.words.append(made.features.words)
            parts.keys.append(made.keys)
            features.add(made.features)
        if records is not None and not isinstance(batch.columns, GivenTerms):
            texts = [column.texts for column in batch.columns]
            records.add(texts)
            if rarity is not None:
                rarity.add(texts)
        for name, spent in made.seconds.items():
            seconds[name] += spent / work.workers
        held = parts.count(batch.ids)
        if watch is not None:
            watch(*held)
    # What reading has freed would otherwise stay with the process, and count beside the search.
    pa.default_memory_pool().release_unused()
    release_memory()
    read = time.perf_counter() - began - sum(seconds.values())
    words = np.concatenate([np.zeros(0, np.uint32), *parts.words])
    rows = tuple(
        np.concatenate([one.no_rows(), *(made[number] for made in parts.rows)])
        for number, one in enumerate(rows_by)
    )
    none = np.zeros((0, 2), np.uint64)
    keys = rows[0] if features is None else np.concatenate([none, *parts.keys])
    return Collected(
        pa.concat_arrays(parts.ids) if parts.ids else pa.nulls(0, pa.int64()),
        words,
        *grouped(words, keys, by_words=by_words, threads=fingerprinter.threads),
        rows,
        features,
        parts.rejected,
        {"read": read, **seconds},
        records,
        rarity,
    )


def grouped(
    words: NDArray[np.uint32], keys: NDArray[np.uint64], *, by_words: bool = False, threads: int = 1
) -> tuple[Places, RowGroups]:
    """The places of the documents that are not empty, and those with equal keys as groups."""
    filled = np.flatnonzero(words)
    keys = keys[filled]
    if by_words:
        keys = np.column_stack([keys, words[filled].astype(np.uint64)])
    return filled, group_rows(np.ascontiguousarray(keys), threads=threads)
