"""Formats: which reader reads a source."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from neardup.errors import InputError
from neardup.read.batch import Rows
from neardup.read.columnar import TableColumns
from neardup.read.columns import Wanted
from neardup.read.delimited import check_header, read_csv, read_tsv
from neardup.read.json_text import read_json, read_json_lines
from neardup.read.lines import LINE_COLUMNS, read_lines
from neardup.read.source import Source, explained, spooled
from neardup.read.stream import ByteStream
from neardup.read.tables import ColumnsOf, check_arrow, check_parquet, read_arrow, read_parquet
from neardup.read.whole_files import FILE_COLUMNS

R = TypeVar("R")
StreamReader = Callable[[ByteStream, str, Wanted, int], Iterator[R]]
_TABLES: dict[str, Any] = {"parquet": read_parquet, "arrow": read_arrow}
_CHECKS: dict[str, Any] = {"parquet": check_parquet, "arrow": check_arrow}
_SNIFFED = (("parquet", rb"PAR1"), ("arrow", rb"ARROW1"), ("json", rb"(\xef\xbb\xbf)?\s*\{"))


@dataclass(frozen=True)
class Formats(Generic[R]):
    """The readers of one kind of content: one for each format that is a stream, one for tables.

    `refusal` is what is said of a format that cannot hold this content.
    """

    streamed: Mapping[str, StreamReader[R]]
    columns_of: ColumnsOf[R]
    refusal: str = ""

    def read(self, source: Source, wanted: Wanted, most: int) -> Iterator[R]:
        """Read one file as rows; whatever goes wrong on the way is told with its name."""
        with explained(source.name):
            if source.format in _TABLES:
                with source.random_access() as file:
                    yield from self._table(source.format, file, source, wanted, most)
                return
            with source.stream() as stream:
                format = sniffed(stream) if source.is_standard_input else source.format
                if format in _TABLES:
                    with spooled(stream) as file:
                        yield from self._table(format, file, source, wanted, most)
                    return
                self.require(format, source.name)
                yield from self.streamed[format](stream, source.name, wanted, most)

    def _table(
        self, format: str, file: Any, source: Source, wanted: Wanted, most: int
    ) -> Iterator[R]:
        read = _TABLES[format]
        yield from read(self.columns_of, file, source.name, source.size or 0, wanted, most)

    def require(self, format: str, name: str) -> None:
        """Refuse a file of a format that cannot hold the content."""
        if format not in _TABLES and format not in self.streamed:
            raise InputError(f"{name} {self.refusal}")

    def check_table(self, source: Source, wanted: Wanted) -> None:
        """Refuse a table whose schema tells that it lacks a column, before any work is done."""
        if source.format in _CHECKS:
            with explained(source.name), source.random_access() as file:
                _CHECKS[source.format](self.columns_of, file, source.name, wanted)


TEXT_FORMATS: Formats[Rows] = Formats(
    {
        "jsonl": read_json_lines,
        "json": read_json,
        "csv": read_csv,
        "tsv": read_tsv,
        "lines": read_lines,
    },
    TableColumns,
)


def check_columns(source: Source, wanted: Wanted) -> None:
    """Refuse a file whose header tells that it lacks a column, before any work is done."""
    TEXT_FORMATS.check_table(source, wanted)
    if source.format in ("csv", "tsv"):
        with explained(source.name), source.stream() as stream:
            check_header(stream, source.format, source.name, wanted)
    elif source.format == "lines":
        wanted.require(source.name, LINE_COLUMNS)
    elif source.format == "document":
        wanted.require(source.name, FILE_COLUMNS)


def sniffed(stream: ByteStream) -> str:
    """Tell the format of a stream by how it begins."""
    start = stream.peek(1)
    found = (format for format, pattern in _SNIFFED if re.match(pattern, start))
    return next(found, "lines")
