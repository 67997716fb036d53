"""A sample of a collection in which near-duplicates stay together.

A uniform sample of n of N documents holds only a share (n / N)² of the pairs. Here the first of a
document's rare features, in a random order, decides whether the document is kept. Two documents
share that feature with a probability of J, the Jaccard index of their rare features (Broder 1997),
so near-duplicates are kept or dropped together. If a share g is kept, a pair is in the sample with
probability J g + (1 - J) g², so counts can be scaled up without bias. Frequent features would work
too, but keep or drop large parts of a collection at once. Documents without a rare feature are kept
independently (J = 0): where so many are similar, there are pairs enough. Exact copies count as one
document.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.source import Progress, Source, read_ahead
from neardup.features.columns import DocumentColumns, content_size, documents_in, taken
from neardup.features.weighted import WeightedFeatures, joined
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.kernels.hamming_join import group_rows
from neardup.kernels.set_join import similarities

MOST_LOOKED_AT = 5000
# A feature of this many examined documents is frequent: about 1 in 1,000 of all have it.
_FREQUENT = 5
_BYTES_OF_A_TERM = 8
_LEAST_LOOK_ROOM = 16 << 20
_MIX, _BY_PLACE = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xA0761D6478BD642F)
_TURN = np.uint64(32)


_FIRST, _SECOND, _THIRD = map(
    np.uint64, (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xC2B2AE3D27D4EB4F)
)
_LEAST_SAMPLE_ROOM = 32 << 20


@dataclass(frozen=True, eq=False)
class Look:
    """The documents examined in the first pass, and the size of the collection."""

    columns: tuple[DocumentColumns, ...]
    documents: int
    text_bytes: int

    def features(self, fingerprinter: Fingerprinter) -> WeightedFeatures:
        return joined([fingerprinter.features(columns) for columns in self.columns])


def look_at(
    source: Source, memory: int, threads: int | None, progress: Progress | None = None
) -> Look:
    """Read the collection once and keep 2,500 to 5,000 documents, or all if there are fewer.

    If documents are long, only as many are kept as fit in an eighth of the memory.
    """
    parts: list[tuple[DocumentColumns, NDArray[np.uint64]]] = []
    room = max(_LEAST_LOOK_ROOM, memory // 8)
    documents = size = 0
    share = 1.0
    for batch in read_ahead(source.batches(progress), threads):
        numbers = mixed(
            np.arange(documents, documents + len(batch.ids), dtype=np.uint64), _BY_PLACE
        )
        documents += len(batch.ids)
        size += bytes_of(batch.columns)
        parts.append(_within((batch.columns, numbers), share))
        while _are_too_many(parts, room):
            share /= 2
            parts = [_within(part, share) for part in parts]
    return Look(tuple(columns for columns, kept in parts if len(kept)), documents, size)


def bytes_of(columns: DocumentColumns) -> int:
    """The approximate size of documents in bytes."""
    content = content_size(columns)
    return content.text_bytes + content.terms * _BYTES_OF_A_TERM


def frequent_features(features: WeightedFeatures) -> NDArray[np.uint64]:
    """The frequent features of a collection, judged by some of its documents; sorted."""
    found, counts = np.unique(features.hashes, return_counts=True)
    return np.asarray(found[counts >= _FREQUENT])


def mixed(numbers: NDArray[np.uint64], factor: np.uint64) -> NDArray[np.uint64]:
    """A pseudo-random number for each number, always the same for the same one."""
    turned = (numbers ^ (numbers >> _TURN)) * factor
    turned = (turned ^ (turned >> _TURN)) * _MIX
    return turned ^ (turned >> _TURN)


def below(numbers: NDArray[np.uint64], share: float) -> NDArray[np.bool_]:
    """Which of these random numbers are in the lowest `share` of the 64-bit range."""
    return np.asarray(numbers <= np.uint64(min(int(share * 2.0**64), 2**64 - 1)))


def _are_too_many(parts: list[tuple[DocumentColumns, NDArray[np.uint64]]], room: int) -> bool:
    documents = sum(len(kept) for _, kept in parts)
    size = sum(bytes_of(columns) for columns, _ in parts)
    return documents > MOST_LOOKED_AT or (size > room and documents > 1)


def _within(
    part: tuple[DocumentColumns, NDArray[np.uint64]], share: float
) -> tuple[DocumentColumns, NDArray[np.uint64]]:
    columns, numbers = part
    chosen = np.flatnonzero(below(numbers, share))
    if len(chosen) == len(numbers):
        return part
    return taken(columns, pa.array(chosen)), numbers[chosen]


@dataclass(frozen=True, eq=False)
class Sample:
    """Distinct documents of a collection, and totals of the whole collection.

    `kept` is the share of distinct documents that were kept, `looked` the share of documents that
    were examined; both are 1 if the sample is the whole collection. `copies` counts the copies of
    each distinct document. `filled` is the number of documents of the collection that are not
    empty, `seconds` the time to read the examined documents and compute their features.
    """

    features: WeightedFeatures
    rare: WeightedFeatures
    columns: tuple[DocumentColumns, ...]
    tickets: NDArray[np.uint64]
    copies: NDArray[np.int64]
    documents: int
    filled: float
    kept: float
    looked: float
    seconds: float

    def __len__(self) -> int:
        return len(self.features)

    @property
    def is_whole(self) -> bool:
        """Whether the sample is the whole collection."""
        return self.kept == self.looked == 1

    @property
    def contents(self) -> float:
        """The estimated number of distinct documents in the whole collection."""
        return self.filled * len(self) / max(1, int(self.copies.sum()))

    def stands_for(
        self, a: NDArray[np.int64], b: NDArray[np.int64], threads: int = 1
    ) -> NDArray[np.float64]:
        """The number of pairs of the whole collection that each pair of the sample stands for."""
        if self.is_whole:
            return np.ones(len(a))
        rare = self.rare
        alike = similarities(
            rare.offsets, rare.hashes, None, a, b, measure="jaccard", threads=threads
        )
        together = alike * self.kept + (1 - alike) * self.kept**2
        return np.asarray(1 / (self.looked**2 * together))

    def rows(
        self, fingerprinter: Fingerprinter, places: NDArray[np.int64] | None = None
    ) -> NDArray[np.uint64]:
        """The fingerprints of the sampled documents, or of those at `places`, which are sorted."""
        parts, first = [np.zeros((0, fingerprinter.scheme.row_words), np.uint64)], 0
        for columns in self.columns:
            size = documents_in(columns)
            if places is not None:
                begin, end = np.searchsorted(places, [first, first + size])
                columns = taken(columns, pa.array(places[begin:end] - first))
            parts.append(fingerprinter.rows(columns)[0])
            first += size
        return np.concatenate(parts)

    def half(self) -> NDArray[np.int64]:
        """The places of the documents that half the share would keep."""
        return np.flatnonzero(below(self.tickets, self.kept / 2))


def draw_sample(
    source: Source,
    fingerprinter: Fingerprinter,
    frequent: NDArray[np.uint64],
    *,
    most: int,
    memory: int,
    looked: float = 1.0,
    progress: Progress | None = None,
) -> Sample:
    """Read the collection once and keep between `most` / 2 and `most` distinct documents.

    If documents are long, only as many are kept as fit in a quarter of the memory. `frequent` must
    be sorted. With `looked` below 1, only that share of the documents is examined, chosen by their
    places.
    """
    drawn = _Drawn(frequent, most, max(_LEAST_SAMPLE_ROOM, memory // 4))
    documents = filled = 0
    seconds, since = 0.0, time.perf_counter()
    for batch in read_ahead(source.batches(progress), fingerprinter.threads):
        places = np.arange(documents, documents + len(batch.ids), dtype=np.uint64)
        documents += len(places)
        columns = batch.columns
        if looked < 1:
            columns = taken(columns, np.flatnonzero(below(mixed(places, _THIRD), looked)))
        features = fingerprinter.features(columns)
        seconds += time.perf_counter() - since
        filled += drawn.add(features, columns)
        since = time.perf_counter()
    kept = drawn.together()
    return Sample(
        features=joined([part.features for part in kept]),
        rare=joined([part.rare for part in kept]),
        columns=tuple(part.columns for part in kept),
        tickets=np.concatenate([np.zeros(0, np.uint64), *(part.tickets for part in kept)]),
        copies=np.concatenate([np.zeros(0, np.int64), *(part.copies for part in kept)]),
        documents=documents,
        filled=filled / looked,
        kept=drawn.share,
        looked=looked,
        seconds=seconds,
    )


def rare_features(features: WeightedFeatures, frequent: NDArray[np.uint64]) -> WeightedFeatures:
    """The same documents without their frequent features, and without weights."""
    if not len(frequent):
        return replace(features, weights=None)
    nearest = frequent[np.minimum(np.searchsorted(frequent, features.hashes), len(frequent) - 1)]
    stays = nearest != features.hashes
    offsets = np.concatenate(([0], np.cumsum(stays)))[features.offsets]
    return WeightedFeatures(offsets, features.hashes[stays], None, features.words)


def tickets(rare: WeightedFeatures, keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A random number for each document: from its first rare feature, else from its own key."""
    numbers = mixed(keys[:, 0], _THIRD)
    filled = np.flatnonzero(np.diff(rare.offsets))
    if len(filled):
        order = mixed(rare.hashes, _FIRST)
        numbers[filled] = mixed(np.minimum.reduceat(order, rare.offsets[filled]), _SECOND)
    return numbers


