"""What documents hold, as columns: texts, the fields of records, or terms with weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from neardup.features.spec import Fields, TextColumn
from neardup.frozen import dataclass
from neardup.read.memory import field_columns


@dataclass(frozen=True, eq=False)
class GivenTerms:
    """Documents that bring their own terms: list arrays of terms and, where given, of weights."""

    terms: pa.Array
    weights: pa.Array | None


DocumentColumns = Sequence[TextColumn] | GivenTerms


@dataclass(frozen=True)
class ContentSize:
    """How much documents hold: bytes of text, or terms."""

    text_bytes: int = 0
    terms: int = 0


def record_columns(table: Any, fields: Fields) -> Iterator[list[TextColumn]]:
    """Yield the fields of records as texts; numbers become strings, missing fields are empty."""
    for columns in field_columns(table, fields.names):
        yield list(map(TextColumn, columns, fields.fields))


def documents_in(columns: DocumentColumns) -> int:
    """The number of documents."""
    return len(columns.terms if isinstance(columns, GivenTerms) else columns[0].texts)


def taken(columns: DocumentColumns, places: pa.Array) -> DocumentColumns:
    """Some of the documents."""
    if isinstance(columns, GivenTerms):
        weights = None if columns.weights is None else columns.weights.take(places)
        return GivenTerms(columns.terms.take(places), weights)
    return [TextColumn(column.texts.take(places), column.field) for column in columns]


def content_size(columns: DocumentColumns) -> ContentSize:
    """How much the documents hold together."""
    if isinstance(columns, GivenTerms):
        return ContentSize(terms=len(columns.terms.flatten()))
    import pyarrow.compute as pc

    sizes = (pc.sum(pc.binary_length(column.texts)).as_py() or 0 for column in columns)
    return ContentSize(text_bytes=sum(sizes))
