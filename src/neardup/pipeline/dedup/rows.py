"""The rows of the input, read again: those that are kept, or one column of all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.errors import InputError
from neardup.pipeline.dedup.source import Source


def kept_rows(
    source: Source, keeps: NDArray[np.bool_]
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The columns of the input, and the rows to keep, batch by batch.

    JSON may show a type only in a later batch, so a schema that is not fixed is looked up first.
    """
    schema = source.schema
    if schema is None:
        for batch in source.rows():
            schema = _widened(schema, batch.schema)
    known = pa.schema([]) if schema is None else schema
    return known, (_cast(batch, known) for batch in _filtered(source, keeps))


def one_column(source: Source, name: str) -> pa.ChunkedArray:
    """The values of one column of all documents."""
    chunks = []
    for batch in source.rows():
        if name not in batch.schema.names:
            raise InputError(
                f"keep: the input has no column {name!r}; its columns are "
                f"{', '.join(batch.schema.names)}"
            )
        chunks.append(batch[name])
    kinds = [chunk.type for chunk in chunks if not pa.types.is_null(chunk.type)]
    wide = kinds[0] if kinds else pa.null()
    return pa.chunked_array([chunk.cast(wide) for chunk in chunks], wide)


def _filtered(source: Source, keeps: NDArray[np.bool_]) -> Iterator[pa.RecordBatch]:
    first = 0
    for batch in source.rows():
        mask = pa.array(keeps[first : first + len(batch)])
        first += len(batch)
        yield batch.filter(mask)


def _widened(schema: pa.Schema | None, other: pa.Schema) -> pa.Schema:
    """One schema for both."""
    if schema is None:
        return other
    try:
        return pa.unify_schemas([schema, other], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(
            f"the columns of the input change their type on the way: {error}"
        ) from None


def _cast(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [
        batch[field.name].cast(field.type)
        if field.name in batch.schema.names
        else pa.nulls(len(batch), field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
