"""Texts and tables that a program holds, in any supported form, become Arrow columns."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from neardup import kernels
from neardup.errors import InputError, NoColumnError
from neardup.read.columns import field_texts
from neardup.read.file_kinds import kind_of
from neardup.read.streams import stream_of

_SHOWN = 3
_LONGEST_PATH = 4096


_ITEMS_AT_ONCE = 10_000
_ONE_COLUMN = (
    "texts must be one column, not a table; name the column with text, or take it out, for example "
    "df['text']"
)
_ROWS_AT_ONCE = 10_000
_EXPECTED = "give an Arrow, pandas, Polars or DuckDB table, or records as dicts"


def table_of(held: Any) -> pa.Table | None:
    """Convert a table to an Arrow table; None if it is not a table.

    Takes Arrow tables, record batches and readers, pandas and Polars frames, Polars lazy frames,
    DuckDB relations, datasets of Hugging Face, and anything with `__arrow_c_stream__`. What can be
    read only once, or is computed on each read, is held in memory or, if it is large, in a
    temporary file.
    """
    if isinstance(held, pa.Table):
        return held
    if isinstance(held, pa.RecordBatch):
        return pa.Table.from_batches([held])
    stream = stream_of(held)
    if stream is not None:
        return stream.table()
    if not hasattr(held, "columns"):
        return None
    try:
        return pa.table(held)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(_not_a_table(held, error)) from None


def batches_of(held: Any) -> Iterator[pa.RecordBatch] | None:
    """The rows of a table, to be read once: a stream is not held; None if it is not a table."""
    stream = stream_of(held)
    if stream is not None:
        return stream.batches
    table = table_of(held)
    return None if table is None else iter(table.to_batches())


def _not_a_table(held: Any, error: Exception) -> str:
    kind = type(held).__name__
    mixed = re.search(r"for column (.*) with type object", str(error))
    if mixed is not None:
        name = mixed[1]
        return (
            f"the {kind} has values of several types in the column {name!r}; make them alike, for "
            f"example frame[{name!r}] = frame[{name!r}].astype('string')"
        )
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return f"the {kind} cannot be read as an Arrow table: {reason}"


def require_no_paths(held: Any, instead: str) -> None:
    """Refuse a list of strings that are file names; `instead` says how to pass files.

    A list is refused if at least one string is an existing path and every other one exists too or
    has a suffix that can be read. If any string is neither, or has no letter or digit (such as
    "/"), the list holds texts. Only lists and tuples are checked: a column always holds texts.
    """
    if not isinstance(held, list | tuple) or not held:
        return
    existing = 0
    for item in held:
        if not isinstance(item, str) or len(item) > _LONGEST_PATH:
            return
        if any(map(str.isalnum, item)) and os.path.exists(item):
            existing += 1
        elif kind_of(item) is None:
            return
    if existing:
        files = "existing files" if existing == len(held) else "files"
        raise InputError(
            f"{_listed(held)} are names of {files}; {instead}. To take the strings themselves as "
            "texts, pass a column, for example pyarrow.array([...])"
        )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:_SHOWN]))
    return f"[{shown}{', ...' if len(names) > _SHOWN else ''}]"


def string_chunks(texts: Any) -> Iterator[pa.Array]:
    """Yield string arrays that together hold every text, including nulls.

    Takes a list, an iterator, a NumPy, pandas or Polars column, or an Arrow (chunked) array.
    Arrow data is not copied.
    """
    if isinstance(texts, str | bytes):
        raise InputError("a single text was given where many are expected; put it in a list")
    if getattr(texts, "ndim", 1) > 1:
        raise InputError(_ONE_COLUMN)
    if isinstance(texts, pa.Array):
        yield _checked(texts, 0)
    elif isinstance(texts, pa.ChunkedArray):
        yield from _checked_chunks(texts)
    elif isinstance(texts, np.ndarray):
        yield from _from_items(texts.tolist())
    elif hasattr(texts, "__arrow_c_stream__"):  # Polars, recent pandas
        try:
            chunked = pa.chunked_array(texts)
        except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError):
            yield from _from_items(texts)  # pandas objects that are not strings
            return
        yield from _checked_chunks(_string_column(chunked))
    elif isinstance(texts, Iterable):
        yield from _from_items(texts)
    else:
        raise InputError(f"texts must be a list, a column or an iterator, not {_name(texts)}")


def _string_column(chunked: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_struct(chunked.type):
        raise InputError(_ONE_COLUMN)
    return chunked


def _checked_chunks(chunked: pa.ChunkedArray) -> Iterator[pa.Array]:
    first = 0
    for chunk in chunked.chunks:
        yield _checked(chunk, first)
        first += len(chunk)


def _from_items(items: Iterable[Any]) -> Iterator[pa.Array]:
    iterator = iter(items)
    first = 0
    while some := list(islice(iterator, _ITEMS_AT_ONCE)):
        some = [None if _is_missing(item) else item for item in some]
        try:
            yield pa.array(some, pa.large_string())
        except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError):
            place, why = _first_bad(some)
            raise InputError(f"text {first + place} {why}") from None
        first += len(some)


def _is_missing(item: Any) -> bool:
    """Whether an item is None, or the NaN or NA that NumPy and pandas use instead."""
    return (
        item is None
        or type(item).__name__ == "NAType"
        or (isinstance(item, float) and item != item)
    )


def _first_bad(items: list[Any]) -> tuple[int, str]:
    for place, item in enumerate(items):
        if item is None:
            continue
        if not isinstance(item, str):
            return place, f"is of type {_name(item)}; every text must be a str or None"
        try:
            item.encode()
        except UnicodeEncodeError as error:
            return place, (
                f"holds a lone surrogate (U+{ord(item[error.start]):04X}) at character "
                f"{error.start}, which is not valid Unicode; repair or drop it"
            )
    return 0, "cannot be read as text"


def _checked(array: pa.Array, first: int) -> pa.Array:
    """Convert to a large string array, and check that it is valid UTF-8."""
    kind = array.type
    if isinstance(kind, pa.DictionaryType):
        if _is_string_view(kind.value_type):  # Arrow cannot decode these
            values = array.dictionary.cast(pa.large_string())
            array = pa.DictionaryArray.from_arrays(array.indices, values)
        return _checked(array.dictionary_decode(), first)
    if pa.types.is_null(kind) or _is_string_view(kind) or pa.types.is_string(kind):
        array = array.cast(pa.large_string())
    elif not pa.types.is_large_string(kind):
        raise InputError(f"texts are of Arrow type {kind}; string or large_string is needed")
    try:
        array.validate()
        if not kernels.is_utf8(array):
            array.validate(full=True)  # the error says where; bytes of nulls are ignored
    except pa.ArrowInvalid as error:
        raise InputError(f"texts {first} to {first + len(array) - 1}: {error}") from None
    return array


def _is_string_view(kind: pa.DataType) -> bool:
    return hasattr(pa.types, "is_string_view") and pa.types.is_string_view(kind)


def _name(item: Any) -> str:
    return type(item).__name__


def field_columns(table: Any, names: Sequence[str]) -> Iterator[list[pa.Array]]:
    """Yield some columns of a table as texts; numbers become strings, missing ones are empty."""
    for batch in _batches(table):
        yield [_texts(_column(batch, name), name) for name in names]


def column_texts(table: Any, name: str) -> pa.ChunkedArray:
    """One column of a table, as texts."""
    chunks = [_column(batch, name) for batch in _batches(table)]
    return pa.chunked_array(chunks) if chunks else pa.chunked_array([], pa.string())


def _texts(column: pa.Array, name: str) -> pa.Array:
    texts = field_texts(column)
    if texts is None:
        raise InputError(
            f"the field {name!r} is of Arrow type {column.type}; name a column of plain values"
        )
    chunks = list(string_chunks(texts))
    return chunks[0]


def _batches(table: Any) -> Iterator[pa.RecordBatch]:
    if isinstance(table, str | bytes | Mapping):
        raise InputError(f"one record was given where many are expected; {_EXPECTED}")
    held = batches_of(table)
    if held is not None:
        yield from held
    elif isinstance(table, Iterable):
        records = iter(table)
        while some := list(islice(records, _ROWS_AT_ONCE)):
            yield from table_of_records(some).to_batches()
    else:
        raise InputError(f"{type(table).__name__} is not a table; {_EXPECTED}")


def table_of_records(records: list[Any]) -> pa.Table:
    """Convert dicts to a table with the union of their keys."""
    names: dict[str, None] = {}
    for record in records:
        if not isinstance(record, Mapping):
            raise InputError(f"a record is of type {type(record).__name__}; {_EXPECTED}")
        names.update(dict.fromkeys(record))
    try:
        return pa.table({name: [record.get(name) for record in records] for name in names})
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(f"the records have no common type: {error}") from None


def _column(batch: pa.RecordBatch, name: str) -> pa.Array:
    if name not in batch.schema.names:
        found = batch.schema.names
        raise NoColumnError(f"the table has no column {name!r}, only {found}", found)
    return batch[name]
