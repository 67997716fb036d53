"""The corpus without what it shares with benchmarks: without documents, or without sentences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from neardup.collection.source import DocumentBatch, Progress, RowBatch, Source
from neardup.errors import InputError
from neardup.features.columns import GivenTerms
from neardup.frozen import dataclass
from neardup.kernels.columns import column_of, string_buffers, taken
from neardup.kernels.contamination import Found
from neardup.kernels.passages import cut_passages
from neardup.parts.clean_rows import CleanRows, numbered_rows, write_clean_rows
from neardup.parts.contamination.items import ids_of
from neardup.parts.contamination.settings import DOCUMENTS
from neardup.parts.contamination.tables import ItemNames, largest_items
from neardup.parts.cutting import cut_out
from neardup.parts.growing_table import GrowingTable
from neardup.read.columns import plain_text

Numbers = NDArray[np.int64]
PASSAGES_FILE = "removed_passages.parquet"


@dataclass(frozen=True, eq=False)
class Marks:
    """Ranges of documents, in order: the row of the document, and where it begins and ends.

    `item` is the item of which the document has the largest share, and `share` that share.
    """

    row: Numbers
    start_byte: Numbers
    end_byte: Numbers
    item: Numbers
    share: NDArray[np.float64]

    def table(self) -> pa.Table:
        """As a table, for a file."""
        return pa.table({name: column_of(column) for name, column in vars(self).items()})


def marks_of(found: Found, shares: NDArray[np.float64], first: int) -> Marks:
    """The ranges to be removed of a batch that begins with document `first`."""
    ranges = found.ranges
    documents = np.searchsorted(found.documents["document"], ranges["document"])
    largest = largest_items(found, shares)[documents]
    return Marks(
        ranges["document"] + first,
        ranges["start_byte"],
        ranges["end_byte"],
        found.items["item"][largest],
        shares[largest],
    )


class MarkedRanges:
    """All marks of a corpus, read from a file as they are wanted."""

    def __init__(self, path: Path, documents: int) -> None:
        self._path, self._documents = path, documents
        self.restart()

    def restart(self) -> None:
        """Begin again with the first document."""
        self._batches: Iterator[pa.RecordBatch] = pq.ParquetFile(self._path).iter_batches()
        self._held: pa.Table | None = None
        self._next = 0

    def of(self, first: int, count: int) -> Marks:
        """The marks of the next `count` documents, the first at the place `first`."""
        if first != self._next or first + count > self._documents:
            raise InputError(
                f"the corpus changed while it was read: it had {self._documents:,} documents at "
                "first, and now another number; run again when nobody writes to it"
            )
        self._next += count
        parts = []
        while (batch := self._waiting()) is not None:
            end = int(np.searchsorted(batch["row"].to_numpy(), first + count))
            parts.append(batch.slice(0, end))
            self._held = batch.slice(end) if end < len(batch) else None
            if self._held is not None:
                break
        if not parts:
            nothing = np.zeros(0, np.int64)
            return Marks(nothing, nothing, nothing, nothing, np.zeros(0))
        row, *others = (column.to_numpy() for column in pa.concat_tables(parts).columns)
        return Marks(row - first, *others)

    def _waiting(self) -> pa.Table | None:
        if self._held is None:
            batch = next(self._batches, None)
            self._held = None if batch is None else pa.Table.from_batches([batch])
        return self._held

    def require_end(self) -> None:
        """Refuse a corpus that has fewer documents than before."""
        if self._next != self._documents:
            self.of(self._next, self._documents - self._next + 1)


def write_without(
    source: Source,
    folder: Path,
    format: str,
    remove: str,
    marked: MarkedRanges,
    names: ItemNames,
    *,
    threads: int,
    progress: Progress | None,
) -> dict[str, int]:
    """Write the rows of the corpus without marked documents or sentences; returns counts."""
    if remove == DOCUMENTS:
        return _without_documents(
            source, folder, format, marked, names, threads=threads, progress=progress
        )
    return _without_passages(source, folder, format, marked, threads=threads, progress=progress)


def _without_documents(
    source: Source,
    folder: Path,
    format: str,
    marked: MarkedRanges,
    names: ItemNames,
    *,
    threads: int,
    progress: Progress | None,
) -> dict[str, int]:
    removed = 0

    def clean(first: int, batch: RowBatch) -> CleanRows:
        nonlocal removed
        marks = marked.of(first, len(batch.rows))
        rows, own = np.unique(marks.row, return_index=True)
        keeps = np.ones(len(batch.rows), np.bool_)
        keeps[rows] = False
        removed += len(rows)
        why = {**names.columns(marks.item[own]), "item_share": column_of(marks.share[own])}
        return CleanRows(keeps=keeps, why=why)

    def cleaned() -> Iterator[tuple[RowBatch, CleanRows]]:
        nonlocal removed
        removed = 0
        marked.restart()
        for first, batch in numbered_rows(source, progress):
            yield batch, clean(first, batch)

    write_clean_rows(cleaned, folder, format, threads=threads, with_removed=True)
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
        marks = marked.of(first, len(batch.rows))
        rows, begins, ends = sentences_around(texts, marks.row, marks.start_byte, marks.end_byte)
        parts.add(texts, ids_of(batch, first), rows, begins, ends)
        if not len(rows):
            return CleanRows()
        return CleanRows(texts=cut_out(texts, rows, begins, ends))

    def cleaned() -> Iterator[tuple[RowBatch, CleanRows]]:
        parts.restart()
        marked.restart()
        for first, batch in numbered_rows(source, progress):
            yield batch, clean(first, batch)

    write_clean_rows(cleaned, folder, format, threads=threads)
    marked.require_end()
    parts.finish()
    return {
        "changed_documents": parts.documents,
        "removed_passages": parts.passages,
        "removed_bytes": parts.bytes,
    }


def texts_of(batch: DocumentBatch | RowBatch) -> pa.Array:
    """The texts of a batch; a missing text is empty."""
    assert not isinstance(batch.columns, GivenTerms)
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
