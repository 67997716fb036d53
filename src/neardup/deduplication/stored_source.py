"""The documents of a saved run, read from its folder in the order of the input."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from neardup.collection.settings import DedupSettings
from neardup.collection.source import (
    DocumentBatch,
    FileSource,
    MemorySource,
    Progress,
    RowBatch,
)
from neardup.deduplication.document_files import OTHERS, part_files
from neardup.deduplication.rows import together
from neardup.errors import InputError
from neardup.features.spec import Fields, TextColumn
from neardup.kernels.columns import column_of
from neardup.read.columns import ROW_PLACE, is_string
from neardup.report.spreadsheet import as_written

_AT_ONCE = 1 << 14


class StoredSource:
    """The kept and the removed rows of a run, as one collection again.

    `documents` are the rows of documents.parquet, `inputs` what the summary says of the inputs.
    """

    def __init__(
        self,
        folder: Path,
        summary: Mapping[str, Any],
        settings: DedupSettings,
        documents: pa.Table,
    ) -> None:
        columns = summary["columns"]
        # Rows that were numbered have no column of ids, and the numbers are in documents.parquet.
        self._settings = replace(settings, id=columns["id"])
        self._folder, self._format = folder, summary["format"]
        self._added = set(columns["added"].values())
        self._names = columns["id"], tuple(columns["text"])
        self._ids = documents["id"].combine_chunks()
        self._kept = documents["kept"].combine_chunks().to_numpy(zero_copy_only=False)
        self._sources = documents["source"].combine_chunks()
        self.inputs: list[dict[str, Any]] = summary["inputs"]

    @property
    def places(self) -> Sequence[str]:
        return [os.fspath(self._folder)]

    def batches(self, progress: Progress | None = None) -> Iterator[DocumentBatch]:
        first = 0
        for batch in self.rows():
            count = len(batch.rows)
            if count:
                yield DocumentBatch(self._ids.slice(first, count), batch.columns)
            first += count
            if progress:
                progress(first, len(self._ids), first)

    def rows(self) -> Iterator[RowBatch]:
        """The rows as they were read from the input."""
        first = 0
        for table in self._merged():
            for batch in MemorySource(table, self._settings).rows():
                count = len(batch.rows)
                sources = self._sources.slice(first, count).cast(pa.string())
                yield RowBatch(batch.rows, batch.columns, sources, self._names)
                first += count

    def fingerprinted(self) -> None:
        """A run stores no fingerprints."""

    def _merged(self) -> Iterator[pa.Table]:
        """Rows of both files, in the order of the input."""
        kept, removed = (
            _Rows(self._folder / f"{name}.{self._format}", self._settings, self._added)
            for name in ("kept", "removed")
        )
        for begin in range(0, max(1, len(self._kept)), _AT_ONCE):
            is_kept = self._kept[begin : begin + _AT_ONCE]
            some = int(is_kept.sum())
            parts = [kept.take(some), removed.take(len(is_kept) - some)]
            parts = [part for part in parts if len(part)] or parts[:1]
            table = together(batch for part in parts for batch in _batches(part))
            yield table.take(column_of(_order(is_kept)))


def _order(is_kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Where each row is if the kept ones come first."""
    kept = np.cumsum(is_kept) - 1
    removed = np.cumsum(~is_kept) - 1 + int(is_kept.sum())
    return np.where(is_kept, kept, removed)


def _batches(table: pa.Table) -> Iterator[pa.RecordBatch]:
    batches = table.to_batches()
    yield from batches or [pa.RecordBatch.from_pylist([], table.schema)]


