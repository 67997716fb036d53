"""The files of kept and removed rows, written in one pass over the input."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.source import Progress, RowBatch
from neardup.deduplication.parquet_groups import EncodedGroups, GroupEncoder, ParquetGroups
from neardup.deduplication.rows import (
    SchemaGrewError,
    TextPicker,
    all_rows,
    names_beside,
    under_one_schema,
)
from neardup.engines.local import Mapped
from neardup.kernels.columns import chosen, column_of, distinct_count

if TYPE_CHECKING:
    from typing_extensions import Self

    from neardup.deduplication.result import Result

Encoded = TypeVar("Encoded")

_SHORT_BYTES = 64
_ROW_GROUP_BYTES = 1 << 21
# Each takes about three times the bytes of a batch.
_MOST_PORTIONS_AT_ONCE = 8


class RowFile(ABC, Generic[Encoded]):
    """A file of rows; it is made when it is entered.

    Batches are gathered into portions, which any thread can encode, and then appended in order.
    `compressed` packs a portion of text; Parquet compresses by itself.
    """

    one_schema: ClassVar[bool] = True  # whether all batches must have the same columns and types

    def __init__(self, path: Path, compressed: Callable[[bytes], bytes] = bytes) -> None:
        self._path = path
        self._compressed = compressed
        self._stack = ExitStack()

    def gathered(self, batch: pa.RecordBatch) -> Iterator[pa.Table]:
        """Take a batch; the portion that is complete with it, if there is one."""
        yield pa.Table.from_batches([batch])

    def rest(self) -> Iterator[pa.Table]:
        """The last portion."""
        return iter(())

    @abstractmethod
    def encoded(self, rows: pa.Table) -> Encoded:
        """A portion as it is written; this changes nothing."""

    @abstractmethod
    def append(self, part: Encoded) -> None:
        """Write the next portion."""

    def __enter__(self) -> Self:
        self._file = self._stack.enter_context(self._path.open("wb"))
        return self

    def finish(self) -> None:
        """Write what stands at the end of the file."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._stack:
            if kind is None:
                self.finish()


class ParquetRows(RowFile[EncodedGroups]):
    """Parquet; the first rows decide on encodings. Small batches become one row group."""

    def __enter__(self) -> Self:
        super().__enter__()
        self._groups = ParquetGroups(self._file)
        self._encoder: GroupEncoder | None = None
        self._waiting: list[pa.RecordBatch] = []
        self._bytes = 0
        return self

    def gathered(self, batch: pa.RecordBatch) -> Iterator[pa.Table]:
        # A batch without rows tells the schema.
        self._waiting = [one for one in self._waiting if len(one)] + [batch]
        self._bytes += batch.nbytes
        if self._bytes >= _ROW_GROUP_BYTES:
            yield self._portion()

    def rest(self) -> Iterator[pa.Table]:
        if self._encoder is None or any(map(len, self._waiting)):
            yield self._portion()

    def encoded(self, rows: pa.Table) -> EncodedGroups:
        assert self._encoder is not None
        return self._encoder.encoded(rows)

    def append(self, part: EncodedGroups) -> None:
        self._groups.append(part)

    def finish(self) -> None:
        self._groups.finish()

    def _portion(self) -> pa.Table:
        rows = pa.Table.from_batches(self._waiting) if self._waiting else pa.table({})
        if self._encoder is None:
            self._encoder = GroupEncoder(rows.schema, _repeating_columns(rows))
        self._waiting, self._bytes = [], 0
        return rows


class TextRows(RowFile[bytes]):
    """Rows as text, perhaps compressed: each portion by itself, one after another."""

    @abstractmethod
    def text(self, rows: pa.Table) -> bytes:
        """A portion as text."""

    def encoded(self, rows: pa.Table) -> bytes:
        text = self.text(rows)
        return self._compressed(text) if text else text

    def append(self, part: bytes) -> None:
        self._file.write(part)

    def finish(self) -> None:
        if not self._file.tell():
            self._file.write(self._compressed(b""))  # no bytes at all are no compressed file


class JsonRows(TextRows):
    """JSON lines; a row has the keys of its batch."""

    one_schema = False

    def text(self, rows: pa.Table) -> bytes:
        return b"".join(
            orjson.dumps(row, default=str, option=orjson.OPT_APPEND_NEWLINE)
            for row in rows.to_pylist()
        )


class CsvRows(TextRows):
    """CSV that is safe to open in a spreadsheet."""

    def __enter__(self) -> Self:
        super().__enter__()
        self._is_empty = True
        return self

    def gathered(self, batch: pa.RecordBatch) -> Iterator[pa.Table]:
        if self._is_empty:
            self._file.write(self._compressed(_spreadsheet([batch.schema.names])))
            self._is_empty = False
        return super().gathered(batch)

    def text(self, rows: pa.Table) -> bytes:
        return _spreadsheet(zip(*(column.to_pylist() for column in rows.columns), strict=True))


