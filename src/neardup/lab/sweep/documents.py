"""What a sweep works on: every document read once, its features and its fingerprints kept."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.inputs import Progress, fingerprinter_of
from neardup.collection.source import DocumentBatch, Source
from neardup.errors import InputError
from neardup.features.weighted import WeightedFeatures, joined
from neardup.fingerprints import Fingerprints, Scheme
from neardup.fingerprints.fingerprinter import Fingerprinter, fitted
from neardup.kernels.hamming_join import group_rows
from neardup.lab.sweep.request import cut_from, first_bits

# What is held of a document beside its features and fingerprints.
_DOCUMENT_BYTES = 64
_LEAST_MEMORY = 32 << 20


@dataclass(frozen=True, eq=False)
class SweptDocuments:
    """Documents as kinds: those with the same features (and number of words) are one kind.

    `kind_of` is the kind of each document that is not empty, and `filled` its place in the input.
    Kinds are numbered by their first document; `features` and `rows` are one for each kind.
    """

    ids: pa.Array
    filled: NDArray[np.int64]
    kind_of: NDArray[np.int64]
    features: WeightedFeatures
    scheme: Scheme
    rows: dict[int, NDArray[np.uint64]]
    widths: dict[int, int]
    rejected: int
    threads: int
    seconds: dict[str, float]

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many documents are of each kind."""
        return np.bincount(self.kind_of, minlength=len(self.features))

    @cached_property
    def same_pairs(self) -> int:
        """Pairs of documents of one kind: every plan finds them, and they are true."""
        return int((self.sizes * (self.sizes - 1) // 2).sum())

    def pairs(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many pairs of documents each pair of kinds stands for."""
        return np.asarray(self.sizes[a] * self.sizes[b])

    def fingerprints(self, bits: int) -> Fingerprints:
        """Those of every kind, of one of the swept widths."""
        rows = first_bits(self.wide_rows(bits), bits)
        return Fingerprints(rows, replace(self.scheme, bits=bits), self.features.words)

    def wide_rows(self, bits: int) -> NDArray[np.uint64]:
        """The fingerprints that those of `bits` bits are cut from."""
        return self.rows[self.widths[bits]]

    def members(self, kind: int, most: int) -> NDArray[np.int64]:
        """The places of the first documents of a kind."""
        return np.asarray(self.filled[np.flatnonzero(self.kind_of == kind)[:most]])


def swept_documents(
    source: Source,
    scheme: Scheme,
    widths: Sequence[int],
    *,
    memory: int,
    by_words: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> SweptDocuments:
    """Read the documents once (twice for tf-idf); fingerprints of as few widths as will do.

    With `by_words`, documents of one kind also have the same number of words. More features and
    fingerprints than fit `memory` are refused, because every plan looks at all of them.
    """
    began = time.perf_counter()
    contents = (batch.columns for batch in source.batches())
    fingerprinter = fitted(fingerprinter_of(scheme, threads), contents, None)
    parts = _Parts(fingerprinter, cut_from(fingerprinter.family, widths), by_words, memory)
    for batch in source.batches(progress):
        parts.add(batch)
    return parts.together(time.perf_counter() - began)


class _Parts:
    """Batches as they come, to be put together at the end."""

    def __init__(
        self, fingerprinter: Fingerprinter, widths: dict[int, int], by_words: bool, memory: int
    ) -> None:
        self._memory, self._bytes, self._documents = memory, 0, 0
        self._fingerprinter, self._widths, self._by_words = fingerprinter, widths, by_words
        self._makers = {
            width: replace(fingerprinter, scheme=replace(fingerprinter.scheme, bits=width))
            for width in dict.fromkeys(widths.values())
        }
        self._ids: list[pa.Array] = []
        self._features: list[WeightedFeatures] = []
        self._keys = [np.zeros((0, 3), np.uint64)]
        self._rows = {
            width: [np.zeros((0, one.scheme.row_words), np.uint64)]
            for width, one in self._makers.items()
        }
        self._rejected = 0
        self._features_seconds = self._rows_seconds = 0.0

    def add(self, batch: DocumentBatch) -> None:
        """Take the features of some documents and, where it must be now, their fingerprints."""
        self._ids.append(batch.ids)
        self._rejected += len(batch.rejected)
        began = time.perf_counter()
        features = self._fingerprinter.features(batch.columns)
        lengths = features.words if self._by_words else np.zeros_like(features.words)
        self._keys.append(np.column_stack([features.content_keys(), lengths.astype(np.uint64)]))
        self._features.append(features)
        self._features_seconds += time.perf_counter() - began
        if not self._fingerprinter.scheme.is_hashed:
            began = time.perf_counter()
            for width, fingerprinter in self._makers.items():
                self._rows[width].append(fingerprinter.rows(batch.columns)[0])
            self._rows_seconds += time.perf_counter() - began
        self._documents += len(batch.ids)
        row_bytes = sum(8 * one.scheme.row_words for one in self._makers.values())
        self._bytes += 2 * features.nbytes + len(batch.ids) * (row_bytes + _DOCUMENT_BYTES)
        if self._bytes > max(self._memory, _LEAST_MEMORY):
            raise InputError(
                f"a sweep holds the features of all documents, and those of the first "
                f"{self._documents:,} exceed {self._memory / 1e6:,.0f} MB of memory; sweep a "
                "sample of the input, or give more memory (--memory)"
            )

    def together(self, spent: float) -> SweptDocuments:
        """All of them, one of each kind; `spent` are the seconds since reading began."""
        read = spent - self._features_seconds - self._rows_seconds
        began = time.perf_counter()
        words = np.concatenate(
            [np.zeros(0, np.uint32), *(features.words for features in self._features)]
        )
        filled = np.flatnonzero(words)
        keys = np.concatenate(self._keys)[filled]
        kinds = group_rows(np.ascontiguousarray(keys), threads=self._fingerprinter.threads)
        firsts = filled[kinds.firsts]
        features = joined(self._features).take(firsts)
        self._features_seconds += time.perf_counter() - began
        began = time.perf_counter()
        rows = {
            width: fingerprinter.rows_of_features(features)
            if fingerprinter.scheme.is_hashed
            else np.concatenate(self._rows[width])[firsts]
            for width, fingerprinter in self._makers.items()
        }
        self._rows_seconds += time.perf_counter() - began
        return SweptDocuments(
            pa.concat_arrays(self._ids) if self._ids else pa.array([], pa.int64()),
            filled,
            kinds.group_of,
            features,
            self._fingerprinter.scheme,
            rows,
            self._widths,
            self._rejected,
            self._fingerprinter.threads,
            {
                "read": read,
                "features": self._features_seconds,
                "fingerprint": self._rows_seconds,
            },
        )
