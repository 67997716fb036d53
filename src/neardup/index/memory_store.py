"""The store of an index in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from neardup.index.entries import Entries, Record
from neardup.index.ids import Id, id_array, is_text
from neardup.index.repeats import last_of_each, unchanged
from neardup.index.row_chunks import RowChunks
from neardup.index.view import Change, Store, View
from neardup.kernels.living import Matches, MemoryTables

Numbers = NDArray[np.uint64]
Found = TypeVar("Found")
_GONE = object()
_AT_ONCE = 10_000


class MemoryStore(Store, Change, AbstractContextManager[View]):
    """Documents in tables in native memory; numbers that are gone are given again in time."""

    def __init__(self, masks: NDArray[np.uint64], bits: int) -> None:
        self._plan = (masks, bits)
        self._lock = threading.RLock()
        self._begin()

    def _begin(self) -> None:
        masks, bits = self._plan
        self.tables = MemoryTables(masks, bits)
        self._numbers: dict[Id, int] = {}
        self._ids: list[Any] = []
        self._rows = RowChunks(int(masks.shape[1]))
        self._metadata: dict[int, bytes] = {}
        self._contents: dict[int, bytes] = {}

    def view(self) -> AbstractContextManager[View]:
        """The store itself, for one thread at a time."""
        return self

    def __enter__(self) -> MemoryStore:
        self._lock.acquire()
        return self

    def __exit__(self, *error: object) -> None:
        self._lock.release()

    def change(self, work: Callable[[Change], Found]) -> Found:
        """The store itself; what is checked before anything changes leaves nothing half done."""
        with self._lock:
            return work(self)

    def __len__(self) -> int:
        return len(self._numbers)

    def find(
        self, rows: NDArray[np.uint64], *, max_distance: int, limit: int | None, threads: int
    ) -> Matches:
        """Ask the tables."""
        return self.tables.query(rows, max_distance=max_distance, limit=limit, threads=threads)

    def find_one(
        self, row: NDArray[np.uint64], max_distance: int, limit: int | None
    ) -> list[tuple[int, int]]:
        """Ask the tables about one row."""
        return self.tables.query_one(row, max_distance=max_distance, limit=limit)

    def number_of(self, id: Id) -> int | None:
        """The number of the document with that id, if there is one."""
        return self._numbers.get(id)

    def ids_of(self, numbers: Sequence[int]) -> list[Id]:
        """The ids of documents."""
        return list(map(self._ids.__getitem__, numbers))

    def metadata_of(self, numbers: Sequence[int]) -> list[Any] | None:
        """The metadata of documents."""
        if not self._metadata:
            return None
        found = [self._metadata.get(number) for number in numbers]
        return [orjson.loads(json) if json else None for json in found]

    def records(self, numbers: Sequence[int]) -> list[Record]:
        """All that is stored of documents."""
        places = np.array(numbers, np.int64)
        words, rows = self._rows.words(places).tolist(), self._rows.rows(places)
        return [
            Record(
                id,
                count,
                row,
                self._metadata.get(number, b""),
                self._contents.get(number, b""),
            )
            for number, id, count, row in zip(
                numbers, self.ids_of(numbers), words, rows, strict=True
            )
        ]

    def numbers(self) -> Numbers:
        """The numbers of all documents, ascending."""
        return np.sort(np.fromiter(self._numbers.values(), np.uint64, len(self._numbers)))

    def put(self, entries: Entries) -> int:
        """Add documents, or replace those of the same ids; those that are just so stay."""
        ids: list[Id] = entries.ids.to_pylist()
        if not _ascends(entries.ids) and len(set(ids)) < len(ids):
            entries = last_of_each(entries)
            ids = entries.ids.to_pylist()
        if not self._numbers.keys().isdisjoint(ids):
            old = [
                (place, self._numbers[id]) for place, id in enumerate(ids) if id in self._numbers
            ]
            places = np.array([place for place, _ in old], np.int64)
            numbers = np.array([number for _, number in old], np.uint64)
            same = unchanged(entries, places, self.records(numbers.tolist()))
            self.remove(numbers[~same])
            fresh = np.ones(len(entries), np.bool_)
            fresh[places[same]] = False
            entries = entries.take(np.flatnonzero(fresh))
            ids = entries.ids.to_pylist()
        if ids:
            self._append(ids, entries)
        return len(ids)

    def remove(self, numbers: Numbers) -> None:
        """Remove documents; when more than half of the numbers are gone, they are given anew."""
        places = numbers.astype(np.int64)
        filled = self._rows.words(places) > 0
        self.tables.remove(numbers[filled], self._rows.rows(places[filled]))
        for number in numbers.tolist():
            del self._numbers[self._ids[number]]
            self._ids[number] = _GONE
            self._metadata.pop(number, None)
            self._contents.pop(number, None)
        if len(self._ids) > 2 * len(self._numbers) + _AT_ONCE:
            self.compact()

    def settle(self) -> None:
        """There is nothing to tidy up."""

    def compact(self) -> None:
        """Number the documents anew, in the order they came."""
        with self._lock:
            if len(self._ids) == len(self._numbers):
                return
            alive = list(self.entries())
            self._begin()
            for entries in alive:
                self._append(entries.ids.to_pylist(), entries)

    def entries(self, *, whole: bool = True) -> Iterator[Entries]:
        """All documents as they are now, in the order they came."""
        with self._lock:
            numbers = self.numbers()
            parts = list(self._runs(numbers.tolist(), whole))
        return iter(parts)

    def sizes(self) -> dict[str, int]:
        """What the tables and the rows beside them take."""
        contents = sum(map(len, self._contents.values())) + sum(map(len, self._metadata.values()))
        return {
            "tables": self.tables.nbytes,
            "rows": self._rows.nbytes,
            "contents": contents,
        }

    def largest_buckets(self, count: int) -> list[int]:
        """Ask the tables."""
        with self._lock:
            return self.tables.largest_buckets(count)

    def close(self) -> None:
        """Forget everything."""
        self._begin()

    def _append(self, ids: list[Id], entries: Entries) -> None:
        first, end = len(self._ids), len(self._ids) + len(ids)
        numbers = np.arange(first, end, dtype=np.uint64)
        filled = entries.filled
        self.tables.add(
            *((numbers, entries.rows) if filled.all() else (numbers[filled], entries.rows[filled]))
        )
        self._rows.append(entries.rows, entries.words)
        self._ids += ids
        self._numbers.update(zip(ids, range(first, end), strict=True))
        for kept, column in (
            (self._metadata, entries.metadata),
            (self._contents, entries.contents),
        ):
            if column is not None:
                kept.update(
                    (first + place, data) for place, data in enumerate(column.to_pylist()) if data
                )

    def _runs(self, numbers: list[int], whole: bool) -> Iterator[Entries]:
        """Documents of one kind of id in a row, some at a time."""
        begin = 0
        while begin < len(numbers):
            is_text = isinstance(self._ids[numbers[begin]], str)
            end = begin
            while (
                end < len(numbers)
                and end - begin < _AT_ONCE
                and isinstance(self._ids[numbers[end]], str) == is_text
            ):
                end += 1
            some = numbers[begin:end]
            places = np.array(some, np.int64)
            yield Entries(
                id_array(self.ids_of(some)),
                self._rows.words(places),
                self._rows.rows(places),
                _column(self._metadata, some) if whole else None,
                _column(self._contents, some) if whole else None,
            )
            begin = end


def _ascends(ids: pa.Array) -> bool:
    """Whether ids are numbers, each higher than the one before, as they often are."""
    return not is_text(ids) and bool((np.diff(ids.to_numpy()) > 0).all())


def _column(kept: dict[int, bytes], numbers: list[int]) -> pa.Array | None:
    if not kept:
        return None
    return pa.array([kept.get(number, b"") for number in numbers], pa.large_binary())
