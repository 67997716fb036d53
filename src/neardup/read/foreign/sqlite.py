"""SQLite tables, through the standard library: read in one transaction, and never written."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from neardup.errors import UnreadableError
from neardup.read.foreign.address import DatabaseAddress
from neardup.read.foreign.table import ForeignTable, chosen_table, plain_name
from neardup.read.limits import printable

_MAGIC = b"SQLite format 3\x00"
_HEADER_BYTES, _READ_VERSION = 20, 19
_UNUSED = "mode=ro&immutable=1"
_SELECT = re.compile(r"(SELECT|WITH|VALUES)\b", re.IGNORECASE)
_ONE_SELECT = "must be read with one SELECT; write ?query=SELECT ..."
_BATCH_BYTES = 4 << 20
_FIRST_ROWS, _MOST_ROWS = 16, 8192
_KINDS = ("text", "blob", "integer", "real")


@contextmanager
def opened_sqlite(address: DatabaseAddress) -> Iterator[ForeignTable]:
    """Open a table or a query of a SQLite database."""
    how = _way_to_open(address)
    if address.query and not _SELECT.match(address.query):
        raise UnreadableError(f"{address.url} {_ONE_SELECT}")
    try:
        with closing(_connected(address.path, how)) as connection:
            select = address.query or _select(connection, address)
            kinds = _kinds(connection, select)
            schema = pa.schema([(name, _type(found)) for name, found in kinds])
            cursor = connection.execute(select)
            yield ForeignTable(schema, _batches(cursor, schema))
        if how == _UNUSED and _has_log(address.path):
            raise UnreadableError(
                f"{address.url} was opened by another program while it was read; run this again"
            )
    except sqlite3.Error as error:
        raise UnreadableError(f"{address.url} {_reason(error, address)}") from error


def _way_to_open(address: DatabaseAddress) -> str:
    """The parameters of a connection that changes nothing.

    To read a database with a write-ahead log, SQLite makes files beside it, unless it is told that
    nobody uses the database, which is true as long as there is no log.
    """
    with open(address.path, "rb") as file:
        start = file.read(_HEADER_BYTES)
    if start and not start.startswith(_MAGIC):
        raise UnreadableError(f"{address.url} is not a SQLite database; check the path")
    logs = start[_READ_VERSION : _READ_VERSION + 1] == b"\x02"
    return _UNUSED if logs and not _has_log(address.path) else "mode=ro"


def _has_log(path: str) -> bool:
    return os.path.exists(f"{os.path.realpath(path)}-wal")


def _connected(path: str, how: str) -> sqlite3.Connection:
    """A connection that cannot write; with a transaction, so that all reads see the same rows."""
    uri = f"file:{quote(os.path.abspath(path))}?{how}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    try:
        # Texts as bytes, so that one that is not UTF-8 spoils its own row alone.
        connection.text_factory = bytes
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _select(connection: sqlite3.Connection, address: DatabaseAddress) -> str:
    name = chosen_table(
        address.url,
        address.table,
        _tables(connection, with_views=bool(address.table)),
        "tables",
        address.with_table,
    )
    escaped = name.replace('"', '""')
    return f'SELECT * FROM "{escaped}"'


def _tables(connection: sqlite3.Connection, *, with_views: bool) -> list[str]:
    """The tables that hold rows of the user, by name; the views if there are no tables."""
    rows = connection.execute("SELECT name, type, sql FROM sqlite_master ORDER BY name").fetchall()
    kinds = {
        name.decode("utf-8", "surrogateescape"): (kind, sql or b"") for name, kind, sql in rows
    }
    virtual = [
        name for name, (_, sql) in kinds.items() if sql[:20].upper().startswith(b"CREATE VIRTUAL")
    ]
    tables = [
        name
        for name, (kind, _) in kinds.items()
        if kind == b"table"
        and not name.startswith("sqlite_")
        # Full-text indexes keep their data in tables of their own.
        and not any(name.startswith(f"{each}_") for each in virtual)
    ]
    views = [name for name, (kind, _) in kinds.items() if kind == b"view"]
    return [*tables, *views] if with_views else tables or views


def _kinds(connection: sqlite3.Connection, select: str) -> list[tuple[str, set[str]]]:
    """The names of the columns, each with the kinds of values in it: any row may have any kind."""
    columns = [
        column[0] for column in connection.execute(f"SELECT * FROM ({select}) LIMIT 0").description
    ]
    names = [f"c{place}" for place in range(len(columns))]
    looks = ", ".join(f"max(typeof({name}) = '{kind}')" for name in names for kind in _KINDS)
    rows = f"WITH given({', '.join(names)}) AS ({select}) SELECT {looks} FROM given"
    found = connection.execute(rows).fetchone()
    step = len(_KINDS)
    return [
        (
            plain_name(column),
            {
                kind
                for kind, has in zip(_KINDS, found[step * place : step * (place + 1)], strict=True)
                if has
            },
        )
        for place, column in enumerate(columns)
    ]


def _type(kinds: set[str]) -> pa.DataType:
    """The type that holds every value of a column."""
    if "blob" in kinds:
        return pa.large_binary()
    if "text" in kinds or not kinds:
        return pa.large_string()
    return pa.float64() if "real" in kinds else pa.int64()


def _batches(cursor: sqlite3.Cursor, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    count = _FIRST_ROWS
    while rows := cursor.fetchmany(count):
        arrays = [
            _column(values, kind)
            for values, kind in zip(zip(*rows, strict=True), schema.types, strict=True)
        ]
        batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
        yield batch
        count = max(1, min(_MOST_ROWS, _BATCH_BYTES * len(rows) // max(1, batch.nbytes)))


def _column(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if not (pa.types.is_large_binary(kind) or pa.types.is_large_string(kind)):
        return pa.array(values, kind)
    try:
        column = pa.array(values, pa.large_binary())
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # numbers among texts
        written = (str(v).encode() if isinstance(v, int | float) else v for v in values)
        column = pa.array(list(written), pa.large_binary())
    return column.view(kind)


def _reason(error: sqlite3.Error, address: DatabaseAddress) -> str:
    said = printable(str(error))
    if "locked" in said or "busy" in said:
        return (
            "is locked by another program that writes to it; try again when it has finished, or "
            "read a copy made with: sqlite3 PATH '.backup COPY'"
        )
    if "malformed" in said or "not a database" in said or "disk image" in said:
        return f"is damaged ({said}); restore it, or save what is left with: sqlite3 PATH .recover"
    if "unable to open" in said:
        return (
            f"cannot be opened ({said}); if a program that writes to it was interrupted, open it "
            "once with sqlite3 to repair it, or give this user the right to write into its folder"
        )
    what = "the query" if address.query else "the table"
    return f"cannot be read: {what} fails with {said!r}"
