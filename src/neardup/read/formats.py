"""Formats: the reader of each file format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Generic, TypeVar

import pyarrow as pa

from neardup.errors import InputError, UnreadableError
from neardup.frozen import dataclass
from neardup.read.batch import Rows
from neardup.read.columnar import TableColumns
from neardup.read.columns import Wanted, undictionaried
from neardup.read.file_kinds import WHOLE_FILES
from neardup.read.foreign.copied import FOREIGN, copied, opened
from neardup.read.ids import IdKind, kind_of_ids
from neardup.read.json.files import column_occurs, first_id, read_json, read_json_lines
from neardup.read.lines import LINE_COLUMNS, read_lines
from neardup.read.source import SNIFF, ByteStream, Source, explained, sniffed, spooled
from neardup.read.tables import ColumnsOf, arrow_schema, parquet_schema, read_arrow, read_parquet
from neardup.read.whole_files import FILE_COLUMNS

R = TypeVar("R")
StreamReader = Callable[[ByteStream, str, Wanted, int], Iterator[R]]
_TABLES: dict[str, Any] = {"parquet": read_parquet, "arrow": read_arrow}
_SCHEMAS: dict[str, Any] = {"parquet": parquet_schema, "arrow": arrow_schema}


@dataclass(frozen=True)
class Formats(Generic[R]):
    """The readers of one kind of content: one for each stream format, and one for tables.

    `refusal` is the message for a format that cannot hold this content.
    """

    streamed: Mapping[str, StreamReader[R]]
    columns_of: ColumnsOf[R]
    refusal: str = ""

    def read(self, source: Source, wanted: Wanted, most: int) -> Iterator[R]:
        """Read one file as rows; errors name the file."""
        with explained(source.name):
            if source.format in FOREIGN:
                with copied(source) as file:
                    yield from self._table("arrow", file, source, wanted, most)
                return
            if source.format in _TABLES:
                with source.random_access() as file:
                    yield from self._table(source.format, file, source, wanted, most)
                return
            with source.stream() as stream:
                format = sniffed(stream) if source.format == SNIFF else source.format
                if format in _TABLES:
                    with spooled(stream, source.name) as file:
                        yield from self._table(format, file, source, wanted, most)
                    return
                self.require(format, source.name)
                yield from self.streamed[format](stream, source.name, wanted, most)

    def _table(
        self, format: str, file: Any, source: Source, wanted: Wanted, most: int
    ) -> Iterator[R]:
        read = _TABLES[format]
        size = source.size or 0
        yield from read(self.columns_of, file, source.name, size, wanted, most, source.part)

    def require(self, format: str, name: str) -> None:
        """Refuse a file whose format cannot hold the content."""
        if format not in (*_TABLES, *FOREIGN) and format not in self.streamed:
            raise UnreadableError(f"{name} {self.refusal}")

    def check_table(self, source: Source, wanted: Wanted) -> IdKind:
        """Refuse a table that lacks a column; returns the kind of its ids."""
        with explained(source.name):
            schema = _schema(source)
        self.columns_of(source.name, schema, wanted)
        has_id = wanted.id in schema.names
        return kind_of_ids(undictionaried(schema.field(wanted.id).type) if has_id else None)


def _schema(source: Source) -> pa.Schema:
    if source.format in FOREIGN:
        with opened(source) as table:
            return table.schema
    with source.random_access() as file:
        return _SCHEMAS[source.format](file, source.name)


def _read_delimited(
    format: str, stream: ByteStream, name: str, wanted: Wanted, most: int
) -> Iterator[Rows]:
    from neardup.read.delimited import read_csv, read_tsv

    return (read_csv if format == "csv" else read_tsv)(stream, name, wanted, most)


def _read_warc(stream: ByteStream, name: str, wanted: Wanted, most: int) -> Iterator[Rows]:
    from neardup.read.warc.rows import read_warc

    return read_warc(stream, name, wanted, most)


TEXT_FORMATS: Formats[Rows] = Formats(
    {
        "jsonl": read_json_lines,
        "json": read_json,
        "csv": partial(_read_delimited, "csv"),
        "tsv": partial(_read_delimited, "tsv"),
        "lines": read_lines,
        "warc": _read_warc,
    },
    TableColumns,
)


def check_columns(source: Source, wanted: Wanted) -> IdKind | None:
    """Refuse an unreadable file before any work is done; returns the kind of its ids.

    None if that is not known yet.
    """
    if source.format in (*_TABLES, *FOREIGN):
        return TEXT_FORMATS.check_table(source, wanted)
    if source.format in WHOLE_FILES:
        if source.format == "pdf":
            from neardup.read.pdf import require_pdf_reader

            require_pdf_reader(source.name)
        wanted.require(source.name, FILE_COLUMNS)
        return "string" if wanted.id == "id" else "none"
    with explained(source.name), source.stream() as stream:
        if source.format != "warc":
            stream.begin_text(source.name)
        if source.format in ("csv", "tsv"):
            from neardup.read.delimited import check_header

            return check_header(stream, source.format, source.name, wanted)
        if source.format == "lines":
            wanted.require(source.name, LINE_COLUMNS)
            return "none"
        if source.format == "warc":
            from neardup.read.warc.rows import check_warc

            return check_warc(stream, source.name, wanted)
        return None if wanted.id_required else first_id(stream, wanted.id)


def holds_text(source: Source, column: str) -> bool:
    """Whether a data file has this column, by its header or first objects; False if unreadable."""
    try:
        if source.format == "warc":
            return True
        with explained(source.name):
            if source.format in (*_TABLES, *FOREIGN):
                return column in _schema(source).names
            with source.stream() as stream:
                stream.begin_text(source.name)
                if source.format in ("csv", "tsv"):
                    from neardup.read.delimited import check_header

                    wanted = Wanted.of(column, "row", ())
                    return check_header(stream, source.format, source.name, wanted) is not None
                return column_occurs(stream, column)
    except InputError:
        return False
