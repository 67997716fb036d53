"""Gathering: rows that come one by one become columns of bounded size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.kernels.columns import column_of, text_column
from neardup.read.batch import Rejected, Rows

_REASON_BYTES = 256
Carry = Callable[[list[Any]], dict[str, Any]]


class RowCounter:
    """Counts the rows of one file, good and rejected, up to a batch of bounded size."""

    def __init__(self, file: str, batch_size: int) -> None:
        self._file = file
        self._batch_size = batch_size
        self.seen = 0
        self._clear()

    def _clear(self) -> None:
        self.ids: list[str | int] = []
        self._first = self.seen
        self._rejected: list[Rejected] = []
        self._bad: list[int] = []
        self._size = 0

    def full(self, size: int) -> bool:
        """Whether a row of this size would make the batch larger than it may be."""
        return self._size + size > self._batch_size and bool(self)

    def reject(self, reason: str, size: int = _REASON_BYTES) -> None:
        """Count one row that is set aside."""
        self._rejected.append(Rejected(self._file, self.seen, reason))
        self._bad.append(self.seen - self._first)
        self._size += size
        self.seen += 1

    def _accept(self, size: int, rows: int = 1) -> None:
        """Count good rows of this size together."""
        self._size += size
        self.seen += rows

    def _settled(self, bytes_done: int) -> dict[str, Any]:
        """What all batches tell of their rows."""
        return {
            "id": id_array(self.ids) if self.ids else None,
            "numbers": self._numbers(),
            "rejected": tuple(self._rejected),
            "seen": self.seen,
            "bytes_done": bytes_done,
        }

    def _numbers(self) -> npt.NDArray[np.int64]:
        """The numbers of the good rows."""
        good = np.ones(self.seen - self._first, bool)
        good[self._bad] = False
        return self._first + np.flatnonzero(good)

    def __bool__(self) -> bool:
        return self.seen > self._first


class Gatherer(RowCounter):
    """Collects the good rows and the rejected ones of one file until they are taken.

    `extras` holds what the carried columns are made from, one item per good row.
    """

    def _clear(self) -> None:
        super()._clear()
        self.texts: list[str] = []
        self.extras: list[Any] = []

    def add(self, text: str, size: int) -> None:
        """Count one good row; its id and extras are appended by the caller."""
        self.texts.append(text)
        self._accept(size)

    def take(self, carry: Carry, bytes_done: int) -> Rows:
        """Hand over what was collected and begin anew."""
        text = text_column(self.texts)
        rows = Rows(text=text, carried=carry(self.extras), **self._settled(bytes_done))
        self._clear()
        return rows


def id_array(ids: list[str | int]) -> pa.Array:
    """Make a column of ids that are all strings or all whole numbers."""
    if isinstance(ids[0], str):
        return text_column([str(id) for id in ids]).cast(pa.string())
    return column_of(np.array(ids, np.int64))
