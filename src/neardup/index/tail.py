"""The tail of a durable index: the documents that are in no segment yet, held in memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup.index.block import Block
from neardup.index.ids import Id
from neardup.index.notes import read_notes
from neardup.index.state import TAIL, State
from neardup.index.stored import Stored
from neardup.kernels.living import MemoryTables

Numbers = NDArray[np.uint64]


class Tail:
    """A copy of the tail as it was at a revision, with tables to find it by.

    The store is the truth; this follows it, reading only what is new.
    """

    def __init__(self, masks: NDArray[np.uint64], bits: int) -> None:
        self._masks, self._bits = masks, bits
        self._first = self._next = self._notes = 0
        self._revision = -1
        self._begin(0)

    def follow(self, stored: Stored, state: State) -> None:
        """Become what the tail is in that state."""
        if state.revision == self._revision:
            return
        if state.tail.first != self._first or state.revision < self._revision:
            self._begin(state.tail.first)
        for block in stored.blocks_from(self._next):
            self._add(block)
        if state.tail.notes > self._notes:
            for number in read_notes(stored, TAIL, self._notes).tolist():
                self._remove(number)
        self._next = state.next_number
        self._notes = state.tail.notes
        self._revision = state.revision

    def number_of(self, id: Id) -> int | None:
        """The number of the document with that id, if it is here."""
        return self._numbers.get(id)

    def numbers(self) -> Numbers:
        """The numbers of all documents, ascending."""
        return np.array(sorted(self._rows), np.uint64)

    def add_to(self, tables: MemoryTables) -> None:
        """Put the documents into other tables."""
        for number, (_, row) in self._rows.items():
            if row is not None:
                tables.add(np.array([number], np.uint64), row)

    def __len__(self) -> int:
        return len(self._rows)

    def _begin(self, first: int) -> None:
        self.tables = MemoryTables(self._masks, self._bits)
        self._numbers: dict[Id, int] = {}
        self._rows: dict[int, tuple[Id, NDArray[np.uint64] | None]] = {}
        self._first = self._next = first
        self._notes = 0
        self._revision = -1

    def _add(self, block: Block) -> None:
        entries = block.entries()
        numbers = block.numbers()
        filled = entries.filled
        self.tables.add(numbers[filled], np.ascontiguousarray(entries.rows[filled]))
        for place, (number, id) in enumerate(
            zip(numbers.tolist(), entries.ids.to_pylist(), strict=True)
        ):
            self._numbers[id] = number
            self._rows[number] = (
                id,
                entries.rows[place : place + 1].copy() if filled[place] else None,
            )

    def _remove(self, number: int) -> None:
        if number not in self._rows:  # noted again with others
            return
        id, row = self._rows.pop(number)
        if row is not None:
            self.tables.remove(np.array([number], np.uint64), row)
        if self._numbers.get(id) == number:
            del self._numbers[id]
