"""The documents of a sweep: the collection read once, with all features and fingerprints."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from neardup.cluster import pairs_in
from neardup.collection.collected import Collected, collect
from neardup.collection.feature_store import FeatureStore
from neardup.collection.source import Progress, Source, fitted_to
from neardup.errors import InputError
from neardup.features.weighted import WeightedFeatures
from neardup.fingerprints import Fingerprints, Scheme
from neardup.lab.sweep.request import cut_from, first_bits

# Memory of a document besides its features and fingerprints.
_DOCUMENT_BYTES = 64
_LEAST_MEMORY = 32 << 20


@dataclass(frozen=True, eq=False)
class SweptDocuments:
    """A collection as distinct documents; those with the same features are copies.

    With `by_words`, copies also have the same number of words. Distinct documents ("kinds" in the
    names here) are numbered in the order of their first copies. `features` and `rows` have one
    entry for each distinct document.
    """

    collected: Collected
    features: WeightedFeatures
    scheme: Scheme
    rows: dict[int, NDArray[np.uint64]]
    widths: dict[int, int]
    threads: int
    seconds: dict[str, float]

    def __len__(self) -> int:
        return len(self.collected)

    @property
    def kind_of(self) -> NDArray[np.int64]:
        """For each document that is not empty, the number of its distinct document."""
        return self.collected.copies.group_of

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of copies of each distinct document."""
        return np.bincount(self.kind_of, minlength=len(self.features))

    @cached_property
    def same_pairs(self) -> int:
        """The number of pairs of copies: every plan finds them, and they are true."""
        return pairs_in(self.sizes)

    def pairs(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of pairs of documents that each pair of distinct documents stands for."""
        return np.asarray(self.sizes[a] * self.sizes[b])

    def fingerprints(self, bits: int) -> Fingerprints:
        """The fingerprints of the distinct documents, in one of the swept widths."""
        rows = first_bits(self.wide_rows(bits), bits)
        return Fingerprints(rows, replace(self.scheme, bits=bits), self.features.words)

    def wide_rows(self, bits: int) -> NDArray[np.uint64]:
        """The fingerprints that those of `bits` bits are a prefix of."""
        return self.rows[self.widths[bits]]

    def members(self, kind: int, most: int) -> NDArray[np.int64]:
        """The places of the first copies of a distinct document."""
        return np.asarray(self.collected.filled[np.flatnonzero(self.kind_of == kind)[:most]])


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
    """Read the documents once (twice for tf-idf), with fingerprints in as few widths as possible.

    With `by_words`, copies must also have the same number of words. Features and fingerprints that
    do not fit in `memory` are refused, because every plan needs all of them.
    """
    began = time.perf_counter()
    fingerprinter = fitted_to(source, scheme, threads)
    counting = time.perf_counter() - began
    cuts = cut_from(fingerprinter.family, widths)
    by_width = {
        width: replace(fingerprinter, scheme=replace(fingerprinter.scheme, bits=width))
        for width in dict.fromkeys(cuts.values())
    }
    row_bytes = sum(8 * one.scheme.row_words for one in by_width.values())
    store = FeatureStore(sys.maxsize)

    def watch(documents: int, _held: int) -> None:
        if 2 * store.held_bytes + documents * (row_bytes + _DOCUMENT_BYTES) > max(
            memory, _LEAST_MEMORY
        ):
            raise InputError(
                f"a sweep holds the features of all documents, and those of the first "
                f"{documents:,} exceed {memory / 1e6:,.0f} MB of memory; sweep a sample of the "
                "input, or give more memory (--memory)"
            )

    collected = collect(
        source,
        fingerprinter,
        features=store,
        rows_by=() if scheme.is_hashed else tuple(by_width.values()),
        by_words=by_words,
        watch=watch,
        progress=progress,
    )
    features = store.take(collected.firsts)
    store.release()
    began = time.perf_counter()
    rows = {
        width: one.rows_of_features(features)
        if scheme.is_hashed
        else collected.rows[number][collected.firsts]
        for number, (width, one) in enumerate(by_width.items())
    }
    seconds = dict(collected.seconds)
    seconds["read"] += counting
    seconds["fingerprint"] += time.perf_counter() - began
    return SweptDocuments(
        collected, features, fingerprinter.scheme, rows, cuts, fingerprinter.threads, seconds
    )
