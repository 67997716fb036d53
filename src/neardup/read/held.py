"""Documents that a program holds: tables in any shape, and lists that are really paths."""

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
    """The table that a caller holds, as an Arrow table; None where it is no table.

    Takes Arrow tables, record batches and readers, pandas and Polars frames, Polars lazy frames,
    DuckDB relations, and whatever else offers `__arrow_c_stream__`. What can be read only once, or
    is computed each time it is read, is held in memory afterwards.
    """
    if isinstance(held, pa.Table):
        return held
    if isinstance(held, pa.RecordBatch):
        return pa.Table.from_batches([held])
    try:
        if type(held).__name__ == "LazyFrame":  # asking it for its columns would warn
            held = held.collect()
        if hasattr(held, "columns"):
            return pa.table(held)
        # A series is a stream of one column without a name.
        if not hasattr(held, "__arrow_c_stream__") or hasattr(held, "dtype"):
            return None
        try:
            reader = pa.RecordBatchReader.from_stream(held)
        except pa.ArrowInvalid:  # a column as well
            return None
        return reader.read_all()
    except (pa.ArrowException, TypeError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"the {type(held).__name__} cannot be read as an Arrow table: {reason}"
        ) from None


def require_no_paths(held: Any, instead: str) -> None:
    """Refuse a list of strings that are names of files; `instead` says how to give those.

    It is refused if one of them exists and every other one exists too or has the suffix of a file
    that can be read. A list in which any string is neither holds texts, some of which happen to be
    names; so does one with a string that has no letter or digit, such as "/". Only lists and
    tuples are looked at: a column holds texts, whatever they are.
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
