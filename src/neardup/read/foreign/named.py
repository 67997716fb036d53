"""Inputs that name a table of another program, as sources."""

from __future__ import annotations

import os
from dataclasses import replace
from urllib.parse import quote

from neardup.read.foreign.address import (
    DATABASES,
    FLIGHT,
    database_address,
    refuse_server,
    scheme_of,
    sheet_of,
)
from neardup.read.source import Source, explained

# Databases by their suffix; among the files of a folder they are not looked for.
_SUFFIXES = {
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".db": "sqlite",
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
}


def is_foreign(name: str) -> bool:
    """Whether an input is a database file or one sheet of a workbook."""
    return os.path.splitext(name)[1].lower() in _SUFFIXES or bool(sheet_of(name)[1])


def foreign_source(name: str) -> Source | None:
    """The source of a database, a Flight server or one sheet; None for any other input."""
    scheme = scheme_of(name)
    if scheme in DATABASES:
        address = database_address(name)
        with explained(address.path):
            os.stat(address.path)
        return Source(name, name, scheme, document_id=name)
    if scheme in FLIGHT:
        return Source(name, name, "flight", document_id=name)
    if scheme:
        refuse_server(name)
        return None
    suffix = os.path.splitext(name)[1].lower()
    if suffix in _SUFFIXES and os.path.isfile(name):
        found = foreign_source(f"{_SUFFIXES[suffix]}:///{quote(name)}")
        assert found is not None
        return found
    file, sheet = sheet_of(name)
    if not sheet:
        return None
    with explained(file):
        size = os.stat(file).st_size
    found = Source(name, file, "excel", None, size, document_id=name)
    return replace(found, sheet=sheet)
