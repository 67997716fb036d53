"""Advice on which column to name, where a table has no column of the expected name."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa

from neardup.errors import InputError, NoColumnError, UnreadableError
from neardup.read.batch import Rows
from neardup.read.columns import Wanted
from neardup.read.formats import TEXT_FORMATS
from neardup.read.limits import quoted
from neardup.read.source import Source
from neardup.read.text_columns import judged, some_rows, spelt_field

_LISTED = 3
_FIELDS = 6
_BATCH_BYTES = 1 << 20


def advised(
    missing: NoColumnError, first_rows: Callable[[], pa.Table], option: str, tune: str
) -> NoColumnError:
    """The same error, which also says which column to name.

    `first_rows` reads some rows with all columns; where that is impossible, the error stays as it
    is. `option` is how the column is named, with `{}` in its place, and `tune` how to let `tune`
    choose.
    """
    try:
        rows = first_rows()
    except InputError:
        return missing
    names = [name for name in rows.column_names if name in missing.found and name != "id"]
    found = judged(rows, names)
    start = (
        str(missing).rpartition("; ")[0] if "; name the column" in str(missing) else str(missing)
    )
    like = found.like_text
    if like:
        looks = "looks" if len(like) == 1 else "looks most"
        means = [f"{quoted(name)} ({found.characters[name]:,.0f})" for name in like[1:_LISTED]]
        others = f", then {', '.join(means)}" if means else ""
        mean = f"{found.characters[like[0]]:,.0f} characters on average"
        advice = (
            f"{quoted(like[0])} {looks} like text ({mean}){others}: add {_given(option, like[:1])}"
        )
    elif len(found.telling) == 1:
        only = found.telling
        advice = f"{quoted(only[0])} alone tells rows apart: add {_given(option, only)}"
    elif found.telling:
        fields = found.telling[:_FIELDS]
        advice = (
            "none of them holds long text, so this may be a table of records: compare several "
            f"columns with {_given(option, fields)}, or let {tune} choose"
        )
    else:
        return missing
    return NoColumnError(f"{start}; {advice}", missing.found)


def _given(option: str, names: Sequence[str]) -> str:
    """The option that names columns; one that looks like fields is written as a field."""
    text = "+".join(spelt_field(name) for name in names)
    if len(names) == 1:
        text = names[0] if not re.search(r"[+*:%]", names[0]) else f"{text}*1"
    return option.format(shlex.quote(text) if option.startswith("--") else repr(text))


def advised_of_file(missing: NoColumnError, source: Source) -> NoColumnError:
    """The error of a file, which its first rows tell what to do about."""
    first_rows = partial(_first_rows, replace(source, part=None), missing.found)
    return advised(missing, first_rows, "--text {}", f"neardup tune {shlex.quote(source.name)}")


def _first_rows(source: Source, names: Sequence[str]) -> pa.Table:
    """Some rows with all columns, read by the first one that can be a field."""
    for name in names:
        wanted = replace(Wanted.of_fields([name], None, "all"), id=None)
        try:
            read = TEXT_FORMATS.read(source, wanted, _BATCH_BYTES)
            found = some_rows(_under_own_names(rows, name) for rows in read)
        except UnreadableError:
            continue
        if found is not None and len(found):
            return found
    return pa.table({})


def _under_own_names(rows: Rows, text: str) -> pa.RecordBatch:
    reserved = {f"input_{name}": name for name in ("id", "text")}
    carried = {reserved.get(name, name): column for name, column in rows.carried.items()}
    columns = {text: rows.text, **carried}
    # The header of a CSV file may have bytes that are not UTF-8.
    valid = [name for name in columns if name.encode(errors="replace").decode() == name]
    return pa.RecordBatch.from_pydict({name: columns[name] for name in valid})