@dataclass(frozen=True, eq=False)
class _Part:
    """Documents of a batch that are kept so far, with the number of copies of each."""

    features: WeightedFeatures
    rare: WeightedFeatures
    columns: DocumentColumns
    tickets: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    copies: NDArray[np.int64]

    def only(self, rows: NDArray[np.int64]) -> _Part:
        if len(rows) == len(self.copies):
            return self
        return _Part(
            self.features.take(rows),
            self.rare.take(rows),
            taken(self.columns, rows),
            self.tickets[rows],
            self.keys[rows],
            self.copies[rows],
        )


@dataclass
class _Drawn:
    """The documents kept so far; whenever they are too many, about half of them are dropped."""

    frequent: NDArray[np.uint64]
    most: int
    room: int
    share: float = 1.0
    parts: list[_Part] = field(default_factory=list)

    def add(self, features: WeightedFeatures, columns: DocumentColumns) -> int:
        """Keep the current share of these documents; return how many of them are not empty."""
        filled = np.flatnonzero(np.diff(features.offsets))
        if len(filled) < len(features):
            features, columns = features.take(filled), taken(columns, filled)
        rare, keys = rare_features(features, self.frequent), features.content_keys()
        copies = np.ones(len(filled), np.int64)
        part = _Part(features, rare, columns, tickets(rare, keys), keys, copies)
        self.parts.append(part.only(np.flatnonzero(below(part.tickets, self.share))))
        if self._size() > 2 * self.most or self._bytes() > self.room:
            self._thin()
        return len(filled)

    def together(self) -> list[_Part]:
        """The distinct documents, at most `most`."""
        self._thin()
        return [part for part in self.parts if len(part.copies)]

    def _size(self) -> int:
        return sum(len(part.copies) for part in self.parts)

    def _bytes(self) -> int:
        return sum(
            part.features.nbytes + part.rare.nbytes + bytes_of(part.columns) for part in self.parts
        )

    def _thin(self) -> None:
        self._make_one_of_copies()
        while self._size() > self.most or (self._bytes() > self.room and self._size() > 1):
            self.share /= 2
            self.parts = [
                part.only(np.flatnonzero(below(part.tickets, self.share))) for part in self.parts
            ]

    def _make_one_of_copies(self) -> None:
        keys = np.concatenate([np.zeros((0, 2), np.uint64), *(part.keys for part in self.parts)])
        groups = group_rows(np.ascontiguousarray(keys))
        copies = np.concatenate([np.zeros(0, np.int64), *(part.copies for part in self.parts)])
        sums = np.bincount(groups.group_of, copies, len(groups.firsts)).astype(np.int64)
        first, parts = 0, []
        for part in self.parts:
            begin, end = np.searchsorted(groups.firsts, [first, first + len(part.copies)])
            some = part.only(groups.firsts[begin:end] - first)
            parts.append(replace(some, copies=sums[begin:end]))
            first += len(part.copies)
        self.parts = parts
