"""The corpus without what it shares with benchmarks: without documents, or without sentences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from neardup.collection.source import Progress, RowBatch, Source
from neardup.errors import InputError
from neardup.kernels.columns import column_of, string_buffers, taken
from neardup.kernels.passages import cut_passages
from neardup.parts.clean_rows import CleanRows, write_clean_rows
from neardup.parts.contamination.items import ids_of
from neardup.parts.contamination.settings import DOCUMENTS
from neardup.parts.contamination.tables import GrowingTable
from neardup.parts.cutting import cut_out
from neardup.read.columns import plain_text

Numbers = NDArray[np.int64]
PASSAGES_FILE = "removed_passages.parquet"


class MarkedRanges:
    """Ranges of documents, in the order of the documents, read from a file as they are wanted.

    The file has the place of the document in the corpus, and the first and last byte in its text.
    """

    def __init__(self, path: Path, documents: int) -> None:
        self._path, self._documents = path, documents
        self.restart()

    def restart(self) -> None:
        """Begin again with the first document."""
        self._batches: Iterator[pa.RecordBatch] = pq.ParquetFile(self._path).iter_batches()
        self._held = [np.zeros(0, np.int64)] * 3
        self._next = 0

    def of(self, first: int, count: int) -> tuple[Numbers, Numbers, Numbers]:
        """The ranges of the next `count` documents: their rows among these, begins and ends."""
        if first != self._next or first + count > self._documents:
            raise InputError(
                f"the corpus changed while it was read: it had {self._documents:,} documents at "
                "first, and now another number; run again when nobody writes to it"
            )
        self._next += count
        while not len(self._held[0]) or self._held[0][-1] < first + count:
            batch = next(self._batches, None)
            if batch is None:
                break
            new = [column.to_numpy() for column in batch.columns]
            self._held = [np.concatenate(both) for both in zip(self._held, new, strict=True)]
        end = int(np.searchsorted(self._held[0], first + count))
        places, begins, ends = (column[:end] for column in self._held)
        self._held = [column[end:] for column in self._held]
        return places - first, begins, ends

    def require_end(self) -> None:
        """Refuse a corpus that has fewer documents than before."""
        if self._next != self._documents:
            self.of(self._next, self._documents - self._next + 1)


def marked_table(places: Numbers, begins: Numbers, ends: Numbers) -> pa.Table:
    """Ranges, as the file has them."""
    columns = {"place": places, "start_byte": begins, "end_byte": ends}
    return pa.table({name: column_of(column) for name, column in columns.items()})


def write_without(
    source: Source,
    folder: Path,
    format: str,
    remove: str,
    marked: MarkedRanges,
    *,
    threads: int,
    progress: Progress | None,
) -> dict[str, int]:
    """Write the rows of the corpus without marked documents or sentences; returns counts."""
    if remove == DOCUMENTS:
        return _without_documents(
            source, folder, format, marked, threads=threads, progress=progress
        )
    return _without_passages(source, folder, format, marked, threads=threads, progress=progress)


def _without_documents(
    source: Source,
    folder: Path,
    format: str,
    marked: MarkedRanges,
    *,
    threads: int,
    progress: Progress | None,
) -> dict[str, int]:
    removed = 0

    def clean(first: int, batch: RowBatch) -> CleanRows:
        nonlocal removed
        rows, _, _ = marked.of(first, len(batch.rows))
        keeps = np.ones(len(batch.rows), np.bool_)
        keeps[rows] = False
        removed += int((~keeps).sum())
        return CleanRows(keeps=keeps)

    def restart() -> None:
        nonlocal removed
        removed = 0
        marked.restart()

    write_clean_rows(
        source,
        folder,
        format,
        clean,
        threads=threads,
        with_removed=True,
        restart=restart,
        progress=progress,
    )
    marked.require_end()
    return {"removed_documents": removed}


def _without_passages(
    source: Source,
    folder: Path,
    format: str,
    marked: MarkedRanges,
    *,
    threads: int,
    progress: Progress | None,
) -> dict[str, int]:
    parts = _RemovedPassages(folder / PASSAGES_FILE)

    def clean(first: int, batch: RowBatch) -> CleanRows:
        texts = texts_of(batch)
        rows, begins, ends = sentences_around(texts, *marked.of(first, len(batch.rows)))
        parts.add(texts, ids_of(batch, first), rows, begins, ends)
        if not len(rows):
            return CleanRows()
        return CleanRows(texts=cut_out(texts, rows, begins, ends))

    def restart() -> None:
        parts.restart()
        marked.restart()

    write_clean_rows(
        source, folder, format, clean, threads=threads, restart=restart, progress=progress
    )
    marked.require_end()
    parts.finish()
    return {
        "changed_documents": parts.documents,
        "removed_passages": parts.passages,
        "removed_bytes": parts.bytes,
    }


def texts_of(batch: RowBatch) -> pa.Array:
    """The texts of a batch of rows; a missing text is empty."""
    (column,) = batch.columns
    return plain_text(column.texts).cast(pa.large_string()).fill_null("")


def sentences_around(
    texts: pa.Array, rows: Numbers, begins: Numbers, ends: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """Ranges extended to whole sentences, those that overlap or touch as one."""
    if not len(rows):
        return rows, begins, ends
    own, places = np.unique(rows, return_inverse=True)
    some = taken(texts, column_of(own))
    cut = cut_passages(some, unit="sentence")
    _, offsets = string_buffers(some)
    _, bounds = string_buffers(cut.texts)
    first, last = offsets[places] + begins, offsets[places] + ends
    first = bounds[np.searchsorted(bounds, first, "right") - 1]
    last = bounds[np.searchsorted(bounds, last, "left")]
    # Ranges are in order; one begins where no earlier one of its document reaches.
    first = np.maximum(first, offsets[places])
    last = np.minimum(last, offsets[places + 1])
    reach = np.maximum.accumulate(last)
    new = np.append(True, (first[1:] > reach[:-1]) | (np.diff(places) != 0))
    starts = np.flatnonzero(new)
    final = np.maximum.reduceat(last, starts)
    base = offsets[places[starts]]
    return rows[starts], first[starts] - base, final - base


class _RemovedPassages:
    """The file of passages that were cut out, and their numbers."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.restart()

    def restart(self) -> None:
        self._table = GrowingTable(self._path, lambda: _passages_schema(pa.string()))
        self._table.__enter__()
        self.documents = self.passages = self.bytes = 0

    def add(
        self, texts: pa.Array, ids: pa.Array, rows: Numbers, begins: Numbers, ends: Numbers
    ) -> None:
        if not len(rows):
            return
        starts, stops, parts = [], [], []
        last, data, at_byte, at = -1, b"", 0, 0
        for row, begin, end in zip(rows.tolist(), begins.tolist(), ends.tolist(), strict=True):
            if row != last:
                last, data, at_byte, at = row, texts[row].as_py().encode(), 0, 0
            at += len(data[at_byte:begin].decode())
            part = data[begin:end].decode()
            starts.append(at)
            at, at_byte = at + len(part), end
            stops.append(at)
            parts.append(part)
        columns = [
            taken(ids, column_of(rows)),
            column_of(np.array(starts, np.int64)),
            column_of(np.array(stops, np.int64)),
            column_of(begins),
            column_of(ends),
            pa.array(parts, pa.large_string()),
        ]
        self._table.add(pa.table(columns, schema=_passages_schema(ids.type)))
        self.documents += len(np.unique(rows))
        self.passages += len(rows)
        self.bytes += int((ends - begins).sum())

    def finish(self) -> None:
        self._table.__exit__(None, None, None)


def _passages_schema(ids: pa.DataType) -> pa.Schema:
    numbers = [(name, pa.int64()) for name in ("start", "end", "start_byte", "end_byte")]
    return pa.schema([("document", ids), *numbers, ("text", pa.large_string())])

