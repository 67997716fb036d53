"""Which columns of a table to compare, where nobody has named one and none is called `text`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from neardup.collection.source import Source
from neardup.errors import NoColumnError, SettingError, UnreadableError
from neardup.features.spec import Field, Fields, record_fields
from neardup.frozen import dataclass
from neardup.read.text_columns import judged, some_rows


@dataclass(frozen=True)
class ColumnChoice:
    """What `--text` should name, and the reason in words."""

    text: str
    reason: str


def choose_columns(
    missing: NoColumnError, opened: Callable[[str], Source], id: str | None
) -> ColumnChoice:
    """The main text of a table, or all columns that say something about a record.

    `opened` opens the input with another column as the text. Columns with one value, and those
    whose values are all different codes, such as keys, are left out.
    """
    if not missing.found:
        raise missing
    rows = _first_rows(missing, opened)
    named = [name for name in rows.column_names if name in missing.found and name not in (id, "id")]
    found = judged(rows, named)
    if not found.telling:
        raise missing
    if found.main is not None:
        reason = f"no column is called text; {found.main} has most of the words"
        return ColumnChoice(_alone(found.main), reason)
    if len(found.telling) == 1:
        only = found.telling[0]
        return ColumnChoice(
            _alone(only), f"no column is called text; {only} alone tells rows apart"
        )
    left_out = found.left_out
    beside = f"; {_listed(left_out)} left out, with one value or a key" if left_out else ""
    return ColumnChoice(
        str(Fields(tuple(Field(name) for name in found.telling))),
        f"no column is called text, so {_listed(found.telling)} are compared as fields{beside}",
    )


def _first_rows(missing: NoColumnError, opened: Callable[[str], Source]) -> pa.Table:
    """Some rows with all columns, read by the first column that can be a field."""
    for name in missing.found:
        try:
            source = opened(f"{Field(name)}*1")
        except UnreadableError:
            continue
        rows = some_rows(batch.rows for batch in source.rows())
        if rows is None or not len(rows):
            raise SettingError("the input has no rows, so there is nothing to tune")
        return rows
    raise missing


def _alone(name: str) -> str:
    """One column, as `--text` takes it: a name that looks like fields is written as a field."""
    return name if record_fields(name) is None else f"{Field(name)}*1"


def _listed(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"
