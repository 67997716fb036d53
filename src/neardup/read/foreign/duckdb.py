"""DuckDB tables and queries, through the optional package duckdb."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pyarrow as pa

from neardup.errors import InputError, UnreadableError
from neardup.read.foreign.address import DatabaseAddress
from neardup.read.foreign.table import ForeignTable, chosen_table
from neardup.read.limits import printable

INSTALL = "pip install 'neardup[duckdb]'"
_MAGIC, _MAGIC_AT = b"DUCK", 8
_ROWS_AT_ONCE = 2048  # of DuckDB's own vectors; it takes fewer if they hold long texts
_TABLES = (
    "SELECT table_schema, table_name, table_type FROM information_schema.tables "
    "WHERE table_catalog = current_database() ORDER BY ALL"
)


@contextmanager
def opened_duckdb(address: DatabaseAddress) -> Iterator[ForeignTable]:
    """Open a table or a query of a DuckDB database."""
    duckdb = _package(address.url)
    _require_database(address)
    config = {
        # A large sort needs temporary files, which do not belong beside the database.
        "temp_directory": tempfile.gettempdir(),
        "autoinstall_known_extensions": "false",  # from the network
    }
    try:
        with closing(duckdb.connect(address.path, read_only=True, config=config)) as connection:
            select = address.query or _select(connection, address)
            _require_select(duckdb, address, select)
            # An open reader keeps the database open, and opening it again would wait for ever.
            with closing(_reader(connection.sql(_plain(connection, select)))) as reader:
                yield ForeignTable(reader.schema, iter(reader))
    except duckdb.Error as error:
        raise UnreadableError(f"{address.url} {_reason(error)}") from error


def _package(url: str) -> Any:
    try:
        import duckdb
    except ImportError:
        raise InputError(f"{url} needs the package duckdb; install it with {INSTALL}") from None
    return duckdb


def _require_database(address: DatabaseAddress) -> None:
    """DuckDB also opens files of other formats, with extensions from the network."""
    with open(address.path, "rb") as file:
        start = file.read(_MAGIC_AT + len(_MAGIC))
    if not start.endswith(_MAGIC) or len(start) < _MAGIC_AT:
        beside = "; name a SQLite database as sqlite:///PATH" if start[:6] == b"SQLite" else ""
        raise UnreadableError(f"{address.url} is not a DuckDB database{beside}")


def _select(connection: Any, address: DatabaseAddress) -> str:
    quotings: dict[str, str] = {}
    views: list[str] = []
    for schema, table, kind in connection.execute(_TABLES).fetchall():
        name = table if schema == "main" else f"{schema}.{table}"
        quotings[name] = f"{_quoted(schema)}.{_quoted(table)}"
        if kind == "VIEW":
            views.append(name)
    tables = [name for name in quotings if name not in views]
    found = list(quotings) if address.table else tables or views
    name = chosen_table(address.url, address.table, found, "tables", address.with_table)
    return f"SELECT * FROM {quotings[name]}"


def _require_select(duckdb: Any, address: DatabaseAddress, select: str) -> None:
    statements = duckdb.extract_statements(select)
    kinds = [statement.type for statement in statements]
    if kinds != [duckdb.StatementType.SELECT]:
        raise UnreadableError(
            f"{address.url} must be read with one SELECT; write ?query=SELECT ..."
        )


def _plain(connection: Any, select: str) -> str:
    """The query with values that Parquet cannot hold, such as intervals, written out as text."""
    names = connection.execute(f"DESCRIBE {select}").fetchall()
    columns = [
        f"CAST({_quoted(name)} AS VARCHAR) AS {_quoted(name)}"
        for name, kind, *_ in names
        if kind in ("INTERVAL", "BIT", "UUID", "HUGEINT", "UHUGEINT", "TIME WITH TIME ZONE")
    ]
    return f"SELECT * REPLACE ({', '.join(columns)}) FROM ({select})" if columns else select


def _reader(relation: Any) -> pa.RecordBatchReader:
    if hasattr(relation, "to_arrow_reader"):
        return relation.to_arrow_reader(_ROWS_AT_ONCE)
    return relation.fetch_arrow_reader(_ROWS_AT_ONCE)  # DuckDB before 1.4


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def _reason(error: Exception) -> str:
    said = printable(str(error))
    if "lock" in said.lower():
        return (
            "is open in another program that may write to it; close it there first, or read a copy"
        )
    return f"cannot be read: {said}"
