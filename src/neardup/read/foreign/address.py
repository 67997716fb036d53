"""Addresses of tables: database and Flight URLs, sheets of workbooks."""

from __future__ import annotations

import os
import re
from urllib.parse import unquote, unquote_plus

from neardup.errors import InputError
from neardup.frozen import dataclass

DATABASES = {"sqlite": "SQLite", "duckdb": "DuckDB"}
FLIGHT = ("grpc", "grpc+tcp", "grpc+tls")
WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
# Servers with a command that writes rows as JSON lines, which neardup reads from a pipe.
_PIPES = {
    "postgresql": "psql 'URL' -At -c 'SELECT row_to_json(t) FROM pages t' | neardup dedup - -o OUT",
    "mysql": "mysql -BNr -e \"SELECT JSON_OBJECT('id', id, 'text', text) FROM pages\" DATABASE | "
    "neardup dedup - -o OUT",
}
_SERVERS = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "mysql": "mysql",
    "mariadb": "mysql",
    "mssql": "",
    "oracle": "",
    "snowflake": "",
    "bigquery": "",
    "redshift": "postgresql",
    "clickhouse": "",
    "mongodb": "",
}


@dataclass(frozen=True)
class DatabaseAddress:
    """A database file, and the table or the query to read; both empty if none is named."""

    url: str
    scheme: str
    path: str
    table: str = ""
    query: str = ""

    @property
    def with_table(self) -> str:
        """The URL of one of the tables, with `{}` for its name."""
        return f"{self.url.partition('?')[0]}?table={{}}"


def scheme_of(name: str) -> str:
    """The scheme of a URL in lower case; empty for anything else."""
    scheme, found, _ = name.partition("://")
    scheme = scheme.lower()
    return scheme if found and re.fullmatch(r"[a-z][a-z0-9+.-]*", scheme) else ""


def refuse_server(name: str) -> None:
    """Refuse the URL of a database server, with a command that brings its rows."""
    scheme = scheme_of(name).partition("+")[0]
    if scheme not in _SERVERS:
        return
    pipe = _PIPES.get(_SERVERS[scheme])
    how = f"pipe the rows as JSON lines: {pipe}" if pipe else "export the rows as Parquet or CSV"
    # The URL may hold a password, so only its scheme is shown.
    raise InputError(f"neardup does not connect to database servers ({scheme}://…); {how}")


def database_address(url: str) -> DatabaseAddress:
    """The parts of a URL such as `sqlite:///pages.db?table=pages`.

    The path is relative after three slashes and absolute after four; where no such relative file
    exists, three slashes may also begin an absolute path.
    """
    scheme, rest = scheme_of(url), url.partition("://")[2]
    place, _, asked = rest.partition("?")
    path = _database_path(unquote(place))
    if not path:
        raise InputError(f"{url} names no file; write {scheme}:///PATH?table=TABLE")
    if not asked:
        return DatabaseAddress(url, scheme, path)
    key, _, value = asked.partition("=")
    if key not in ("table", "query") or not value:
        raise InputError(
            f"{url} asks for {asked!r}, which neardup does not know; write ?table=TABLE or "
            "?query=SELECT ..."
        )
    if key == "table":
        return DatabaseAddress(url, scheme, path, table=unquote(value))
    # SQL with spaces is not encoded, and its percent signs and pluses mean themselves.
    query = value if re.search(r"\s", value) else unquote_plus(value)
    return DatabaseAddress(url, scheme, path, query=query.strip().rstrip(";"))


def _database_path(place: str) -> str:
    relative = place.removeprefix("/")
    if os.path.exists(relative) or relative == place or not os.path.exists(place):
        return relative
    return place


def sheet_of(name: str) -> tuple[str, str]:
    """The workbook and the sheet of `people.xlsx#Sheet2`; an empty sheet if none is named.

    A `#` counts only after the suffix of a workbook, and not if a file has that very name.
    """
    found = re.fullmatch(rf"(.*({'|'.join(map(re.escape, WORKBOOKS))}))#(.+)", name, re.I | re.S)
    if found is None or os.path.exists(name):
        return name, ""
    return found[1], found[3]
