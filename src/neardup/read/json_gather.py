"""Gathering JSON: objects that come one by one, and whole blocks of lines, become columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from neardup.errors import InputError
from neardup.kernels.columns import text_column
from neardup.kernels.json_lines import JsonLines, MustBe
from neardup.read.batch import Rows
from neardup.read.columns import Wanted
from neardup.read.gather import RowCounter, id_array
from neardup.read.json_columns import (
    CELLS_AT_ONCE,
    Carried,
    LineValues,
    ObjectValues,
    carried_columns,
    plain_column,
)

MOST_CHANGING_KEYS = 4096


@dataclass(frozen=True)
class _Part:
    """Some rows of a batch that were all read in the same way."""

    text: pa.Array
    id: pa.Array | None
    carried: Carried


class ObjectGatherer(RowCounter):
    """Collects the rows of one file until they are taken.

    Rows read in different ways stand side by side as parts; most batches have only one.
    """

    def __init__(self, file: str, batch_bytes: int, wanted: Wanted) -> None:
        self._wanted = wanted
        self._lines: JsonLines | None = None
        self._keys = _Keys(file) if wanted.columns == "all" else None
        super().__init__(file, batch_bytes)

    def _clear(self) -> None:
        super()._clear()
        self._texts: list[str] = []
        self._objects: list[dict[str, Any]] = []
        self._parts: list[_Part] = []

    def too_wide(self, item: dict[str, Any]) -> bool:
        """Whether the batch with this object would have too many columns for its rows."""
        return self._keys is not None and self._keys.too_many_cells(item, len(self._texts) + 1)

    def add(self, text: str, id: str | int | None, item: dict[str, Any], size: int) -> None:
        """Count one good object."""
        self._end_lines()
        if self._keys is not None:
            self._keys.add(item)
        self._texts.append(text)
        if id is not None:
            self.ids.append(id)
        if self._wanted.columns:
            self._objects.append(item)
        self._accept(size)

    def expect(self, expected: Mapping[str, MustBe]) -> None:
        """Say what the text and the id of lines that come in blocks must be."""
        every = self._wanted.columns == "all"
        carried: dict[str, MustBe] = dict.fromkeys(self._wanted.carried(()), "any")
        self._lines = JsonLines({**carried, **expected}, every=every)

    @property
    def takes_blocks(self) -> bool:
        """Whether it is known what to expect."""
        return self._lines is not None

    def add_block(self, block: bytes) -> int:
        """Add the lines of a block and count them; 0 if anything is unusual, then none is added."""
        assert self._lines is not None
        before = len(self._lines)
        lines = self._lines.add(block)
        if not lines and before:
            # It may be sound, and only not like those before.
            self._end_lines()
            before, lines = 0, self._lines.add(block)
        if lines:
            self._end_objects()
            self._accept(len(block) - (lines - 1), len(self._lines) - before)
        return lines

    def take(self, bytes_done: int) -> Rows:
        """Hand over what was collected and begin anew."""
        self._end_objects()
        self._end_lines()
        texts = [part.text for part in self._parts]
        ids = [part.id for part in self._parts if part.id is not None]
        settled = self._settled(bytes_done)
        settled["id"] = _concatenated(ids) if ids else None
        text = _concatenated(texts) if texts else pa.nulls(0, pa.large_string())
        if self._keys is not None:
            self._keys.end_batch(key for part in self._parts for key in part.carried.keys)
        carried = carried_columns(self._file, [part.carried for part in self._parts], self._wanted)
        self._clear()
        return Rows(text=text, carried=carried, **settled)

    def _end_objects(self) -> None:
        if self._texts:
            text = text_column(self._texts)
            id = id_array(self.ids) if self.ids else None
            self._parts.append(_Part(text, id, ObjectValues(self._objects)))
            self._texts, self.ids, self._objects = [], [], []

    def _end_lines(self) -> None:
        if self._lines is None or not len(self._lines):
            return
        rows, columns = len(self._lines), self._lines.take()
        text = columns[self._wanted.text].strings()
        id = columns.get(self._wanted.id) if self._wanted.id else None
        carried = LineValues(columns, rows)
        self._parts.append(_Part(text, None if id is None else plain_column(id), carried))


class _Keys:
    """Watches over the keys of a file, which all become columns."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._of_batch: dict[str, None] = {}
        self._of_file: dict[str, None] = {}
        self._widest = 0

    def too_many_cells(self, item: dict[str, Any], rows: int) -> bool:
        if not self._of_batch or self._of_batch.keys() >= item.keys():
            return False
        return (len(self._of_batch) + len(item)) * rows > CELLS_AT_ONCE

    def add(self, item: dict[str, Any]) -> None:
        self._of_batch.update(dict.fromkeys(item))
        self._widest = max(self._widest, len(item))

    def end_batch(self, keys: Iterable[str]) -> None:
        """Count the keys of a batch; refuse a file whose objects hardly have a key in common."""
        self._of_batch = {}
        self._of_file.update(dict.fromkeys(keys))
        if len(self._of_file) > self._widest + MOST_CHANGING_KEYS:
            raise InputError(
                f"{self._file} has objects with more than {MOST_CHANGING_KEYS:,} keys that change "
                "from row to row, each of which would be a column; put such keys into one object "
                "under a fixed key, which is carried as it is"
            )


def _concatenated(arrays: list[pa.Array]) -> pa.Array:
    return arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays)