class _Rows:
    """A file of rows, from which the next ones can be taken; without the columns we added."""

    def __init__(self, path: Path, settings: DedupSettings, added: set[str]) -> None:
        self._path, self._added = path, added
        self._batches = _parquet(path) if path.suffix == ".parquet" else _lines(path, settings)
        self._waiting: list[pa.RecordBatch] = []

    def take(self, count: int) -> pa.Table:
        """The next rows; the columns are known even if none is wanted."""
        taken_rows: list[pa.RecordBatch] = []
        while count or not self._waiting:
            if not self._waiting:
                batch = next(self._batches, None)
                if batch is None:
                    break
                self._waiting.append(self._without_added(batch))
                continue
            first = self._waiting.pop(0)
            taken_rows.append(first.slice(0, count))
            if len(first) > count:
                self._waiting.insert(0, first.slice(count))
            count -= len(taken_rows[-1])
        if count:
            raise InputError(
                f"{self._path} has fewer rows than documents.parquet says; it was changed after "
                "the run: run dedup again"
            )
        if not taken_rows:
            taken_rows = [one.slice(0, 0) for one in self._waiting[:1]]
        return together(iter(taken_rows))

    def _without_added(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        names = [name for name in batch.schema.names if name not in self._added]
        return batch.select(names)


def _parquet(path: Path) -> Iterator[pa.RecordBatch]:
    for part in part_files(path):
        with part.open("rb") as file:
            stored = pq.ParquetFile(file)
            yield pa.RecordBatch.from_pylist([], stored.schema_arrow)
            yield from stored.iter_batches(_AT_ONCE)


def _lines(path: Path, settings: DedupSettings) -> Iterator[pa.RecordBatch]:
    """The rows of JSON lines or CSV; an empty file tells no columns."""
    parts = [part for part in part_files(path) if part.stat().st_size]
    if not parts:
        return
    for batch in FileSource(parts, replace(settings, id=ROW_PLACE)).rows():
        yield _unprotected(batch.rows) if path.suffix == ".csv" else batch.rows


def _unprotected(rows: pa.RecordBatch) -> pa.RecordBatch:
    """The texts of a CSV file without the apostrophes that protect spreadsheets."""
    columns = {}
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        if is_string(column.type):
            texts = [None if cell is None else as_written(cell) for cell in column.to_pylist()]
            column = pa.array(texts, pa.large_string())
        columns[as_written(name)] = column
    return pa.RecordBatch.from_pydict(columns)


class StoredOthers:
    """The documents of the other collection that a run names, with their texts."""

    def __init__(
        self, folder: Path, inputs: list[dict[str, Any]], fields: Fields | None = None
    ) -> None:
        self._folder, self.inputs, self._fields = folder, inputs, fields
        tables = []
        for part in part_files(folder / OTHERS):
            with part.open("rb") as file:
                stored = pq.ParquetFile(file)
                names = [name for name in stored.schema_arrow.names if name != "text"]
                tables.append(stored.read(names))  # everything except the texts
        self.table = pa.concat_tables(tables)

    @property
    def places(self) -> Sequence[str]:
        return [os.fspath(self._folder)]

    def batches(self, progress: Progress | None = None) -> Iterator[DocumentBatch]:
        for batch in self._stored():
            yield DocumentBatch(batch["id"], self._columns(batch["text"]))

    def _stored(self) -> Iterator[pa.RecordBatch]:
        for part in part_files(self._folder / OTHERS):
            with part.open("rb") as file:
                yield from pq.ParquetFile(file).iter_batches(_AT_ONCE, columns=["id", "text"])

    def _columns(self, texts: pa.Array) -> list[TextColumn]:
        """The texts, or the fields of records, which are stored as lines `name: text`."""
        if self._fields is None:
            return [TextColumn(texts)]
        from neardup.comparison.records import fields_of_text  # few runs need it

        names = self._fields.names
        records = [fields_of_text(text, names) for text in texts.to_pylist()]
        return [
            TextColumn(pa.array([record[field.name] for record in records], texts.type), field)
            for field in self._fields.fields
        ]

    def rows(self) -> Iterator[RowBatch]:
        """The documents as id and text."""
        for batch in self._stored():
            yield RowBatch(batch, self._columns(batch["text"]), None, ("id", ("text",)))

    def fingerprinted(self) -> None:
        """A run stores no fingerprints."""
