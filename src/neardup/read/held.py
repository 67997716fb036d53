"""Documents in memory: tables of any library, and lists that are really paths."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from neardup.errors import InputError
from neardup.read.file_kinds import kind_of

_SHOWN = 3
_LONGEST_PATH = 4096


def table_of(held: Any) -> pa.Table | None:
    """Convert a table to an Arrow table; None if it is not a table.

    Takes Arrow tables, record batches and readers, pandas and Polars frames, Polars lazy frames,
    DuckDB relations, and anything with `__arrow_c_stream__`. Tables that can be read only once, or
    are computed on each read, are loaded into memory.
    """
    if isinstance(held, pa.Table):
        return held
    if isinstance(held, pa.RecordBatch):
        return pa.Table.from_batches([held])
    try:
        if type(held).__name__ == "LazyFrame":  # accessing its columns would warn
            held = held.collect()
        if hasattr(held, "columns"):
            return pa.table(held)
        # A series is a stream too, of one unnamed column.
        if not hasattr(held, "__arrow_c_stream__") or hasattr(held, "dtype"):
            return None
        try:
            reader = pa.RecordBatchReader.from_stream(held)
        except pa.ArrowInvalid:  # also a column
            return None
        return reader.read_all()
    except (pa.ArrowException, TypeError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"the {type(held).__name__} cannot be read as an Arrow table: {reason}"
        ) from None


def require_no_paths(held: Any, instead: str) -> None:
    """Refuse a list of strings that are file names; `instead` says how to pass files.

    A list is refused if at least one string is an existing path and every other one exists too or
    has a suffix that can be read. If any string is neither, or has no letter or digit (such as
    "/"), the list holds texts. Only lists and tuples are checked: a column always holds texts.
    """
    if not isinstance(held, list | tuple) or not held:
        return
    existing = 0
    for item in held:
        if not isinstance(item, str) or len(item) > _LONGEST_PATH:
            return
        if any(map(str.isalnum, item)) and os.path.exists(item):
            existing += 1
        elif kind_of(item) is None:
            return
    if existing:
        files = "existing files" if existing == len(held) else "files"
        raise InputError(
            f"{_listed(held)} are names of {files}; {instead}. To take the strings themselves as "
            "texts, pass a column, for example pyarrow.array([...])"
        )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:_SHOWN]))
    return f"[{shown}{', ...' if len(names) > _SHOWN else ''}]"
