"""The rows of the input, read again: some rows, one column, or the texts of a few documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, count

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.cluster.keep import KeepPolicy
from neardup.collection.source import Progress, RowBatch, Source
from neardup.errors import InputError
from neardup.features.columns import DocumentColumns, GivenTerms
from neardup.kernels.columns import column_of, distinct, taken
from neardup.read.json.columns import as_type


class TextPicker:
    """Collects the texts at some places from batches as they are read."""

    def __init__(self, places: NDArray[np.int64]) -> None:
        self._wanted = distinct(places)
        self.texts: dict[int, str] = {}

    @property
    def has_all(self) -> bool:
        """Whether all texts have been found."""
        return len(self.texts) == len(self._wanted)

    def see(self, first: int, count: int, columns: DocumentColumns) -> None:
        """Look at a batch of `count` documents, the first at the place `first`."""
        begin, end = np.searchsorted(self._wanted, [first, first + count])
        if begin < end:
            some = self._wanted[begin:end]
            texts = _texts(columns, column_of(some - first))
            self.texts.update(zip(some.tolist(), texts, strict=True))


def texts_at(source: Source, places: NDArray[np.int64]) -> dict[int, str]:
    """The text of each document at these places, in any order."""
    picker, first = TextPicker(places), 0
    if picker.has_all:
        return {}
    for batch in source.batches():
        picker.see(first, len(batch.ids), batch.columns)
        first += len(batch.ids)
        if picker.has_all:
            break
    return picker.texts


def _texts(columns: DocumentColumns, rows: pa.Array) -> list[str]:
    """Texts as they are; the fields of a record one per line, terms separated by commas."""
    if isinstance(columns, GivenTerms):
        return [", ".join(terms) for terms in columns.terms.take(rows).to_pylist()]
    parts = [[text or "" for text in taken(column.texts, rows).to_pylist()] for column in columns]
    if len(columns) == 1 and columns[0].field is None:
        return list(parts[0])
    names = [column.field.name if column.field else "" for column in columns]
    return [
        "\n".join(f"{name}: {text}" for name, text in zip(names, row, strict=True))
        for row in zip(*parts, strict=True)
    ]


class SchemaGrewError(Exception):
    """A batch has columns or types that earlier ones lacked; start again with `schema`."""

    def __init__(self, schema: pa.Schema) -> None:
        super().__init__()
        self.schema = schema


def all_rows(
    source: Source, documents: int, see: Callable[[int, RowBatch], None] | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of all `documents`, batch by batch, with all columns.

    `see` is called with each batch and the place of its first document.
    """
    first = 0
    for batch in source.rows():
        count = len(batch.rows)
        if first + count > documents:
            raise changed(documents)
        if see is not None:
            see(first, batch)
        yield batch.rows
        first += count
    if first < documents:
        raise changed(documents)


def rows_where(source: Source, wanted: NDArray[np.bool_]) -> Iterator[pa.RecordBatch]:
    """The rows of the wanted documents, batch by batch."""
    first = 0
    for rows in all_rows(source, len(wanted)):
        yield rows.filter(column_of(wanted[first : first + len(rows)]))
        first += len(rows)


def names_beside(names: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """Names for new columns: those given, with a suffix where the input has such a column.

    >>> names_beside(["similarity", "copies"], ["text", "copies"])
    {'similarity': 'similarity', 'copies': 'copies_1'}
    """
    known = set(taken)
    found = {}
    for name in names:
        suffixes = (f"{name}_{number}" for number in count(1))
        found[name] = next(one for one in chain((name,), suffixes) if one not in known)
    return found


def changed(documents: int) -> InputError:
    """The error for an input that is not what it was when it was read first."""
    return InputError(
        f"the input changed while it was read: it had {documents:,} documents at first, and now "
        "another number; run again when nobody writes to it"
    )


def under_one_schema(
    batches: Iterator[pa.RecordBatch], schema: pa.Schema | None
) -> Iterator[pa.RecordBatch]:
    """The batches, all of one schema: the given one, or that of the first.

    JSON may show a type only in a later batch; `SchemaGrewError` then has a schema for all so far.
    """
    for batch in batches:
        wide = batch.schema if schema is None else widened(schema, batch.schema)
        if schema is not None and wide != schema:
            # Look at all that follows, so that the rows are written only once more.
            for later in batches:
                wide = widened(wide, later.schema)
            raise SchemaGrewError(wide)
        schema = wide
        yield _cast(batch, schema)


def require_keep_column(source: Source, policy: KeepPolicy) -> None:
    """Refuse a keep column that is in no row, or whose values have no order.

    Usually the first batch decides; more rows are read only while none has the column.
    """
    if policy.column is None:
        return
    others: dict[str, None] = {}
    for batch in source.rows():
        schema = batch.rows.schema
        if policy.column in schema.names:
            policy.order(0, values=pa.array([], schema.field(policy.column).type))
            return
        others.update(dict.fromkeys(schema.names))
    if others:  # without rows there is nothing to decide
        raise InputError(
            f"keep={policy}: the input has no column {policy.column!r}; its columns are "
            f"{', '.join(map(repr, others))}"
        )


def keep_order(
    source: Source,
    policy: KeepPolicy,
    words: NDArray[np.uint32],
    progress: Progress | None = None,
) -> NDArray[np.int64]:
    """The places of all documents, the preferred one first; `words` are their lengths."""
    values = None
    if policy.column is not None:
        values = one_column(source, policy.column, len(words), progress)
    return policy.order(len(words), words.astype(np.int64), values)


def one_column(
    source: Source, name: str, documents: int, progress: Progress | None = None
) -> pa.ChunkedArray:
    """The values of one column of all `documents`; null where a row has none."""
    parts, done = [], 0
    for rows in all_rows(source, documents):
        column = rows[name] if name in rows.schema.names else pa.nulls(len(rows))
        parts.append(pa.RecordBatch.from_pydict({name: column}))
        done += len(rows)
        if progress is not None:
            progress(done, documents, done)
    return together(iter(parts))[name]


def together(batches: Iterator[pa.RecordBatch]) -> pa.Table:
    """All batches as one table, with columns and types that fit all."""
    every = list(batches)
    if not every:
        return pa.table({})
    schema = every[0].schema
    for batch in every[1:]:
        schema = widened(schema, batch.schema)
    return pa.Table.from_batches([_cast(batch, schema) for batch in every], schema)


def widened(schema: pa.Schema, other: pa.Schema) -> pa.Schema:
    """One schema for both; a column of incompatible types becomes strings."""
    try:
        return pa.unify_schemas([schema, other], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        fields = {field.name: field for field in schema}
        for field in other:
            known = fields.setdefault(field.name, field)
            fields[field.name] = pa.field(field.name, _common_type(known, field))
        return pa.schema(list(fields.values()))


def _common_type(one: pa.Field, other: pa.Field) -> pa.DataType:
    try:
        pair = [pa.schema([one]), pa.schema([other])]
        return pa.unify_schemas(pair, promote_options="permissive").field(0).type
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return pa.large_string()


def _cast(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    places = {name: place for place, name in enumerate(batch.schema.names)}
    columns = [
        as_type(batch.column(places[field.name]), field.type)
        if field.name in places
        else pa.nulls(len(batch), field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
