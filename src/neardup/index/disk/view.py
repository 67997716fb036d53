"""One state of the index on disk, as a transaction sees it: the segments and the tail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from neardup.index.disk.block import Block
from neardup.index.disk.damage import DamageError
from neardup.index.disk.id_table import in_sorted
from neardup.index.disk.kinds import Kind, TailOfRows, TailOfSets
from neardup.index.disk.records import TAIL, Segment, State, Stored, read_notes
from neardup.index.entries import Entries, Id, Record, id_hash
from neardup.index.match import Match, MatchList, in_order
from neardup.index.store import View
from neardup.kernels.index_tables import Matches, query_segment
from neardup.kernels.set_index import SetView

Numbers = NDArray[np.uint64]
Summary = tuple[Id, bytes, bytes]


# Up to this many documents, blocks are looked up one by one.
_FEW = 4


class Tail:
    """A copy in memory of the tail at a revision, with tables to search it.

    It follows the stored tail, reading only new blocks and notes.
    """

    def __init__(self, kind: Kind, first: int = 0) -> None:
        self._kind = kind
        self._begin(first)

    def follow(self, stored: Stored, state: State) -> None:
        """Update the copy to the tail of this state."""
        if state.revision == self.revision:
            return
        if state.tail.first != self.first or state.revision < self.revision:
            self._begin(state.tail.first)
        for block in stored.blocks_from(self._next):
            self._add(block, state.revision)
        if state.tail.notes > self._notes:
            for number in read_notes(stored, TAIL, self._notes).tolist():
                self.remove(number, state.revision)
        self._settled(state)

    def append(self, number: int, record: Record) -> None:
        """Add the ids of a document whose tables were changed already."""
        self._numbers[record.id] = number
        self._rows[number] = (record.id, record.row if record.words else None)

    def remove(self, number: int, revision: int) -> None:
        """Remove a document, if it is there: a merged note repeats some."""
        if number not in self._rows:
            return
        id, row = self._rows.pop(number)
        if row is not None:
            self.tables.remove(number, row, revision)
        if self._numbers.get(id) == number:
            del self._numbers[id]

    def commit(self, state: State) -> None:
        """Be the tail of a state whose changes have all been made."""
        self._settled(state)

    def number_of(self, id: Id) -> int | None:
        """The number of the document with this id, if it is in the tail."""
        return self._numbers.get(id)

    def numbers(self) -> Numbers:
        return np.array(sorted(self._rows), np.uint64)

    def rows(self) -> Iterator[tuple[int, bytes]]:
        """Number and fingerprint of the documents that are not empty."""
        for number, (_, row) in self._rows.items():
            if row is not None:
                yield number, row

    def __len__(self) -> int:
        return len(self._rows)

    def _settled(self, state: State) -> None:
        self._next = state.next_number
        self._notes = state.tail.notes
        self.revision = state.revision

    def _begin(self, first: int) -> None:
        self.tables = self._kind.tail()
        self._numbers: dict[Id, int] = {}
        self._rows: dict[int, tuple[Id, bytes | None]] = {}
        self.first = self._next = first
        self._notes = 0
        self.revision = -1

    def _add(self, block: Block, revision: int) -> None:
        self.tables.add_block(block, revision)
        for place, number in enumerate(block.numbers().tolist()):
            id = block.id(place)
            self._numbers[id] = number
            self._rows[number] = (id, block.row(place) if block.words(place) else None)


class DiskView(View):
    """The segments and the tail together; the caller ensures that `tail` is of this state."""

    def __init__(
        self, kind: Kind, stored: Stored, state: State, tail: Tail, dead: dict[int, Numbers]
    ) -> None:
        self.kind = kind
        self.stored = stored
        self.state = state
        self.tail = tail
        self.dead = dead

    def __len__(self) -> int:
        return self.state.documents

    def find(
        self, rows: NDArray[np.uint64], *, max_distance: int, limit: int | None, threads: int
    ) -> Matches:
        """Query each segment and the tail, and merge the matches."""
        parts = [
            query_segment(
                self.stored.segment(segment.key).data,
                rows,
                max_distance=max_distance,
                limit=limit,
                threads=threads,
                dead=self._dead_of(segment),
            )
            for segment in self.state.segments
        ]
        if len(self.tail) or not parts:
            tail = self._tail_of_rows
            parts.append(tail.query(rows, max_distance=max_distance, limit=limit, threads=threads))
        return together(parts, limit)

    def nearest(self, row: bytes, max_distance: int, limit: int | None) -> list[Match]:
        """Query the tail and each segment for one row."""
        found = self._tail_of_rows.query_one(row, max_distance=max_distance, limit=limit)
        rows = np.frombuffer(row, np.uint64)[None]
        for segment in self.state.segments:
            matches = query_segment(
                self.stored.segment(segment.key).data,
                rows,
                max_distance=max_distance,
                limit=limit,
                dead=self._dead_of(segment),
            )
            if len(matches.numbers):
                found += zip(matches.numbers.tolist(), matches.distances.tolist(), strict=True)
        if not found:
            return MatchList()
        found.sort(key=_by_distance)
        numbers, distances = zip(*found[:limit], strict=True)
        about = self.metadata_of(numbers) or [None] * len(numbers)
        return in_order(
            [
                Match(id, distance, None, held)
                for id, distance, held in zip(self.ids_of(numbers), distances, about, strict=True)
            ]
        )

    def sets(self) -> SetView:
        """The tables of sets, to be searched."""
        segments = [self.stored.sets(segment) for segment in self.state.segments]
        dead = [self.dead[segment.key] for segment in self.state.segments]
        tail = self.tail.tables.sets if isinstance(self.tail.tables, TailOfSets) else None
        return SetView(segments, dead, tail, self.tail_revision)

    @property
    def _tail_of_rows(self) -> TailOfRows:
        assert isinstance(self.tail.tables, TailOfRows)
        return self.tail.tables

    @property
    def tail_revision(self) -> int:
        """Documents that were put into the tail up to this revision are visible."""
        return self.state.revision

    def number_of(self, id: Id) -> int | None:
        """Look in the tail, then in the id tables of the segments."""
        found = self.tail.number_of(id)
        if found is not None or not self.state.segments:
            return found
        hash = id_hash(id)
        for segment in reversed(self.state.segments):
            for number in self.stored.segment(segment.key).ids.find(hash):
                if self._is_alive(segment.key, number) and self.ids_of([number]) == [id]:
                    return number
        return None

    def numbers_of(self, entries: Entries) -> NDArray[np.int64]:
        found = np.full(len(entries), -1, np.int64)
        names: list[Id] = []
        if len(self.tail):
            names = entries.ids.to_pylist()
            for place, id in enumerate(names):
                number = self.tail.number_of(id)
                if number is not None:
                    found[place] = number
        # Ascending hashes read a table in order instead of at random.
        order = np.argsort(entries.hashes, kind="stable")
        hashes = entries.hashes[order]
        for segment in self.state.segments:
            places, numbers = self.stored.segment(segment.key).ids.find_many(hashes)
            alive = ~in_sorted(numbers, self.dead[segment.key])
            if not alive.any():
                continue
            names = names or entries.ids.to_pylist()
            some = numbers[alive].tolist()
            for place, number, id in zip(
                order[places[alive]].tolist(), some, self.ids_of(some), strict=True
            ):
                if id == names[place]:
                    found[place] = number
        return found

    def ids_of(self, numbers: Sequence[int]) -> list[Id]:
        if len(numbers) <= _FEW:
            return [block.id(place) for block, place in self._found(numbers)]
        return self._gathered(numbers, lambda block, places: block.ids(places))

    def metadata_of(self, numbers: Sequence[int]) -> list[Any] | None:
        if len(numbers) <= _FEW:
            found = [block.metadata(place) for block, place in self._found(numbers)]
        else:
            found = self._gathered(numbers, lambda block, places: block.metadatas(places))
        return [orjson.loads(json) if json else None for json in found] if any(found) else None

    def summary_of(self, number: int) -> Summary:
        """Id, row and metadata of a document."""
        block, place = next(self._found((number,)))
        return block.id(place), block.row(place), block.metadata(place)

    def rows_of(self, numbers: Sequence[int]) -> list[bytes]:
        if len(numbers) <= _FEW:
            return [block.row(place) for block, place in self._found(numbers)]
        return self._gathered(numbers, lambda block, places: block.rows(places))

    def records(self, numbers: Sequence[int]) -> list[Record]:
        return [block.record(place) for block, place in self._found(numbers)]

    def expired(self, now: int) -> Numbers:
        """The numbers of the documents that have expired, ascending."""
        found = [np.zeros(0, np.uint64)]
        for block in self.stored.blocks_from(0):
            expires = block.expires()
            if expires is not None:
                found.append(block.numbers()[expires <= now])
        numbers = np.concatenate(found)
        return numbers[in_sorted(numbers, self.numbers())]

    def times(self, now: int) -> tuple[NDArray[np.int64], int]:
        alive = self.numbers()
        parts = [np.zeros(0, np.int64)]
        for block in self.stored.blocks_from(0):
            parts.append(block.added()[in_sorted(block.numbers(), alive)])
        added = np.concatenate(parts)
        return added[added > 0], len(self.expired(now))

    def seen(self, number: int) -> tuple[int, int] | None:
        return self.stored.seen(number)

    def numbers(self) -> Numbers:
        parts = []
        for segment in self.state.segments:
            numbers = self.stored.segment(segment.key).ids.numbers()
            parts.append(numbers[~in_sorted(numbers, self.dead[segment.key])])
        return np.sort(np.concatenate([*parts, self.tail.numbers()]))

    def _dead_of(self, segment: Segment) -> Numbers | None:
        return self.dead[segment.key] if segment.dead else None

    def _gathered(
        self, numbers: Sequence[int], take: Callable[[Block, NDArray[np.int64]], list[Any]]
    ) -> list[Any]:
        """Read one column of many documents, looking up each block once."""
        wanted = np.array(numbers, np.uint64)
        order = np.argsort(wanted, kind="stable")
        wanted = wanted[order]
        found: list[Any] = []
        begin = 0
        while begin < len(wanted):
            block, _ = next(self._found([int(wanted[begin])]))
            end = int(wanted.searchsorted(np.uint64(block.last), "right"))
            found += take(block, block.places(wanted[begin:end]))
            begin = end
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return [found[place] for place in back.tolist()]

    def _is_alive(self, key: int, number: int) -> bool:
        dead = self.dead[key]
        return not len(dead) or not in_sorted(np.array([number], np.uint64), dead)[0]

    def _found(self, numbers: Sequence[int]) -> Iterator[tuple[Block, int]]:
        """The block and the place of each document; neighbours reuse the block."""
        block: Block | None = None
        for number in numbers:
            place = None if block is None else block.place(number)
            if place is None:
                block = self.stored.block(number)
                place = None if block is None else block.place(number)
            if block is None or place is None:
                raise DamageError(f"the record of document {number} is missing")
            yield block, place


def _by_distance(found: tuple[int, int]) -> tuple[int, int]:
    return found[1], found[0]


def together(parts: Sequence[Matches], limit: int | None) -> Matches:
    """Merge the matches of several parts: nearest first, then by number, at most `limit`."""
    if len(parts) == 1 and (limit is None or (np.diff(parts[0].offsets) <= limit).all()):
        return parts[0]
    queries = len(parts[0])
    counts = np.array([np.diff(part.offsets) for part in parts])
    owners = np.concatenate([np.repeat(np.arange(queries), count) for count in counts])
    numbers = np.concatenate([part.numbers for part in parts])
    distances = np.concatenate([part.distances for part in parts])
    order = np.lexsort((numbers, distances, owners))
    totals = counts.sum(axis=0)
    offsets = np.concatenate(([0], np.cumsum(totals)))
    if limit is not None and (totals > limit).any():
        rank = np.arange(len(order)) - np.repeat(offsets[:-1], totals)
        order = order[rank < limit]
        offsets = np.concatenate(([0], np.cumsum(np.minimum(totals, limit))))
    return Matches(offsets.astype(np.int64), numbers[order], distances[order])
