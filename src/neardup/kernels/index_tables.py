"""Index tables: numbered fingerprints that can be added, removed and queried.

A segment is a set of numbered fingerprints as bytes; `segment_format` specifies it. The twin is
`reference.index_tables`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.kernels import _native
from neardup.kernels.hamming_join import MOST_BITS, Rows, checked_distance, checked_rows
from neardup.kernels.index_rows import (
    MOST_NUMBER,
    Matches,
    Numbers,
    checked_dead,
    checked_limit,
    checked_numbers,
    checked_plan,
)
from neardup.kernels.segment_format import Buffer

__all__ = [
    "MOST_NUMBER",
    "Matches",
    "MemoryTables",
    "check_pages",
    "check_segment",
    "merge_segments",
    "pack_segment",
    "query_segment",
    "segment_rows",
]


class MemoryTables:
    """Numbered fingerprints in native memory, found by the masks on which they agree with a query.

    Queries of several threads run in parallel; changes exclude them and each other.
    """

    def __init__(self, masks: Rows, bits: int, *, isa: str = "auto") -> None:
        self.masks, self.bits = checked_plan(masks, bits)
        self._native = _native.MemoryTables(self.masks, self.bits, isa)

    def __len__(self) -> int:
        return len(self._native)

    @property
    def distinct(self) -> int:
        """The number of different fingerprints."""
        return self._native.distinct

    @property
    def nbytes(self) -> int:
        """The memory of the tables."""
        return self._native.nbytes

    def largest_buckets(self, count: int) -> list[int]:
        """The sizes of the `count` largest sets of different fingerprints that agree on a mask."""
        return self._native.largest_buckets(count)

    def add(self, numbers: Numbers, rows: Rows) -> NDArray[np.uint32]:
        """Add documents; if a number is taken, add none and raise ValueError.

        Returns the places of their rows, which are valid until the documents are removed.
        """
        rows = checked_rows(rows, "rows", self.masks.shape[1])
        return self._native.add(checked_numbers(numbers, len(rows)), rows)

    def rows_at(self, places: NDArray[np.uint32]) -> Rows:
        """The rows at places that `add` returned; ValueError for an unknown place."""
        return self._native.rows_at(places)

    def remove(self, numbers: Numbers, rows: Rows) -> None:
        """Remove documents; if one is missing or has another row, remove none: ValueError."""
        rows = checked_rows(rows, "rows", self.masks.shape[1])
        self._native.remove(checked_numbers(numbers, len(rows)), rows)

    def query(
        self, rows: Rows, *, max_distance: int, limit: int | None = None, threads: int = 1
    ) -> Matches:
        """Documents that agree with a row on a mask and differ in at most `max_distance` bits."""
        return Matches(
            *self._native.query(
                checked_rows(rows, "rows", self.masks.shape[1]),
                checked_distance(max_distance, "max_distance"),
                checked_limit(limit),
                threads,
            )
        )

    def query_one(
        self, row: bytes, *, max_distance: int, limit: int | None = None
    ) -> list[tuple[int, int]]:
        """The matches of one row as pairs (number, distance); for one row, faster than `query`.

        `row` is the bytes of its words: creating an array takes longer than most queries.
        """
        try:
            most = max_distance if max_distance < MOST_BITS else MOST_BITS
            return self._native.query_one(row, most, limit)
        except TypeError as error:
            checked_distance(max_distance, "max_distance")
            checked_limit(limit)
            raise SettingError("row must be the bytes of a row, as its tobytes() gives") from error


def pack_segment(numbers: Numbers, rows: Rows, masks: Rows, bits: int) -> bytes:
    """Write documents as a segment; its bytes do not depend on their order."""
    masks, bits = checked_plan(masks, bits)
    rows = checked_rows(rows, "rows", masks.shape[1])
    return _native.pack_segment(checked_numbers(numbers, len(rows)), rows, masks, bits)


def query_segment(
    buffer: Buffer,
    rows: Rows,
    *,
    max_distance: int,
    limit: int | None = None,
    threads: int = 1,
    dead: Numbers | None = None,
    isa: str = "auto",
) -> Matches:
    """Query the documents of a segment that are not `dead`, like `MemoryTables.query`.

    Damage in the bytes that the query reads is a ValueError; `check_segment` reads all bytes.
    """
    return Matches(
        *_native.query_segment(
            _bytes_of(buffer),
            checked_rows(rows, "rows"),
            checked_distance(max_distance, "max_distance"),
            checked_limit(limit),
            threads,
            checked_dead(dead),
            isa,
        )
    )


def merge_segments(buffers: Sequence[Buffer], dead: Numbers | None = None) -> bytes:
    """Pack the documents of several segments that are not `dead` into one segment.

    The segments must have the same plan. They are checked as by `check_segment`.
    """
    return _native.merge_segments([_bytes_of(buffer) for buffer in buffers], checked_dead(dead))


def segment_rows(buffer: Buffer) -> tuple[Numbers, Rows]:
    """The documents of a segment, sorted by row and then by number."""
    return _native.segment_rows(_bytes_of(buffer))


def check_segment(buffer: Buffer) -> None:
    """Check every byte of a segment; ValueError if it is damaged."""
    _native.check_segment(_bytes_of(buffer))


def check_pages(file: int, *, front_only: bool = False) -> None:
    """Check the pages of an LMDB file that is open for reading; ValueError if it is damaged.

    `front_only` checks the first two pages, which LMDB reads before all others. The twin is
    `lmdb.verify`, which accepts more: an index has one table, of plain values.
    """
    _native.check_pages(file, not front_only)


def _bytes_of(buffer: Buffer) -> NDArray[np.uint8]:
    return np.frombuffer(buffer, np.uint8)
