"""The twin of the index tables: compares every document with every query.

`neardup.kernels.index_tables` must find exactly the same matches, and write segments of exactly
the same bytes, which `segment_format` specifies.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neardup.kernels.hamming_join import Rows, checked_distance
from neardup.kernels.index_rows import (
    MOST_NUMBER,
    Matches,
    Numbers,
    checked_dead,
    checked_fingerprints,
    checked_limit,
    checked_numbers,
    checked_plan,
)
from neardup.kernels.segment_format import Buffer, read_segment, written_segment

__all__ = [
    "MOST_NUMBER",
    "Matches",
    "MemoryTables",
    "check_segment",
    "merge_segments",
    "pack_segment",
    "query_segment",
    "segment_rows",
]


class MemoryTables:
    """Numbered fingerprints in memory, found by the masks on which they agree with a query."""

    def __init__(self, masks: Rows, bits: int) -> None:
        self.masks, self.bits = checked_plan(masks, bits)
        self._rows: dict[int, bytes] = {}
        self._added: list[bytes] = []

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def distinct(self) -> int:
        """The number of different fingerprints."""
        return len(set(self._rows.values()))

    @property
    def nbytes(self) -> int:
        """The memory of the tables."""
        return sum(8 + len(row) for row in self._rows.values())

    def largest_buckets(self, count: int) -> list[int]:
        """The sizes of the `count` largest sets of different fingerprints that agree on a mask."""
        rows = np.unique(self._all()[1], axis=0)
        sizes: list[int] = []
        for mask in self.masks:
            sizes += np.unique(rows & mask, axis=0, return_counts=True)[1].tolist()
        return sorted(sizes, reverse=True)[:count]

    def add(self, numbers: Numbers, rows: Rows) -> NDArray[np.uint32]:
        """Add documents; if a number is taken, add none and raise ValueError.

        Returns the places of their rows. The native tables number places differently.
        """
        rows = checked_fingerprints(rows, self.bits)
        new = checked_numbers(numbers, len(rows)).tolist()
        if len(set(new)) < len(new) or not self._rows.keys().isdisjoint(new):
            raise ValueError("a number is there already")
        self._rows.update(zip(new, map(bytes, rows), strict=True))
        first = len(self._added)
        self._added += map(bytes, rows)
        return np.arange(first, len(self._added), dtype=np.uint32)

    def rows_at(self, places: NDArray[np.uint32]) -> Rows:
        """The rows at places that `add` returned; ValueError for an unknown place."""
        if (places >= len(self._added)).any():
            raise ValueError("no row is at that place")
        rows = b"".join(self._added[place] for place in places.tolist())
        return np.frombuffer(rows, np.uint64).reshape(-1, self.masks.shape[1])

    def remove(self, numbers: Numbers, rows: Rows) -> None:
        """Remove documents; if one is missing or has another row, remove none: ValueError."""
        rows = checked_fingerprints(rows, self.bits)
        old = checked_numbers(numbers, len(rows)).tolist()
        if len(set(old)) < len(old) or any(
            self._rows.get(number) != bytes(row) for number, row in zip(old, rows, strict=True)
        ):
            raise ValueError("a document to remove is not there")
        for number in old:
            del self._rows[number]

    def query(
        self, rows: Rows, *, max_distance: int, limit: int | None = None, threads: int = 1
    ) -> Matches:
        """Documents that agree with a row on a mask and differ in at most `max_distance` bits."""
        return _matches(*self._all(), self.masks, self.bits, rows, max_distance, limit)

    def query_one(
        self, row: bytes, *, max_distance: int, limit: int | None = None
    ) -> list[tuple[int, int]]:
        """The matches of one row as pairs (number, distance)."""
        rows = np.frombuffer(row, np.uint64)[None]
        found = self.query(rows, max_distance=max_distance, limit=limit)
        return list(zip(found.numbers.tolist(), found.distances.tolist(), strict=True))

    def _all(self) -> tuple[Numbers, Rows]:
        rows = np.frombuffer(b"".join(self._rows.values()), np.uint64)
        return np.array(list(self._rows), np.uint64), rows.reshape(-1, self.masks.shape[1])


def pack_segment(numbers: Numbers, rows: Rows, masks: Rows, bits: int) -> bytes:
    """Write documents as a segment; its bytes do not depend on their order."""
    masks, bits = checked_plan(masks, bits)
    rows = checked_fingerprints(rows, bits)
    numbers = checked_numbers(numbers, len(rows))
    if len(np.unique(numbers)) < len(numbers):
        raise ValueError("a number is there twice")
    return written_segment(numbers, rows, masks, bits)


def query_segment(
    buffer: Buffer,
    rows: Rows,
    *,
    max_distance: int,
    limit: int | None = None,
    threads: int = 1,
    dead: Numbers | None = None,
) -> Matches:
    """Query the documents of a segment that are not `dead`, like `MemoryTables.query`."""
    found = read_segment(buffer)
    alive = ~np.isin(found.numbers, checked_dead(dead))
    numbers, others = found.numbers[alive], found.rows[alive]
    return _matches(numbers, others, found.masks, found.bits, rows, max_distance, limit)


def merge_segments(buffers: Sequence[Buffer], dead: Numbers | None = None) -> bytes:
    """Pack the documents of several segments that are not `dead` into one segment."""
    parts = [read_segment(buffer) for buffer in buffers]
    if not parts:
        raise ValueError("there is no segment to merge")
    masks, bits = parts[0].masks, parts[0].bits
    if any(part.bits != bits or not np.array_equal(part.masks, masks) for part in parts):
        raise ValueError("segments of different plans cannot be merged")
    numbers = np.concatenate([part.numbers for part in parts])
    rows = np.concatenate([part.rows for part in parts])
    alive = ~np.isin(numbers, checked_dead(dead))
    return pack_segment(numbers[alive], rows[alive], masks, bits)


def segment_rows(buffer: Buffer) -> tuple[Numbers, Rows]:
    """The documents of a segment, sorted by row and then by number."""
    found = read_segment(buffer)
    return found.numbers, found.rows


def check_segment(buffer: Buffer) -> None:
    """Check every byte of a segment; ValueError if it is damaged."""
    read_segment(buffer)


def _matches(
    numbers: Numbers,
    rows: Rows,
    masks: Rows,
    bits: int,
    queries: Rows,
    max_distance: int,
    limit: int | None,
) -> Matches:
    queries = checked_fingerprints(queries, bits)
    most, limit = checked_distance(max_distance, "max_distance"), checked_limit(limit)
    found: list[tuple[int, int]] = []
    offsets = [0]
    for query in queries:
        differences = np.ascontiguousarray(rows ^ query)
        distances = np.unpackbits(differences.view(np.uint8), axis=1).sum(axis=1, dtype=np.int64)
        agree = np.zeros(len(rows), np.bool_)
        for mask in masks:
            agree |= ~np.any(differences & mask, axis=1)
        near = np.flatnonzero(agree & (distances <= most))
        found += sorted(zip(distances[near].tolist(), numbers[near].tolist(), strict=True))[:limit]
        offsets.append(len(found))
    columns = np.array(found, np.uint64).reshape(-1, 2)
    return Matches(
        np.array(offsets, np.int64), columns[:, 1].copy(), columns[:, 0].astype(np.uint16)
    )
