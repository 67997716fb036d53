"""Tables of other programs are copied to an Arrow stream first, and read from there.

A run may read its input several times, and a database may change meanwhile; the copy is one state
of it, made in one go, so that the database is free for others while the run works.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, BinaryIO, cast

import pyarrow as pa

from neardup.read.foreign.address import database_address
from neardup.read.foreign.table import ForeignTable
from neardup.read.source import RoomLeft, Source

FOREIGN = ("excel", "sqlite", "duckdb", "flight")


def opened(source: Source) -> AbstractContextManager[ForeignTable]:
    """Open the table of a source."""
    if source.format == "excel":
        from neardup.read.foreign.excel import opened_workbook

        return opened_workbook(source)
    if source.format == "sqlite":
        from neardup.read.foreign.sqlite import opened_sqlite

        return opened_sqlite(database_address(source.path))
    if source.format == "duckdb":
        from neardup.read.foreign.duckdb import opened_duckdb

        return opened_duckdb(database_address(source.path))
    from neardup.read.foreign.flight import opened_flight

    return opened_flight(source.path)


def copy_table(source: Source, file: BinaryIO) -> None:
    """Copy the table of a source to an Arrow stream."""
    with opened(source) as table:
        write_stream(table.schema, table.batches, RoomLeft(file, source.name))


def write_stream(schema: pa.Schema, batches: Iterator[pa.RecordBatch], file: Any) -> None:
    """Write batches as an Arrow stream, which unlike a file may change its dictionaries."""
    with pa.ipc.new_stream(pa.PythonFile(file, mode="w"), schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


@contextmanager
def copied(source: Source) -> Iterator[Any]:
    """The table of a source as an Arrow file with random access, in a temporary file."""
    with tempfile.TemporaryFile(prefix="neardup-") as file:
        copy_table(source, cast(BinaryIO, file))
        file.seek(0)
        with pa.PythonFile(file, mode="r") as opened_copy:
            yield opened_copy
