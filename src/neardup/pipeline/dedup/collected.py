"""The first pass: every document read once, and what must be known of all of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.features.weighted import WeightedFeatures, joined
from neardup.fingerprints.maker import Maker
from neardup.kernels.join import RowGroups, group_rows
from neardup.pipeline.dedup.source import DocumentBatch, Source
from neardup.pipeline.inputs import Progress
from neardup.read import Rejected


@dataclass(frozen=True, eq=False)
class Collected:
    """All documents by their places: ids, words, and which have the same features.

    `rows` are their fingerprints, or None where none were asked for. `copies` groups the documents
    that are not empty (`filled`, their places) by their features. `features` are those of the
    first of each group, or None where they did not fit the memory.
    """

    ids: pa.Array
    words: NDArray[np.uint32]
    rows: NDArray[np.uint64] | None
    filled: NDArray[np.int64]
    copies: RowGroups
    features: WeightedFeatures | None
    rejected: tuple[Rejected, ...]

    def __len__(self) -> int:
        return len(self.words)

    @property
    def firsts(self) -> NDArray[np.int64]:
        """The place of the first document of each group."""
        return np.asarray(self.filled[self.copies.firsts])

    def repeats(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of exact copies, and of the first document that each is a copy of."""
        first = self.firsts[self.copies.group_of]
        later = first != self.filled
        return self.filled[later], first[later]


@dataclass
class _Parts:
    """Batches as they come, to be put together at the end."""

    ids: list[pa.Array] = field(default_factory=list)
    words: list[NDArray[np.uint32]] = field(default_factory=list)
    rows: list[NDArray[np.uint64]] = field(default_factory=list)
    keys: list[NDArray[np.uint64]] = field(default_factory=list)
    features: list[WeightedFeatures] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    feature_bytes: int = 0


def collect(
    source: Source,
    maker: Maker,
    *,
    feature_memory: int,
    by_features: bool,
    with_rows: bool,
    progress: Progress | None,
) -> Collected:
    """Read all documents; features are kept while they fit into `feature_memory` bytes.

    Without `by_features`, copies are documents of the same fingerprint, and `with_rows` must be.
    """
    parts = _Parts()
    keeps = feature_memory > 0
    for batch in source.batches(progress):
        parts.ids.append(batch.ids)
        parts.rejected += batch.rejected
        if with_rows:
            rows, words = maker.rows(batch.columns)
            parts.rows.append(rows)
        if not by_features:
            parts.words.append(words)
            continue
        features = maker.features(batch.columns)
        parts.words.append(features.words)
        parts.keys.append(features.content_keys())
        if keeps:
            parts.features.append(features)
            parts.feature_bytes += features.nbytes
            if parts.feature_bytes > feature_memory:
                parts.features, keeps = [], False
    return _together(parts, maker, keeps and by_features)


def _together(parts: _Parts, maker: Maker, keeps: bool) -> Collected:
    words = np.concatenate([np.zeros(0, np.uint32), *parts.words])
    rows = np.concatenate(parts.rows) if parts.rows else None
    keys = np.concatenate(parts.keys) if parts.keys else rows
    if keys is None:
        keys = np.zeros((0, 2), np.uint64)
    filled = np.flatnonzero(words)
    copies = group_rows(np.ascontiguousarray(keys[filled]), threads=maker.threads)
    features = None
    if keeps:
        features = joined(parts.features, filled[copies.firsts])
    return Collected(
        pa.concat_arrays(parts.ids) if parts.ids else pa.array([], pa.int64()),
        words,
        rows,
        filled,
        copies,
        features,
        tuple(parts.rejected),
    )


def features_at(source: Source, maker: Maker, places: NDArray[np.int64]) -> WeightedFeatures:
    """Read again, for the features of the documents at these places, which ascend."""
    return joined(list(_chosen(source.batches(), maker, places)))


def _chosen(
    batches: Iterator[DocumentBatch], maker: Maker, places: NDArray[np.int64]
) -> Iterator[WeightedFeatures]:
    first = 0
    for batch in batches:
        begin, end = np.searchsorted(places, [first, first + len(batch.ids)])
        if begin < end:
            yield maker.features(batch.columns).take(places[begin:end] - first)
        first += len(batch.ids)
