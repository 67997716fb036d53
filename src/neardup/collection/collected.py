"""The first pass: every document read once, and what must be known of all of them at once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.budget import Budget
from neardup.collection.feature_store import FeatureStore
from neardup.collection.inputs import Progress
from neardup.collection.rejected import RejectedRows
from neardup.collection.source import Source
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.kernels.hamming_join import RowGroups, group_rows

# Where each document is, which group it is in, and the first of each group.
_DOCUMENT_BYTES = 4 * 8


@dataclass(frozen=True, eq=False)
class Collected:
    """All documents by their places: ids, words, and which have the same features.

    `rows` are their fingerprints, or None where none were asked for. `copies` groups the documents
    that are not empty (`filled`, their places) by their features, or by their fingerprints where
    `features` is None.
    """

    ids: pa.Array
    words: NDArray[np.uint32]
    rows: NDArray[np.uint64] | None
    filled: NDArray[np.int64]
    copies: RowGroups
    features: FeatureStore | None
    rejected: RejectedRows

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
    rejected: RejectedRows = field(default_factory=RejectedRows)
    documents: int = 0
    bytes: int = 0

    def count(self, ids: pa.Array) -> tuple[int, int]:
        """One more batch: how many documents there are now, and what is held of them."""
        self.documents += len(ids)
        self.bytes += ids.nbytes + _DOCUMENT_BYTES * len(ids)
        self.bytes += sum(made[-1].nbytes for made in (self.words, self.rows, self.keys) if made)
        return self.documents, self.bytes


def collect(
    source: Source,
    fingerprinter: Fingerprinter,
    *,
    features: FeatureStore | None,
    with_rows: bool,
    budget: Budget,
    progress: Progress | None,
) -> Collected:
    """Read all documents; their features go to the store, if there is one.

    Without, copies are documents of the same fingerprint, and `with_rows` must be.
    """
    parts = _Parts()
    for batch in source.batches(progress):
        parts.rejected.add(batch.rejected)
        # Rows that were all rejected do not tell of what kind the ids are.
        if not len(batch.ids):
            continue
        parts.ids.append(batch.ids)
        if with_rows:
            made, counted = fingerprinter.rows(batch.columns)
            parts.rows.append(made)
        if features is not None:
            found = fingerprinter.features(batch.columns)
            counted = found.words
            parts.keys.append(found.content_keys())
            features.add(found)
        parts.words.append(counted)
        budget.require_bookkeeping(*parts.count(batch.ids))
    words = np.concatenate([np.zeros(0, np.uint32), *parts.words])
    rows = np.concatenate(parts.rows) if parts.rows else None
    keys = np.concatenate(parts.keys) if parts.keys else rows
    if keys is None:
        keys = np.zeros((0, 2), np.uint64)
    filled = np.flatnonzero(words)
    return Collected(
        pa.concat_arrays(parts.ids) if parts.ids else pa.nulls(0, pa.int64()),
        words,
        rows,
        filled,
        group_rows(np.ascontiguousarray(keys[filled]), threads=fingerprinter.threads),
        features,
        parts.rejected,
    )
