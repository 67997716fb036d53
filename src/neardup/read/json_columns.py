"""Carried JSON columns: values of any shape become Arrow columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
import pyarrow as pa

from neardup.read.columns import Wanted, carried_names


def carried_columns(file: str, objects: list[dict[str, Any]], wanted: Wanted) -> dict[str, Any]:
    """Make a column of every carried key; an object without the key has a null there."""
    keys = {key: None for item in objects for key in item} if wanted.columns == "all" else {}
    renamed = carried_names(file, wanted.carried(keys))
    return {new: _column([item.get(key) for item in objects]) for key, new in renamed.items()}


def field_fault(item: dict[str, Any], fields: Sequence[str]) -> str | None:
    """Say which field of a record is no plain value."""
    for name in fields:
        if isinstance(item.get(name), list | dict):
            return f"{name!r} is an array or an object, not a plain value"
    return None


def field_text(item: dict[str, Any], name: str) -> str:
    """Spell out the value of a record's field; a missing one is empty."""
    return _as_text(item.get(name)) or ""


def _column(values: list[Any]) -> pa.Array:
    """Take the type that Arrow infers; values that have no common type are kept as JSON."""
    try:
        column = pa.array(values)
    except (pa.ArrowException, OverflowError):
        return pa.array([_as_text(value) for value in values], pa.large_string())
    # Parquet has no way to store an object without keys.
    if _has_empty_struct(column.type):
        return pa.array([_as_text(value) for value in values], pa.large_string())
    return column


def _as_text(value: Any) -> str | None:
    # A string stays as it is, so that it looks the same beside a batch of strings only.
    if value is None or isinstance(value, str):
        return value
    return orjson.dumps(value).decode()


def _has_empty_struct(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind) and kind.num_fields == 0:
        return True
    return any(_has_empty_struct(kind.field(i).type) for i in range(kind.num_fields))