def _spreadsheet(rows: Iterable[Iterable[Any]]) -> bytes:
    from neardup.report.spreadsheet import SpreadsheetWriter

    text = io.StringIO(newline="")
    SpreadsheetWriter(text).rows(rows)
    return text.getvalue().encode()


KINDS: dict[str, type[RowFile[Any]]] = {"parquet": ParquetRows, "jsonl": JsonRows, "csv": CsvRows}
FORMATS = tuple(KINDS)


def write_rows(
    result: Result,
    paths: Sequence[Path],
    kind: type[RowFile[Any]],
    shown: NDArray[np.int64],
    copies: bool,
    progress: Progress | None,
    compressed: Callable[[bytes], bytes] = bytes,
) -> SeenRows:
    """Write the kept rows to the first path, and the removed ones to the second, if there is one.

    Returns what is to be known of the rows: the texts at the places `shown` that are in the
    collection, their sources, the names of the columns.
    """
    threads = result.fingerprinter.threads
    own = shown[shown < len(result.collected)]
    columns = _AddedColumns(result, copies)
    schema: pa.Schema | None = None
    while True:
        seen = SeenRows(own)
        batches = all_rows(result.source, len(result.collected), seen.see)
        if kind.one_schema:
            batches = under_one_schema(batches, schema)
        files = [kind(path, compressed) for path in paths]
        divided = columns.divided(batches, progress)
        try:
            write_files(files, (parts[: len(files)] for parts in divided), threads)
        except SchemaGrewError as grew:
            schema = grew.schema
        except _NameTakenError:
            continue
        else:
            break
    seen.added = columns.names
    return seen


class SeenRows:
    """What is noted of the rows while they are written: some texts, sources, names of columns.

    `added` has the names of the columns that were added to the rows.
    """

    def __init__(self, shown: NDArray[np.int64]) -> None:
        self._picker = TextPicker(shown)
        self._numbers: dict[str | None, int] = {}
        self._sources: list[NDArray[np.int32]] = []
        self._names: tuple[str | None, tuple[str, ...]] = (None, ())
        self.added: dict[str, str] = {}

    def see(self, first: int, batch: RowBatch) -> None:
        """Look at the next batch."""
        count = len(batch.rows)
        self._picker.see(first, count, batch.columns)
        if not first:
            self._names = batch.names
        if isinstance(batch.source, pa.Array):
            numbers = [self._number(name) for name in batch.source.to_pylist()]
            self._sources.append(np.array(numbers, np.int32))
        else:
            self._sources.append(np.full(count, self._number(batch.source), np.int32))

    def _number(self, source: str | None) -> int:
        return self._numbers.setdefault(source, len(self._numbers))

    @property
    def texts(self) -> dict[int, str]:
        """The texts by their places."""
        return self._picker.texts

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of ids and of content, by name, and those that were added."""
        id_name, text_names = self._names
        return {"id": id_name, "text": list(text_names), "added": self.added}

    def sources(self) -> pa.DictionaryArray:
        """The source of each document; null if it is unknown."""
        numbers = np.concatenate([np.zeros(0, np.int32), *self._sources])
        names = [name or "" for name in self._numbers]
        unknown = self._numbers.get(None, -1)
        return pa.DictionaryArray.from_arrays(
            column_of(numbers, numbers == unknown), pa.array(names, pa.string())
        )


def write_files(
    files: Sequence[RowFile[Any]], batches: Iterable[Sequence[pa.RecordBatch]], threads: int
) -> None:
    """Write batches, each divided among the files; threads encode, and change nothing by that."""

    def portions() -> Iterator[tuple[RowFile[Any], pa.Table]]:
        for divided in batches:
            for file, batch in zip(files, divided, strict=True):
                for rows in file.gathered(batch):
                    yield file, rows
        for file in files:
            for rows in file.rest():
                yield file, rows

    def encoded(portion: tuple[RowFile[Any], pa.Table]) -> tuple[RowFile[Any], Any]:
        file, rows = portion
        return file, file.encoded(rows)

    at_once = min(threads, _MOST_PORTIONS_AT_ONCE)
    with ExitStack() as stack:
        for file in files:
            stack.enter_context(file)
        for file, part in Mapped(encoded, portions(), at_once, purpose="write the rows"):
            file.append(part)


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
        self.names: dict[str, str] = {}  # of the added columns

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
        self.names = names
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
