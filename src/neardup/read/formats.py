"""Formats: which reader reads a source."""

from __future__ import annotations

import re
from collections.abc import Iterator

from neardup.read.batch import Rows
from neardup.read.columns import Wanted
from neardup.read.delimited import check_header, read_csv, read_tsv
from neardup.read.json_text import read_json, read_json_lines
from neardup.read.lines import LINE_COLUMNS, read_lines
from neardup.read.source import Source, explained, spooled
from neardup.read.stream import ByteStream
from neardup.read.tables import arrow_columns, parquet_columns, read_arrow, read_parquet
from neardup.read.whole_files import FILE_COLUMNS

_STREAMED = {
    "jsonl": read_json_lines,
    "json": read_json,
    "csv": read_csv,
    "tsv": read_tsv,
    "lines": read_lines,
}
_TABLES = {"parquet": read_parquet, "arrow": read_arrow}
_TABLE_COLUMNS = {"parquet": parquet_columns, "arrow": arrow_columns}
_SNIFFED = (("parquet", rb"PAR1"), ("arrow", rb"ARROW1"), ("json", rb"(\xef\xbb\xbf)?\s*\{"))


def read_source(source: Source, wanted: Wanted, batch_bytes: int) -> Iterator[Rows]:
    """Read one file as rows; whatever goes wrong on the way is told with its name."""
    with explained(source.name):
        if source.format in _TABLES:
            read = _TABLES[source.format]
            with source.random_access() as file:
                yield from read(file, source.name, source.size or 0, wanted, batch_bytes)
            return
        with source.stream() as stream:
            format = _sniffed(stream) if source.is_standard_input else source.format
            if format in _STREAMED:
                yield from _STREAMED[format](stream, source.name, wanted, batch_bytes)
            else:
                with spooled(stream) as file:
                    yield from _TABLES[format](file, source.name, 0, wanted, batch_bytes)


def check_columns(source: Source, wanted: Wanted) -> None:
    """Refuse a file whose header tells that it lacks a column, before any work is done."""
    with explained(source.name):
        if source.format in _TABLE_COLUMNS:
            with source.random_access() as file:
                _TABLE_COLUMNS[source.format](file, source.name, wanted)
        elif source.format in ("csv", "tsv"):
            with source.stream() as stream:
                check_header(stream, source.format, source.name, wanted)
        elif source.format == "lines":
            wanted.require(source.name, LINE_COLUMNS)
        elif source.format == "document":
            wanted.require(source.name, FILE_COLUMNS)


def _sniffed(stream: ByteStream) -> str:
    start = stream.peek(1)
    found = (format for format, pattern in _SNIFFED if re.match(pattern, start))
    return next(found, "lines")
