"""The rows of an input with other texts, written in one pass."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.source import Progress, RowBatch, Source
from neardup.deduplication.row_files import KINDS, write_files
from neardup.deduplication.rows import SchemaGrewError, names_beside, under_one_schema
from neardup.errors import InputError
from neardup.frozen import dataclass
from neardup.kernels.columns import chosen

KEPT, REMOVED = "kept", "removed"


@dataclass(frozen=True, eq=False)
class CleanRows:
    """What becomes of a batch: its new texts, if they change, and the rows to keep, if not all.

    `why` are columns that are added to the removed rows.
    """

    texts: pa.Array | None = None
    keeps: NDArray[np.bool_] | None = None
    why: dict[str, pa.Array] = field(default_factory=dict)


Cleaned = Iterable[tuple[RowBatch, CleanRows]]


def write_clean_rows(
    cleaned: Callable[[], Cleaned],
    folder: Path,
    format: str,
    *,
    threads: int,
    with_removed: bool = False,
) -> None:
    """Write kept.FORMAT and, if asked to, removed.FORMAT into a folder.

    `cleaned` begins a pass over the rows of the input, and what becomes of them. It is called again
    where a later batch shows that earlier ones were of too narrow a schema.
    """
    kind, schema = KINDS[format], None
    names = (KEPT, REMOVED) if with_removed else (KEPT,)
    while True:
        done: deque[CleanRows] = deque()
        rows = _with_new_texts(cleaned(), done)
        if kind.one_schema:
            rows = under_one_schema(rows, schema)
        try:
            files = [kind(folder / f"{name}.{format}") for name in names]
            write_files(files, _divided(rows, done, with_removed), threads)
        except SchemaGrewError as grew:
            schema = grew.schema
        else:
            return


def _with_new_texts(cleaned: Cleaned, done: deque[CleanRows]) -> Iterator[pa.RecordBatch]:
    for batch, made in cleaned:
        done.append(made)
        yield batch.rows if made.texts is None else with_texts(batch, made.texts)


def _divided(
    batches: Iterator[pa.RecordBatch],
    done: deque[CleanRows],
    with_removed: bool,
) -> Iterator[tuple[pa.RecordBatch, ...]]:
    for rows in batches:
        made = done.popleft()
        if not with_removed:
            yield (rows,)
        elif made.keeps is None:
            yield rows, _with_columns(rows.slice(0, 0), made.why)
        else:
            yield chosen(rows, made.keeps), _with_columns(chosen(rows, ~made.keeps), made.why)


def _with_columns(rows: pa.RecordBatch, columns: dict[str, pa.Array]) -> pa.RecordBatch:
    names = names_beside(columns, rows.schema.names)
    for name, column in columns.items():
        rows = rows.append_column(names[name], column)
    return rows


def numbered_rows(source: Source, progress: Progress | None) -> Iterator[tuple[int, RowBatch]]:
    """The batches of rows, each with the place of its first document."""
    first = 0
    for batch in source.rows():
        yield first, batch
        first += len(batch.rows)
        if progress is not None:
            progress(first, None, first)


def with_texts(batch: RowBatch, texts: pa.Array) -> pa.RecordBatch:
    """The rows with other texts in the column of texts."""
    name = text_column_of(batch)
    place = batch.rows.schema.get_field_index(name)
    return batch.rows.set_column(place, pa.field(name, texts.type), texts)


def text_column_of(batch: RowBatch) -> str:
    """The name of the one column of texts."""
    names = batch.names[1]
    if len(names) != 1:
        raise InputError(f"documents have {len(names)} columns of text; name one with text=COL")
    return names[0]
