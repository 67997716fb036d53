"""Columnar tables: Arrow batches as they come from Parquet and Arrow files become rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.errors import InputError
from neardup.read.batch import Rejected, Rows
from neardup.read.columns import Wanted, carried_names
from neardup.read.slices import bounded
from neardup.read.utf8 import invalid_texts

# Enough to keep the cost of a batch small, few enough that long repeated texts, which a
# dictionary stores once, do not fill the memory when they are spelt out.
ROWS_AT_ONCE = 16384


class TableColumns:
    """The wanted columns of one table, once its schema has been found fit."""

    def __init__(self, file: str, schema: pa.Schema, wanted: Wanted) -> None:
        wanted.require_once(file, schema.names)
        self._file = file
        self._text = wanted.text
        self._id = wanted.id if wanted.id in schema.names else None
        self._carried = carried_names(file, wanted.carried(schema.names))
        self._require_type(schema, self._text, "a text", "--text", _is_text)
        if self._id is not None:
            self._require_type(schema, self._id, "an id", "--id (or --id row)", _is_id)

    @property
    def names(self) -> list[str]:
        """The columns to read."""
        return list(dict.fromkeys(filter(None, (self._text, self._id, *self._carried))))

    def _require_type(
        self, schema: pa.Schema, name: str, what: str, option: str, fits: Any
    ) -> None:
        kind = schema.field(name).type
        if not fits(kind.value_type if pa.types.is_dictionary(kind) else kind):
            raise InputError(
                f"{self._file} has the column {name!r} of type {kind}, which cannot be {what}; "
                f"name another with {option}"
            )

    def rows(
        self, batch: pa.RecordBatch, first: int, batch_bytes: int, bytes_done: int
    ) -> Iterator[Rows]:
        """Cut a batch, whose first row has the number `first`, into rows of bounded size."""
        for start in range(0, batch.num_rows, ROWS_AT_ONCE):
            part = batch.slice(start, ROWS_AT_ONCE)
            texts = _plain_text(part.column(self._text))
            for begin, end in bounded(texts, batch_bytes):
                piece, count = part.slice(begin, end - begin), end - begin
                text = texts.slice(begin, count)
                yield self._settled(piece, text, first + start + begin, bytes_done)

    def _settled(self, part: pa.RecordBatch, text: pa.Array, first: int, bytes_done: int) -> Rows:
        ids = None if self._id is None else self._ids(part.column(self._id))
        carried = {new: part.column(name) for name, new in self._carried.items()}
        numbers = np.arange(first, first + len(text), dtype=np.int64)
        faults = self._faults(text, ids, carried)
        if faults:
            good = np.ones(len(text), bool)
            good[list(faults)] = False
            mask, numbers = pa.array(good), numbers[good]
            text, ids = text.filter(mask), None if ids is None else ids.filter(mask)
            carried = {name: column.filter(mask) for name, column in carried.items()}
        if ids is not None and pa.types.is_uint64(ids.type):
            ids = self._signed(ids)
        rejected = tuple(
            Rejected(self._file, first + position, faults[position]) for position in sorted(faults)
        )
        return Rows(text, ids, carried, numbers, rejected, first + part.num_rows, bytes_done)

    def _ids(self, column: pa.Array) -> pa.Array:
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if not pa.types.is_integer(column.type):
            return _plain_text(column)
        return column if pa.types.is_uint64(column.type) else column.cast(pa.int64())

    def _signed(self, ids: pa.Array) -> pa.Array:
        try:
            return ids.cast(pa.int64())
        except pa.ArrowInvalid as error:
            raise InputError(
                f"{self._file} has ids in {self._id!r} that are more than a signed 64-bit number "
                "can hold; write them as strings, or number the rows with --id row"
            ) from error

    def _faults(
        self, text: pa.Array, ids: pa.Array | None, carried: dict[str, pa.Array]
    ) -> dict[int, str]:
        strings = {new: column for new, column in carried.items() if _is_string(column.type)}
        # The text comes last, so that its own fault is the one that is told.
        found = {
            position: f"{name!r}: {fault}"
            for name, column in strings.items()
            for position, fault in invalid_texts(column).items()
        }
        for name, column in ((self._id, ids), (self._text, text)):
            if column is None:
                continue
            if _is_string(column.type):
                faults = invalid_texts(column)
                found |= {position: f"{name!r}: {fault}" for position, fault in faults.items()}
            if column.null_count:
                nulls = np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))
                found |= {int(position): f"{name!r} is null" for position in nulls}
        return found


def _is_string(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_text(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        _is_string(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_string_view(kind)
        or types.is_binary_view(kind)
    )


def _is_id(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or _is_text(kind))


def _plain_text(column: pa.Array) -> pa.Array:
    """Give any text-like column the layout that kernels read, copying only where it must."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _plain_text(column.dictionary_decode())
    if pa.types.is_binary(kind):
        return column.view(pa.string())
    if pa.types.is_large_binary(kind):
        return column.view(pa.large_string())
    if pa.types.is_string_view(kind):
        return column.cast(pa.large_string())
    if pa.types.is_binary_view(kind):
        return column.cast(pa.large_binary()).view(pa.large_string())
    return column
