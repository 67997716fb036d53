"""Tables in whatever shape the caller has them → columns of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import pyarrow as pa

from neardup.errors import InputError
from neardup.features.columns import Fields, TextColumn
from neardup.fingerprints.texts import string_chunks
from neardup.read.column_types import field_texts

_ROWS_AT_ONCE = 10_000
_SHAPES = "give an Arrow, pandas or Polars table, or records as dicts"


def record_columns(table: Any, fields: Fields) -> Iterator[list[TextColumn]]:
    """Yield the fields of records as texts; numbers are spelt out, missing ones are empty."""
    for batch in _batches(table):
        columns = [_texts(_column(batch, field.name), field.name) for field in fields.fields]
        yield [TextColumn(*pair) for pair in zip(columns, fields.fields, strict=True)]


def column_texts(table: Any, name: str) -> pa.ChunkedArray:
    """One column of a table, to be taken as the texts."""
    chunks = [_column(batch, name) for batch in _batches(table)]
    return pa.chunked_array(chunks) if chunks else pa.chunked_array([], pa.string())


def _texts(column: pa.Array, name: str) -> pa.Array:
    texts = field_texts(column)
    if texts is None:
        raise InputError(f"the field {name!r} is of Arrow type {column.type}, which is no text")
    chunks = list(string_chunks(texts))
    return chunks[0]


def _batches(table: Any) -> Iterator[pa.RecordBatch]:
    if isinstance(table, str | bytes | Mapping):
        raise InputError(f"one record was given where many are expected; {_SHAPES}")
    if isinstance(table, pa.RecordBatch):
        yield table
    elif hasattr(table, "columns"):
        yield from pa.table(table).to_batches()
    elif isinstance(table, Iterable):
        records = iter(table)
        while some := list(islice(records, _ROWS_AT_ONCE)):
            yield from table_of_records(some).to_batches()
    else:
        raise InputError(f"{type(table).__name__} is no table; {_SHAPES}")


def table_of_records(records: list[Any]) -> pa.Table:
    """Dicts as a table, with every key that any of them has."""
    names: dict[str, None] = {}
    for record in records:
        if not isinstance(record, Mapping):
            raise InputError(f"a record is of type {type(record).__name__}; {_SHAPES}")
        names.update(dict.fromkeys(record))
    try:
        return pa.table({name: [record.get(name) for record in records] for name in names})
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(f"the records have no common type: {error}") from None


def _column(batch: pa.RecordBatch, name: str) -> pa.Array:
    if name not in batch.schema.names:
        raise InputError(f"the table has no column {name!r}, only {batch.schema.names}")
    return batch[name]
