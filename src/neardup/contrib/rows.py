"""Deduplicates the rows of a table that another program holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa

from neardup.collection.settings import DedupSettings
from neardup.deduplication.result import Result
from neardup.deduplication.rows import names_beside
from neardup.deduplication.run import dedup
from neardup.errors import InputError, SettingError
from neardup.settings import SETTINGS

_TERMS = ("terms", "weights")
_ROWS_SHOWN = 1000

# Some columns of a table in Arrow: all rows, or the first ones.
TableOf = Callable[[list[str], int | None], pa.Table]


def deduplicated(
    names: Sequence[str],
    table_of: TableOf,
    text: str | None,
    settings: dict[str, Any],
) -> Result:
    """What `neardup.dedup` finds; place i of the result is row i of the table.

    `names` are the columns of the table. Only those that are read are converted to Arrow, by
    `table_of`, so that the others may be of any type.
    """
    if "text" in settings:
        raise SettingError("text names a column of a table; leave it out, as this is one column")
    read = _columns_read(names, text, settings)
    has_all = set(read) <= set(names)
    table = table_of(read, None) if has_all else _first_rows(names, table_of)
    result = dedup(table, text=text, **settings)
    _require_all(result)
    return result


def marks(result: Result, names: Iterable[str]) -> pa.Table:
    """What became of each row, as columns to put beside those of the table, `names`.

    They are `cluster`, `duplicate_of`, `similarity` and so on, as in `clusters.parquet`, and `kept`
    at the end.
    """
    table = result.documents
    order = [name for name in table.column_names if name not in ("id", "kept")] + ["kept"]
    beside = names_beside(order, names)
    return table.select(order).rename_columns([beside[name] for name in order])


def _columns_read(names: Sequence[str], text: str | None, settings: dict[str, Any]) -> list[str]:
    """The columns that a run reads, in the order of the table; missing ones last."""
    chosen = {name: value for name, value in settings.items() if name in SETTINGS}
    checked = DedupSettings.of(text=text, preset=settings.get("preset"), **chosen)
    wanted = dict.fromkeys(checked.columns)
    if checked.scheme.features.are_given:
        wanted = dict.fromkeys(name for name in _TERMS if name == "terms" or name in names)
    if checked.id is not None or "id" in names:
        wanted[checked.id or "id"] = None
    if checked.keep.column is not None:
        wanted[checked.keep.column] = None
    missing = [name for name in wanted if name not in names]
    return [name for name in names if name in wanted] + missing


def _first_rows(names: Sequence[str], table_of: TableOf) -> pa.Table:
    """The first rows with all columns, for the error about the one that is missing."""
    columns: dict[str, Any] = dict.fromkeys(names)
    for name in names:
        with suppress(InputError):  # a column of any objects is no text
            columns[name] = table_of([name], _ROWS_SHOWN)[name]
    rows = max((len(column) for column in columns.values() if column is not None), default=0)
    return pa.table(
        {name: pa.nulls(rows) if column is None else column for name, column in columns.items()}
    )


def _require_all(result: Result) -> None:
    """Refuse a table with rows that cannot be read: they would be lost without a word."""
    for row in result.collected.rejected:
        raise InputError(
            f"row {row.row} cannot be read: {row.reason}; take it out, or raise max_document"
        )
