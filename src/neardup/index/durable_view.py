"""One state of a durable index, as a transaction sees it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from neardup.errors import InputError
from neardup.index.block import Block
from neardup.index.entries import Record
from neardup.index.id_table import in_sorted
from neardup.index.ids import Id, id_array, id_hashes
from neardup.index.notes import Dead
from neardup.index.state import State
from neardup.index.stored import Stored
from neardup.index.tail import Tail
from neardup.index.view import View
from neardup.kernels.living import Matches, query_segment

Numbers = NDArray[np.uint64]


class DurableView(View):
    """The segments and the tail together; the caller sees to it that `tail` is of this state."""

    def __init__(self, stored: Stored, state: State, tail: Tail, dead: Dead) -> None:
        self.stored = stored
        self.state = state
        self.tail = tail
        self.dead = dead.follow(stored, state)

    def __len__(self) -> int:
        return self.state.documents

    def find(
        self, rows: NDArray[np.uint64], *, max_distance: int, limit: int | None, threads: int
    ) -> Matches:
        """Ask each segment and the tail, and put together what they found."""
        parts = [
            query_segment(
                self.stored.segment(segment.key),
                rows,
                max_distance=max_distance,
                limit=limit,
                threads=threads,
                dead=self.dead[segment.key],
            )
            for segment in self.state.segments
        ]
        if len(self.tail) or not parts:
            parts.append(
                self.tail.tables.query(
                    rows, max_distance=max_distance, limit=limit, threads=threads
                )
            )
        return together(parts, limit)

    def find_one(
        self, row: NDArray[np.uint64], max_distance: int, limit: int | None
    ) -> list[tuple[int, int]]:
        """Ask each segment and the tail, as far as they hold anything."""
        found = self.tail.tables.query_one(row, max_distance=max_distance, limit=limit)
        rows = row[None]
        for segment in self.state.segments:
            matches = query_segment(
                self.stored.segment(segment.key),
                rows,
                max_distance=max_distance,
                limit=limit,
                dead=self.dead[segment.key],
            )
            if len(matches.numbers):
                found += zip(matches.numbers.tolist(), matches.distances.tolist(), strict=True)
        found.sort(key=_by_distance)
        return found[:limit]

    def number_of(self, id: Id) -> int | None:
        """Look in the tail, then among the hashes of each segment."""
        found = self.tail.number_of(id)
        if found is not None or not self.state.segments:
            return found
        hash = id_hashes(id_array([id]))[0]
        for segment in reversed(self.state.segments):
            for number in self.stored.id_table(segment.key).find(hash):
                if self._is_alive(segment.key, number) and self.ids_of([number]) == [id]:
                    return number
        return None

    def numbers_of(self, ids: pa.Array) -> NDArray[np.int64]:
        """The numbers of the documents with these ids, -1 where there is none."""
        found = np.full(len(ids), -1, np.int64)
        names: list[Id] = ids.to_pylist()
        if len(self.tail):
            for place, id in enumerate(names):
                number = self.tail.number_of(id)
                if number is not None:
                    found[place] = number
        if not self.state.segments:
            return found
        hashes = id_hashes(ids)
        for segment in self.state.segments:
            places, numbers = self.stored.id_table(segment.key).find_many(hashes)
            alive = ~in_sorted(numbers, self.dead[segment.key])
            places, numbers = places[alive], numbers[alive]
            for place, number, id in zip(
                places.tolist(), numbers.tolist(), self.ids_of(numbers.tolist()), strict=True
            ):
                if id == names[place]:
                    found[place] = number
        return found

    def ids_of(self, numbers: Sequence[int]) -> list[Id]:
        """The ids of documents."""
        return [block.id(place) for block, place in self._found(numbers)]

    def metadata_of(self, numbers: Sequence[int]) -> list[Any] | None:
        """The metadata of documents."""
        found = [block.metadata(place) for block, place in self._found(numbers)]
        return [orjson.loads(json) if json else None for json in found] if any(found) else None

    def records(self, numbers: Sequence[int]) -> list[Record]:
        """All that is stored of documents."""
        return [block.record(place) for block, place in self._found(numbers)]

    def numbers(self) -> Numbers:
        """The numbers of all documents, ascending."""
        parts = []
        for segment in self.state.segments:
            numbers = self.stored.id_table(segment.key).numbers()
            parts.append(numbers[~in_sorted(numbers, self.dead[segment.key])])
        return np.sort(np.concatenate([*parts, self.tail.numbers()]))

    def _is_alive(self, key: int, number: int) -> bool:
        return not in_sorted(np.array([number], np.uint64), self.dead[key])[0]

    def _found(self, numbers: Sequence[int]) -> Iterator[tuple[Block, int]]:
        """The block and the place of each document; neighbours share a block."""
        block: Block | None = None
        for number in numbers:
            place = None if block is None else block.place(number)
            if place is None:
                block = self.stored.block(number)
                place = None if block is None else block.place(number)
            if block is None or place is None:
                raise InputError(f"the record of document {number} is missing in the index")
            yield block, place


def _by_distance(found: tuple[int, int]) -> tuple[int, int]:
    return found[1], found[0]


def together(parts: Sequence[Matches], limit: int | None) -> Matches:
    """The matches of several parts as one: nearest first, then by number, at most `limit`."""
    if len(parts) == 1:
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
