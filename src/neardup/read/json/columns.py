"""JSON columns: values of any shape, gathered into Arrow columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import orjson
import pyarrow as pa

from neardup.errors import InputError
from neardup.kernels.columns import text_column
from neardup.kernels.json_lines import JsonColumn, JsonLines, MustBe
from neardup.read.batch import RowCounter, Rows, id_array
from neardup.read.columns import Wanted, carried_names

# A batch has at most so many rows times columns, missing values counted.
CELLS_AT_ONCE = 1 << 22
_PLAIN_TYPES = {pa.null(), pa.bool_(), pa.int64(), pa.float64(), pa.string()}
_SPELT_TYPES = {"boolean": pa.bool_(), "whole": pa.int64(), "fraction": pa.float64()}


class Carried(Protocol):
    """The carried values of some consecutive rows."""

    @property
    def keys(self) -> Iterable[str]:
        """The keys that the rows have, in the order in which they come."""

    def values(self, key: str) -> list[Any]:
        """The values of a key; a row without it has None."""

    def column(self, key: str) -> pa.Array:
        """The same as a column of the type that fits them all."""


class ObjectValues:
    """The values of objects that were parsed one by one."""

    def __init__(self, objects: list[dict[str, Any]]) -> None:
        self._objects = objects

    @property
    def keys(self) -> Iterable[str]:
        """All keys of the objects."""
        return {key: None for item in self._objects for key in item}

    def values(self, key: str) -> list[Any]:
        """The values of a key."""
        return [item.get(key) for item in self._objects]

    def column(self, key: str) -> pa.Array:
        """The values of a key as a column."""
        return _column(self.values(key))


class LineValues:
    """The values of whole blocks of lines, as the native code gives them."""

    def __init__(self, columns: Mapping[str, JsonColumn], rows: int) -> None:
        self._columns, self._rows = columns, rows

    @property
    def keys(self) -> Iterable[str]:
        """All keys of the lines."""
        return self._columns

    def values(self, key: str) -> list[Any]:
        """The values of a key."""
        column = self._columns.get(key)
        if column is None:
            return [None] * self._rows
        if column.kind == "other":
            values: list[Any] = orjson.loads(b"[%b]" % column.data[:-1].tobytes())
            return values
        return plain_column(column).to_pylist()  # type: ignore[no-any-return]

    def column(self, key: str) -> pa.Array:
        """The values of a key as a column."""
        column = self._columns.get(key)
        if column is None or column.kind == "other":
            return _column(self.values(key))
        return plain_column(column)


def plain_column(column: JsonColumn) -> pa.Array:
    """The column that Arrow would make of the same values, which are all of one plain kind."""
    if column.kind == "null":
        return pa.nulls(column.rows)
    return column.strings().cast(_SPELT_TYPES.get(column.kind, pa.string()))


def carried_columns(file: str, parts: Sequence[Carried], wanted: Wanted) -> dict[str, Any]:
    """Make a column of every carried key; a row without the key has a null there."""
    keys = {key: None for part in parts for key in part.keys} if wanted.columns == "all" else {}
    renamed = carried_names(file, wanted.carried(keys))
    return {new: _joined(parts, key) for key, new in renamed.items()}


def _joined(parts: Sequence[Carried], key: str) -> pa.Array:
    columns = [part.column(key) for part in parts]
    types = {column.type for column in columns}
    # Only of plain types is it sure that all values together have the type that each part has.
    if len(parts) == 1 or (len(types) == 1 and types <= _PLAIN_TYPES):
        return pa.concat_arrays(columns) if len(parts) > 1 else columns[0]
    return _column([value for part in parts for value in part.values(key)])


def field_fault(item: dict[str, Any], fields: Sequence[str]) -> str | None:
    """Say which field of a record is no plain value."""
    for name in fields:
        if isinstance(item.get(name), list | dict):
            return f"{name!r} is an array or an object, not a plain value"
    return None


def field_text(item: dict[str, Any], name: str) -> str:
    """Spell out the value of a record's field; a missing one is empty."""
    return _as_text(item.get(name)) or ""


def _column(values: list[Any]) -> pa.Array:
    """Take the type that Arrow infers; values that have no common type are kept as JSON."""
    try:
        if any(type(value) is dict or type(value) is list for value in values):
            kind = pa.infer_type(values)
            # Parquet has no way to store an object without keys. And objects that hardly share a
            # key would take as many columns as there are keys.
            if _has_empty_struct(kind) or _leaves(kind) * len(values) > CELLS_AT_ONCE:
                return _spelt(values)
        return pa.array(values)
    except (pa.ArrowException, OverflowError):
        return _spelt(values)


def _spelt(values: list[Any]) -> pa.Array:
    return pa.array([_as_text(value) for value in values], pa.large_string())


def as_type(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """A column as one of a wider type; anything can be spelt out as a string."""
    if column.type == kind:
        return column
    plain = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if pa.types.is_large_string(kind) and not plain:
        return _spelt(column.to_pylist())
    return column.cast(kind)


def _as_text(value: Any) -> str | None:
    # A string stays as it is, so that it looks the same beside a batch of strings only.
    if value is None or isinstance(value, str):
        return value
    return orjson.dumps(value, default=str).decode()


def _has_empty_struct(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind) and kind.num_fields == 0:
        return True
    return any(_has_empty_struct(kind.field(i).type) for i in range(kind.num_fields))


def _leaves(kind: pa.DataType) -> int:
    """How many columns a nested type has."""
    return sum(_leaves(kind.field(i).type) for i in range(kind.num_fields)) or 1


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
