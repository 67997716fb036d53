"""Which columns of a table to compare, where nobody has named one and none is called `text`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from neardup.collection.source import Source
from neardup.errors import NoColumnError, SettingError
from neardup.features.spec import Field, Fields, record_fields
from neardup.frozen import dataclass

_MOST_ROWS = 5000
# A column with this share of all characters is the text, if it has so many words: that of a
# document beside what is noted about it, or of a sentence beside hardly anything.
_MAIN = ((0.6, 30), (0.85, 5))
_CODE = r"^[!-~]*[0-9][!-~]*$"  # no spaces, some digits: a number or a code


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
    rows = _first_rows(opened(_alone(missing.found[0])))
    columns = {
        name: _as_texts(rows[name])
        for name in rows.schema.names
        if name in missing.found and name not in (id, "id")
    }
    telling = [name for name, texts in columns.items() if texts is not None and _tells(texts)]
    if not telling:
        raise missing
    sizes = {name: pc.sum(pc.utf8_length(columns[name])).as_py() or 0 for name in telling}
    main = max(telling, key=lambda name: sizes[name])
    words = pc.mean(pc.list_value_length(pc.utf8_split_whitespace(columns[main]))).as_py() or 0
    share = sizes[main] / sum(sizes.values())
    if any(share >= most and words >= least for most, least in _MAIN):
        return ColumnChoice(_alone(main), f"no column is called text; {main} has most of the words")
    if len(telling) == 1:
        return ColumnChoice(
            _alone(main), f"no column is called text; {main} alone tells rows apart"
        )
    left_out = [name for name in columns if name not in telling]
    beside = f"; {_listed(left_out)} left out, with one value or a key" if left_out else ""
    return ColumnChoice(
        str(Fields(tuple(Field(name) for name in telling))),
        f"no column is called text, so {_listed(telling)} are compared as fields{beside}",
    )


def _first_rows(source: Source) -> pa.Table:
    batches, count = [], 0
    for batch in source.rows():
        batches.append(batch.rows)
        count += len(batch.rows)
        if count >= _MOST_ROWS:
            break
    if not batches:
        raise SettingError("the input has no rows, so there is nothing to tune")
    return pa.Table.from_batches(batches[:1]) if len(batches) == 1 else _together(batches)


def _together(batches: Sequence[pa.RecordBatch]) -> pa.Table:
    tables = [pa.Table.from_batches([batch]) for batch in batches]
    return pa.concat_tables(tables, promote_options="permissive")


def _as_texts(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """The values as texts, without missing and empty ones; None if they are lists or bytes."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_nested(kind) or _are_bytes(kind):
        return None
    texts = pc.utf8_trim_whitespace(column.cast(pa.large_string()))
    return texts.filter(pc.fill_null(pc.greater(pc.utf8_length(texts), 0), False))


def _are_bytes(kind: pa.DataType) -> bool:
    kinds = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    return any(is_kind(kind) for is_kind in kinds)


def _tells(texts: pa.ChunkedArray) -> bool:
    """Whether a column may be evidence: it has several values, and is not a key of rows."""
    different = pc.count_distinct(texts).as_py()
    if different < 2:
        return False
    is_code = pc.all(pc.match_substring_regex(texts, _CODE)).as_py()
    return not (is_code and different == len(texts))


def _alone(name: str) -> str:
    """One column, as `--text` takes it: a name that looks like fields is written as a field."""
    return name if record_fields(name) is None else f"{Field(name)}*1"


def _listed(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"
