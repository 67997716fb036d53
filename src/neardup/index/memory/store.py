"""The store of an index in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import groupby
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.index.entries import Entries, Id, Record, id_array, metadata_of
from neardup.index.match import Match, MatchList, in_order
from neardup.index.memory.rows import IdBook, ListedIds, RowChunks, listed
from neardup.index.store import (
    Change,
    Part,
    Put,
    Store,
    View,
    count_of,
    last_of_each,
    named_apart,
    unchanged,
)
from neardup.kernels.index_tables import Matches, MemoryTables
from neardup.kernels.machine import release_memory
from neardup.kernels.set_index import NEVER

Numbers = NDArray[np.uint64]
Found = TypeVar("Found")
_AT_ONCE = 10_000
_new = tuple.__new__
_NOWHERE = np.uint32(2**32 - 1)  # the place of the row of an empty document


class MemoryStore(Store, Change, AbstractContextManager[View]):
    """Documents in native tables; numbers of removed documents are reused after compaction."""

    def __init__(self, masks: NDArray[np.uint64], bits: int) -> None:
        self._plan = (masks, bits)
        self._lock = threading.RLock()
        self._begin()

    def _begin(self) -> None:
        masks, bits = self._plan
        self.tables = MemoryTables(masks, bits)
        self._ids = IdBook()
        self._rows = RowChunks()
        self._metadata: dict[int, bytes] = {}
        self._contents: dict[int, bytes] = {}
        self._seen: dict[int, tuple[int, int]] = {}

    def view(self) -> AbstractContextManager[View]:
        """The store itself, locked for one thread at a time."""
        return self

    def __enter__(self) -> MemoryStore:
        self._lock.acquire()
        return self

    def __exit__(self, *error: object) -> None:
        self._lock.release()

    def change(self, work: Callable[[Change], Found]) -> Found:
        """Run `work` on the store itself; checks come before changes, so errors change nothing."""
        with self._lock:
            return work(self)

    def __len__(self) -> int:
        return len(self._ids)

    def find(
        self, rows: NDArray[np.uint64], *, max_distance: int, limit: int | None, threads: int
    ) -> Matches:
        return self.tables.query(rows, max_distance=max_distance, limit=limit, threads=threads)

    def nearest(self, row: bytes, max_distance: int, limit: int | None) -> list[Match]:
        """Query the tables for one row."""
        with self._lock:
            found = self.tables.query_one(row, max_distance=max_distance, limit=limit)
            if not found:
                return MatchList()
            id_of, metadata = self._ids.id_of, self._metadata
            matches = []
            for number, distance in found:
                about = metadata_of(metadata.get(number, b"")) if metadata else None
                # tuple.__new__ takes half the time of Match().
                matches.append(_new(Match, (id_of(number), distance, None, about)))
            return in_order(matches)

    def number_of(self, id: Id) -> int | None:
        return self._ids.number_of(id)

    def numbers_of(self, entries: Entries) -> NDArray[np.int64]:
        found = np.full(len(entries), -1, np.int64)
        for place, number in self._ids.known(listed(entries.ids)):
            found[place] = number
        return found

    def ids_of(self, numbers: Sequence[int]) -> list[Id]:
        return self._ids.ids_of(numbers)

    def metadata_of(self, numbers: Sequence[int]) -> list[Any] | None:
        if not self._metadata:
            return None
        return [metadata_of(self._metadata.get(number, b"")) for number in numbers]

    def records(self, numbers: Sequence[int]) -> list[Record]:
        places = np.array(numbers, np.int64)
        words, rows = self._rows.words(places).tolist(), self._rows_of(places)
        return [
            Record(
                id,
                count,
                row.tobytes(),
                self._metadata.get(number, b""),
                self._contents.get(number, b""),
                b"",
                0,
                NEVER,
            )
            for number, id, count, row in zip(
                numbers, self.ids_of(numbers), words, rows, strict=True
            )
        ]

    def numbers(self) -> Numbers:
        return self._ids.numbers()

    def times(self, now: int) -> tuple[NDArray[np.int64], int]:
        """Nothing: times are not kept."""
        return np.zeros(0, np.int64), 0

    def expired(self, now: int) -> Numbers:
        """Nothing: only an index by similarity has a ttl."""
        return np.zeros(0, np.uint64)

    def seen(self, number: int) -> tuple[int, int] | None:
        return self._seen.get(number)

    def saw(self, number: int, now: int) -> None:
        times, _ = self._seen.get(number, (0, 0))
        self._seen[number] = (times + 1, now)

    def put(self, entries: Entries) -> Put:
        given, new = len(entries), set[Id]()
        if entries.made:
            entries, new = named_apart(entries, self)
        ids = listed(entries.ids)
        if isinstance(ids, list) and len(set(ids)) < len(ids):
            entries = last_of_each(entries)
            ids = listed(entries.ids)
        replaced = 0 if entries.made else given - len(entries)
        if old := self._ids.known(ids):
            places = np.array([place for place, _ in old], np.int64)
            numbers = np.array([number for _, number in old], np.uint64)
            same = unchanged(entries, places, self.records(numbers.tolist()))
            self.remove(numbers[~same])
            replaced += int((~same).sum())
            fresh = np.ones(len(entries), np.bool_)
            fresh[places[same]] = False
            entries = entries.take(np.flatnonzero(fresh))
            ids = listed(entries.ids)
        if ids:
            self._append(ids, entries)
        return Put(len(ids), replaced, count_of(entries, new))

    def remove(self, numbers: Numbers) -> None:
        """Remove documents; compact if more than half of the numbers are unused."""
        places = numbers.astype(np.int64)
        filled = self._rows.words(places) > 0
        self.tables.remove(numbers[filled], self._rows_of(places[filled]))
        for number in numbers.tolist():
            self._ids.remove(number)
            self._metadata.pop(number, None)
            self._contents.pop(number, None)
            self._seen.pop(number, None)
        if self._ids.end > 2 * len(self._ids) + _AT_ONCE:
            self.compact()

    def settle(self) -> None:
        """Do nothing: there are no segments."""

    def compact(self) -> None:
        """Renumber the documents in insertion order, and return freed memory to the system."""
        with self._lock:
            if self._ids.end > len(self._ids):
                self._renumber()
        pa.default_memory_pool().release_unused()
        release_memory()

    def entries(self, *, whole: bool = True) -> Iterator[Entries]:
        """All documents as they are now, in insertion order."""
        with self._lock:
            numbers = self.numbers()
            parts = list(self._runs(numbers.tolist(), whole))
        return iter(parts)

    def sizes(self) -> dict[str, int]:
        """Bytes of the tables, the rows and the contents."""
        contents = sum(map(len, self._contents.values())) + sum(map(len, self._metadata.values()))
        return {
            "tables": self.tables.nbytes,
            "rows": self._rows.nbytes,
            "contents": contents,
        }

    def parts(self) -> list[Part]:
        """One part: the tables in memory."""
        return [Part(len(self._ids), 0, self.tables.nbytes)]

    def largest_buckets(self, count: int) -> list[int]:
        with self._lock:
            return self.tables.largest_buckets(count)

    def close(self) -> None:
        self._begin()

    def _renumber(self) -> None:
        alive, seen = list(self.entries()), list(self._seen.items())
        ids = self.ids_of([number for number, _ in seen])
        self._begin()
        for entries in alive:
            self._append(listed(entries.ids), entries)
        for id, (_, times) in zip(ids, seen, strict=True):
            number = self._ids.number_of(id)
            assert number is not None
            self._seen[number] = times

    def _append(self, ids: ListedIds, entries: Entries) -> None:
        first = self._ids.end
        numbers = np.arange(first, first + len(ids), dtype=np.uint64)
        filled = entries.filled
        if filled.all():
            places = self.tables.add(numbers, entries.rows)
        else:
            places = np.full(len(ids), _NOWHERE)
            places[filled] = self.tables.add(numbers[filled], entries.rows[filled])
        self._rows.append(places, entries.words)
        self._ids.append(ids)
        for kept, column in (
            (self._metadata, entries.metadata),
            (self._contents, entries.contents),
        ):
            if column is not None:
                kept.update(
                    (first + place, data) for place, data in enumerate(column.to_pylist()) if data
                )

    def _rows_of(self, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The rows of documents, from the tables; rows of empty documents are zero."""
        places = self._rows.places(numbers)
        filled = places != _NOWHERE
        rows = np.zeros((len(numbers), self.tables.masks.shape[1]), np.uint64)
        rows[filled] = self.tables.rows_at(places[filled])
        return rows

    def _runs(self, numbers: list[int], whole: bool) -> Iterator[Entries]:
        """Batches of consecutive documents with one type of id."""
        begin = 0
        while begin < len(numbers):
            ids = self.ids_of(numbers[begin : begin + _AT_ONCE])
            ids = next(list(run) for _, run in groupby(ids, key=_is_text))
            some = numbers[begin : begin + len(ids)]
            places = np.array(some, np.int64)
            yield Entries(
                id_array(ids),
                self._rows.words(places),
                self._rows_of(places),
                _column(self._metadata, some) if whole else None,
                _column(self._contents, some) if whole else None,
            )
            begin += len(ids)


def _is_text(id: Id) -> bool:
    return isinstance(id, str)


def _column(kept: dict[int, bytes], numbers: list[int]) -> pa.Array | None:
    if not kept:
        return None
    return pa.array([kept.get(number, b"") for number in numbers], pa.large_binary())
