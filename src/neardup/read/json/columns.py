"""JSON columns: values of any type, collected into Arrow columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import orjson
import pyarrow as pa

from neardup.errors import InputError
from neardup.frozen import dataclass
from neardup.kernels.columns import converted, text_column
from neardup.kernels.json_lines import JsonColumn, JsonLines, MustBe
from neardup.read.batch import RowCounter, Rows, id_array
from neardup.read.columns import Wanted, carried_names

# The most rows times columns of a batch, counting missing values.
CELLS_AT_ONCE = 1 << 22
_PLAIN_TYPES = {pa.null(), pa.bool_(), pa.int64(), pa.float64(), pa.string()}
_SPELT_TYPES = {"boolean": pa.bool_(), "whole": pa.int64(), "fraction": pa.float64()}


MOST_CHANGING_KEYS = 4096


class Carried(Protocol):
    """The carried values of consecutive rows."""

    @property
    def keys(self) -> Iterable[str]:
        """The keys of the rows, in order of appearance."""

    def values(self, key: str) -> list[Any]:
        """The values of a key; None for rows without it."""

    def column(self, key: str) -> pa.Array:
        """The values of a key as a column of their common type."""


class ObjectValues:
    """The values of objects parsed one by one."""

    def __init__(self, objects: list[dict[str, Any]]) -> None:
        self._objects = objects

    @property
    def keys(self) -> Iterable[str]:
        return {key: None for item in self._objects for key in item}

    def values(self, key: str) -> list[Any]:
        return [item.get(key) for item in self._objects]

    def column(self, key: str) -> pa.Array:
        return _column(self.values(key))


class LineValues:
    """The values of blocks of lines, parsed natively."""

    def __init__(self, columns: Mapping[str, JsonColumn], rows: int) -> None:
        self._columns, self._rows = columns, rows

    @property
    def keys(self) -> Iterable[str]:
        return self._columns

    def values(self, key: str) -> list[Any]:
        column = self._columns.get(key)
        if column is None:
            return [None] * self._rows
        if column.kind == "other":
            values: list[Any] = orjson.loads(b"[%b]" % column.data[:-1].tobytes())
            return values
        return plain_column(column).to_pylist()  # type: ignore[no-any-return]

    def column(self, key: str) -> pa.Array:
        column = self._columns.get(key)
        if column is None or column.kind == "other":
            return _column(self.values(key))
        return plain_column(column)


def plain_column(column: JsonColumn) -> pa.Array:
    """Convert a column of a kind other than `other` to the type that Arrow would infer."""
    if column.kind == "null":
        return pa.nulls(column.rows)
    return converted(column.strings(), _SPELT_TYPES.get(column.kind, pa.string()))


def carried_columns(file: str, parts: Sequence[Carried], wanted: Wanted) -> dict[str, Any]:
    """Make a column of every carried key; rows without the key are null."""
    keys = {key: None for part in parts for key in part.keys} if wanted.columns == "all" else {}
    renamed = carried_names(file, wanted.carried(keys))
    return {new: _joined(parts, key) for key, new in renamed.items()}


def _joined(parts: Sequence[Carried], key: str) -> pa.Array:
    columns = [part.column(key) for part in parts]
    types = {column.type for column in columns}
    # Only for plain types is the type of all values certain to be the type of each part.
    if len(parts) == 1 or (len(types) == 1 and types <= _PLAIN_TYPES):
        return pa.concat_arrays(columns) if len(parts) > 1 else columns[0]
    return _column([value for part in parts for value in part.values(key)])


def field_fault(item: dict[str, Any], fields: Sequence[str]) -> str | None:
    """The message for the first field of a record that is an array or object; else None."""
    for name in fields:
        if isinstance(item.get(name), list | dict):
            return f"{name!r} is an array or an object, not a plain value"
    return None


def field_text(item: dict[str, Any], name: str) -> str:
    """The value of a record's field as text; a missing value is empty."""
    return _as_text(item.get(name)) or ""


def _column(values: list[Any]) -> pa.Array:
    """A column of the type that Arrow infers; values without a common type become JSON strings."""
    try:
        if any(type(value) is dict or type(value) is list for value in values):
            kind = pa.infer_type(values)
            # Parquet cannot store an object without keys, and objects that share few keys would
            # need a column for each key.
            if _has_empty_struct(kind) or _leaves(kind) * len(values) > CELLS_AT_ONCE:
                return _spelt(values)
        return pa.array(values)
    except (pa.ArrowException, OverflowError):
        return _spelt(values)


def _spelt(values: list[Any]) -> pa.Array:
    return pa.array([_as_text(value) for value in values], pa.large_string())


def as_type(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Convert a column to a wider type; any value can be written out as a string."""
    if column.type == kind:
        return column
    plain = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if pa.types.is_large_string(kind) and not plain:
        return _spelt(column.to_pylist())
    return column.cast(kind)


def _as_text(value: Any) -> str | None:
    # Strings are not quoted, so that they look the same in batches with strings only.
    if value is None or isinstance(value, str):
        return value
    return orjson.dumps(value, default=str).decode()


def _has_empty_struct(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind) and kind.num_fields == 0:
        return True
    return any(_has_empty_struct(kind.field(i).type) for i in range(kind.num_fields))


def _leaves(kind: pa.DataType) -> int:
    """The number of leaf columns of a nested type."""
    return sum(_leaves(kind.field(i).type) for i in range(kind.num_fields)) or 1


@dataclass(frozen=True)
class _Part:
    """Rows of a batch that were read in the same way."""

    text: pa.Array
    id: pa.Array | None
    carried: Carried


class ObjectGatherer(RowCounter):
    """Collects the rows of one file until they are taken.

    Rows read one by one and in blocks are separate parts; most batches have one part.
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
        """Whether the batch would have too many cells with this object."""
        return self._keys is not None and self._keys.too_many_cells(item, len(self._texts) + 1)

    def add(self, text: str, id: str | int | None, item: dict[str, Any], size: int) -> None:
        """Add one good object."""
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
        """Set the expected kinds of text and id, which allows blocks."""
        every = self._wanted.columns == "all"
        carried: dict[str, MustBe] = dict.fromkeys(self._wanted.carried(()), "any")
        self._lines = JsonLines({**carried, **expected}, every=every)

    @property
    def takes_blocks(self) -> bool:
        """Whether `expect` was called."""
        return self._lines is not None

    def add_block(self, block: bytes) -> int:
        """Add a block and return the number of its lines; 0 if it is unusual and was not added."""
        assert self._lines is not None
        before = len(self._lines)
        lines = self._lines.add(block)
        if not lines and before:
            # It may be valid, and only differ from the blocks before.
            self._end_lines()
            before, lines = 0, self._lines.add(block)
        if lines:
            self._end_objects()
            self._accept(len(block) - (lines - 1), len(self._lines) - before)
        return lines

    def take(self, bytes_done: int) -> Rows:
        """Return the collected rows and start afresh."""
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
    """Limits the number of keys of a file, which all become columns."""

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
        """Count the keys of a batch; refuse a file whose objects share few keys."""
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
