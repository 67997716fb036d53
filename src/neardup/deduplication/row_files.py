"""The files of kept and removed rows, written in one pass over the input."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from neardup.collection.source import Progress
from neardup.deduplication.rows import (
    SchemaGrewError,
    TextPicker,
    all_rows,
    names_beside,
    under_one_schema,
)
from neardup.engines.local import Background
from neardup.kernels.columns import chosen, column_of, distinct_count

if TYPE_CHECKING:
    from typing_extensions import Self

    from neardup.deduplication.result import Result

_SHORT_BYTES = 64
_ROW_GROUP_BYTES = 1 << 21


class RowFile(ABC):
    """A file of rows, written batch by batch; it is made when it is entered."""

    one_schema: ClassVar[bool] = True  # whether all batches must have the same columns and types

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stack = ExitStack()

    @abstractmethod
    def write(self, batch: pa.RecordBatch) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()


class ParquetRows(RowFile):
    """Parquet; the first rows decide on encodings. Small batches become one row group."""

    def __enter__(self) -> Self:
        # Through a Python file, because Arrow does not accept names that are not UTF-8.
        self._file = self._stack.enter_context(self._path.open("wb"))
        self._writer: pq.ParquetWriter | None = None
        self._schema = pa.schema([])
        self._waiting: list[pa.RecordBatch] = []
        self._bytes = 0
        return self

    def write(self, batch: pa.RecordBatch) -> None:
        self._schema = batch.schema
        if len(batch):
            self._waiting.append(batch)
            self._bytes += batch.nbytes
        if self._bytes >= _ROW_GROUP_BYTES:
            self._flush()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._flush()
        super().__exit__(kind, error, trace)

    def _flush(self) -> None:
        rows = pa.Table.from_batches(self._waiting, self._schema)
        if self._writer is None:
            writer = pq.ParquetWriter(
                self._file,
                self._schema,
                compression="zstd",
                use_dictionary=_repeating_columns(rows),
                write_page_checksum=True,
            )
            self._writer = self._stack.enter_context(writer)
        if len(rows):
            self._writer.write_table(rows)
        self._waiting.clear()
        self._bytes = 0


class JsonRows(RowFile):
    """JSON lines; a row has the keys of its batch."""

    one_schema = False

    def __enter__(self) -> Self:
        self._file = self._stack.enter_context(self._path.open("wb"))
        return self

    def write(self, batch: pa.RecordBatch) -> None:
        for row in batch.to_pylist():
            self._file.write(orjson.dumps(row, default=str, option=orjson.OPT_APPEND_NEWLINE))


class CsvRows(RowFile):
    """CSV that is safe to open in a spreadsheet."""

    def __enter__(self) -> Self:
        from neardup.report.spreadsheet import SpreadsheetWriter

        file = self._path.open("w", encoding="utf-8", newline="")
        self._writer = SpreadsheetWriter(self._stack.enter_context(file))
        self._is_empty = True
        return self

    def write(self, batch: pa.RecordBatch) -> None:
        if self._is_empty:
            self._writer.rows([batch.schema.names])
            self._is_empty = False
        self._writer.rows(zip(*(column.to_pylist() for column in batch.columns), strict=True))


_KINDS: dict[str, type[RowFile]] = {"parquet": ParquetRows, "jsonl": JsonRows, "csv": CsvRows}
FORMATS = tuple(_KINDS)


def write_rows(
    result: Result,
    folder: Path,
    format: str,
    shown: NDArray[np.int64],
    copies: bool,
    progress: Progress | None,
) -> dict[int, str]:
    """Write the kept and the removed rows; returns the texts at the places `shown`."""
    kind, threads = _KINDS[format], result.fingerprinter.threads
    own = shown[shown < len(result.collected)]
    columns = _AddedColumns(result, copies)
    schema: pa.Schema | None = None
    while True:
        picker = TextPicker(own)
        batches = all_rows(result.source, len(result.collected), picker)
        if kind.one_schema:
            batches = under_one_schema(batches, schema)
        try:
            with (
                kind(folder / f"kept.{format}") as kept,
                kind(folder / f"removed.{format}") as removed,
            ):
                _write_both(kept, removed, columns.divided(batches, progress), threads)
        except SchemaGrewError as grew:
            schema = grew.schema
        except _NameTakenError:
            continue
        else:
            break
    return picker.texts | result.texts_at(shown[shown >= len(result.collected)])


def _write_both(
    kept: RowFile,
    removed: RowFile,
    divided: Iterator[tuple[pa.RecordBatch, pa.RecordBatch]],
    threads: int,
) -> None:
    """Write all rows. With several threads, each file is compressed in a thread of its own."""
    if threads == 1:
        for kept_rows, removed_rows in divided:
            kept.write(kept_rows)
            removed.write(removed_rows)
        return
    with (
        Background(kept.write, "write the kept rows") as kept_writer,
        Background(removed.write, "write the removed rows") as removed_writer,
    ):
        for kept_rows, removed_rows in divided:
            kept_writer.put(kept_rows)
            removed_writer.put(removed_rows)


class _NameTakenError(Exception):
    """A later batch has a column of a name that was given to a new one; start again."""


class _AddedColumns:
    """The columns that are added to the rows: to removed ones why, to kept ones their copies."""

    def __init__(self, result: Result, copies: bool) -> None:
        self._keeps = result.keeps
        self._removed = result.removed_columns()
        keeps = self._keeps
        self._kept = {"copies": column_of(result.clustering.copies()[keeps])} if copies else {}
        self._taken: set[str] = set()

    def divided(
        self, batches: Iterator[pa.RecordBatch], progress: Progress | None
    ) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
        """The kept and the removed rows of each batch, with the columns that are added."""
        done = kept_done = 0
        documents = len(self._keeps)
        for batch in batches:
            keeps = self._keeps[done : done + len(batch)]
            names = self._names(batch.schema.names)
            kept, removed = chosen(batch, keeps), chosen(batch, ~keeps)
            yield (
                _with_columns(kept, self._kept, names, kept_done),
                _with_columns(removed, self._removed, names, done - kept_done),
            )
            done += len(batch)
            kept_done += len(kept)
            if progress is not None:
                progress(done, documents, done)

    def _names(self, of_batch: list[str]) -> dict[str, str]:
        """The names of the added columns; they are the same in all batches."""
        new = [*self._kept, *self._removed]
        before = names_beside(new, self._taken)
        is_first = not self._taken
        self._taken.update(of_batch)
        names = names_beside(new, self._taken)
        if names != before and not is_first:
            raise _NameTakenError
        return names


def _with_columns(
    rows: pa.RecordBatch, columns: dict[str, pa.Array], names: dict[str, str], first: int
) -> pa.RecordBatch:
    added = {names[name]: column.slice(first, len(rows)) for name, column in columns.items()}
    arrays = [*rows.columns, *added.values()]
    fields = [*rows.schema, *(pa.field(name, column.type) for name, column in added.items())]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields, rows.schema.metadata))


def _repeating_columns(rows: pa.Table) -> list[str]:
    """The columns that a dictionary may make smaller: of short values, half of which repeat.

    Looking for repetitions in texts or ids would cost an eighth of the time, for nothing.
    """
    most = _SHORT_BYTES * max(1, len(rows))
    return [
        name
        for name in rows.schema.names
        if rows[name].nbytes <= most and _distinct(rows[name]) <= len(rows) / 2
    ]


def _distinct(column: pa.ChunkedArray) -> int:
    """The number of different values; 0 for types whose values Arrow cannot compare."""
    try:
        return distinct_count(column)
    except pa.ArrowNotImplementedError:
        return 0
