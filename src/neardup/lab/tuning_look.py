"""A first look at a collection: some of its documents, chosen evenly by their places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.features.columns import TextColumn
from neardup.features.weighted import WeightedFeatures, joined
from neardup.fingerprints.maker import DocumentColumns, GivenTerms, Maker
from neardup.pipeline.dedup.source import Source
from neardup.pipeline.inputs import Progress, content_size

MOST_LOOKED_AT = 5000
# A feature that so many of the documents have is no rare one: about 1 in 1,000 of all.
_FREQUENT = 5
_BYTES_OF_A_TERM = 8
_LEAST_ROOM = 16 << 20
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xA0761D6478BD642F)
_TURN = np.uint64(32)


@dataclass(frozen=True, eq=False)
class Look:
    """Some documents, and how many there are in all."""

    columns: tuple[DocumentColumns, ...]
    documents: int
    text_bytes: int

    def features(self, maker: Maker) -> WeightedFeatures:
        """Those of the documents that were looked at."""
        return joined([maker.features(columns) for columns in self.columns])


def look_at(source: Source, memory: int, progress: Progress | None = None) -> Look:
    """Go through the collection once, and keep 2,500 to 5,000 documents, or the fewer there are.

    Of long documents only as many are kept as fit an eighth of the memory.
    """
    parts: list[tuple[DocumentColumns, NDArray[np.uint64]]] = []
    room = max(_LEAST_ROOM, memory // 8)
    documents = size = 0
    share = 1.0
    for batch in source.batches(progress):
        numbers = mixed(np.arange(documents, documents + len(batch.ids), dtype=np.uint64), _SECOND)
        documents += len(batch.ids)
        size += bytes_of(batch.columns)
        parts.append(_within((batch.columns, numbers), share))
        while _are_too_many(parts, room):
            share /= 2
            parts = [_within(part, share) for part in parts]
    return Look(tuple(columns for columns, kept in parts if len(kept)), documents, size)


def bytes_of(columns: DocumentColumns) -> int:
    """What documents take, nearly."""
    content = content_size(columns)
    return content.text_bytes + content.terms * _BYTES_OF_A_TERM


def frequent_features(features: WeightedFeatures) -> NDArray[np.uint64]:
    """The features that are common in a collection, judged by some of its documents; ascending."""
    found, counts = np.unique(features.hashes, return_counts=True)
    return np.asarray(found[counts >= _FREQUENT])


def taken(columns: DocumentColumns, rows: NDArray[np.int64]) -> DocumentColumns:
    """Some of the documents."""
    places = pa.array(rows)
    if isinstance(columns, GivenTerms):
        weights = None if columns.weights is None else columns.weights.take(places)
        return GivenTerms(columns.terms.take(places), weights)
    return [TextColumn(column.texts.take(places), column.field) for column in columns]


def mixed(numbers: NDArray[np.uint64], factor: np.uint64) -> NDArray[np.uint64]:
    """Numbers that look random, the same for the same ones."""
    turned = (numbers ^ (numbers >> _TURN)) * factor
    turned = (turned ^ (turned >> _TURN)) * _FIRST
    return turned ^ (turned >> _TURN)


def below(numbers: NDArray[np.uint64], share: float) -> NDArray[np.bool_]:
    """Which of these random numbers are in the first share of all."""
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
    return taken(columns, chosen), numbers[chosen]
