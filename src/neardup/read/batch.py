"""Batches: the results of readers, how rows are collected into them, and how they are cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.frozen import dataclass
from neardup.kernels.columns import column_of, converted, text_column

_REASON_BYTES = 256
Carry = Callable[[list[Any]], dict[str, Any]]


@dataclass(frozen=True)
class Rejected:
    """A rejected row: its file, its number from 0, and the reason.

    `row` is None for a whole file, or the rest of one, that was skipped.
    """

    file: str
    row: int | None
    reason: str

    @property
    def place(self) -> str:
        """The file and the row, for messages."""
        return self.file if self.row is None else f"{self.file}, row {self.row}"


@dataclass(frozen=True)
class Batch:
    """Consecutive rows of the input: the good ones as columns, the bad ones with reasons.

    `documents` has the columns `id` (string or int64) and `text` (string or large_string), both
    valid and without nulls, then the carried columns. It has no rows if all were rejected.
    `places` is each document's place in the whole input, counting rejected rows. `fields` are the
    texts of the fields if the documents are records. `names` are the names of the id (None: rows
    are numbered) and the text in the input. `made_ids`, for documents without ids of their own,
    returns names made of file and row, which are more stable than numbers. `file` is the file that
    all rows are from; None if each row is a file.
    """

    documents: pa.RecordBatch
    places: npt.NDArray[np.int64]
    rejected: tuple[Rejected, ...]
    fields: tuple[pa.Array, ...] = ()
    names: tuple[str | None, str] = ("id", "text")
    made_ids: Callable[[], pa.Array] | None = None
    file: str | None = None

    def as_read(self) -> pa.RecordBatch:
        """The documents with the columns of the input under their original names."""
        id_name, text_name = self.names
        columns = {text_name: self.documents["text"]}
        if id_name is not None:
            columns = {id_name: self.documents["id"], **columns}
        for name in self.documents.schema.names[2:]:
            own = name.removeprefix("input_") if name in ("input_id", "input_text") else name
            columns[own] = self.documents[name]
        return pa.RecordBatch.from_pydict(columns)

    @property
    def ids(self) -> pa.Array:
        return self.documents["id"]


@dataclass(frozen=True)
class Rows:
    """A batch before ids are settled; every reader yields these.

    `numbers` are row numbers counted from the start of the reader, `seen` is the number of rows
    read so far including rejected ones, `bytes_done` the bytes of input read so far. `id` is None
    if there is no id column.
    """

    text: pa.Array
    id: pa.Array | None
    carried: dict[str, Any]
    numbers: npt.NDArray[np.int64]
    rejected: tuple[Rejected, ...]
    seen: int
    bytes_done: int


def bounded(texts: pa.Array, batch_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of parts of up to `batch_bytes` of text; a larger text is alone."""
    width = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    if len(texts):
        offsets = np.frombuffer(texts.buffers()[1], width)[texts.offset :][: len(texts) + 1]
        yield from bounded_offsets(offsets, batch_bytes)


def bounded_offsets(offsets: npt.NDArray[Any], most: int) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of parts that span at most `most`; a longer row is a part alone.

    >>> list(bounded_offsets(np.array([0, 2, 3, 9, 9]), 3))
    [(0, 2), (2, 3), (3, 4)]
    """
    start, end = 0, len(offsets) - 1
    while start < end:
        limit = int(offsets[start]) + most
        stop = max(start + 1, int(np.searchsorted(offsets, limit, side="right")) - 1)
        yield start, min(stop, end)
        start = stop


class RowCounter:
    """Counts the good and rejected rows of one file, up to a batch of bounded size."""

    def __init__(self, file: str, batch_size: int) -> None:
        self._file = file
        self._batch_size = batch_size
        self.seen = 0
        self._clear()

    def begin_at(self, row: int) -> None:
        """Number the rows from this one on."""
        self.seen = row
        self._clear()

    def _clear(self) -> None:
        self.ids: list[str | int] = []
        self._first = self.seen
        self._rejected: list[Rejected] = []
        self._bad: list[int] = []
        self._size = 0

    def full(self, size: int) -> bool:
        """Whether a row of this size no longer fits the batch."""
        return self._size + size > self._batch_size and bool(self)

    def reject(self, reason: str, size: int = _REASON_BYTES) -> None:
        """Count one rejected row."""
        self._rejected.append(Rejected(self._file, self.seen, reason))
        self._bad.append(self.seen - self._first)
        self._size += size
        self.seen += 1

    def _accept(self, size: int, rows: int = 1) -> None:
        """Count good rows with this total size."""
        self._size += size
        self.seen += rows

    def _settled(self, bytes_done: int) -> dict[str, Any]:
        """The attributes that `Rows` and `TermRows` share."""
        return {
            "id": id_array(self.ids) if self.ids else None,
            "numbers": self._numbers(),
            "rejected": tuple(self._rejected),
            "seen": self.seen,
            "bytes_done": bytes_done,
        }

    def _numbers(self) -> npt.NDArray[np.int64]:
        good = np.ones(self.seen - self._first, bool)
        good[self._bad] = False
        return self._first + np.flatnonzero(good)

    def __bool__(self) -> bool:
        return self.seen > self._first


class Gatherer(RowCounter):
    """Collects the good and rejected rows of one file until they are taken.

    `extras` has one item per good row, from which the carried columns are made.
    """

    def _clear(self) -> None:
        super()._clear()
        self.texts: list[str] = []
        self.extras: list[Any] = []

    def add(self, text: str, size: int) -> None:
        """Add one good row; the caller appends its id and extras."""
        self.texts.append(text)
        self._accept(size)

    def take(self, carry: Carry, bytes_done: int) -> Rows:
        """Return the collected rows and start afresh."""
        text = text_column(self.texts)
        rows = Rows(text=text, carried=carry(self.extras), **self._settled(bytes_done))
        self._clear()
        return rows


def id_array(ids: list[str | int]) -> pa.Array:
    """A column of ids that are all strings or all whole numbers."""
    if isinstance(ids[0], str):
        return converted(text_column([str(id) for id in ids]), pa.string())
    return column_of(np.array(ids, np.int64))
