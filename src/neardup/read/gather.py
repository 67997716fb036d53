"""Gathering: rows that come one by one become columns of bounded size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.read.batch import Rejected, Rows

_REASON_BYTES = 256
Carry = Callable[[list[Any]], dict[str, Any]]


class Gatherer:
    """Collects the good rows and the rejected ones of one file until they are taken.

    `extras` holds what the carried columns are made from, one item per good row.
    """

    def __init__(self, file: str, batch_bytes: int) -> None:
        self._file = file
        self._batch_bytes = batch_bytes
        self.seen = 0
        self._clear()

    def _clear(self) -> None:
        self.texts: list[str] = []
        self.ids: list[str | int] = []
        self.extras: list[Any] = []
        self._numbers: list[int] = []
        self._rejected: list[Rejected] = []
        self._size = 0

    def full(self, size: int) -> bool:
        """Whether a row of this size would make the batch larger than it may be."""
        return self._size + size > self._batch_bytes and bool(self._numbers or self._rejected)

    def add(self, text: str, size: int) -> None:
        """Count one good row; its id and extras are appended by the caller."""
        self.texts.append(text)
        self._numbers.append(self.seen)
        self._size += size
        self.seen += 1

    def reject(self, reason: str) -> None:
        """Count one row that is set aside."""
        self._rejected.append(Rejected(self._file, self.seen, reason))
        self._size += _REASON_BYTES
        self.seen += 1

    def take(self, carry: Carry, bytes_done: int) -> Rows:
        """Hand over what was collected and begin anew."""
        rows = Rows(
            text=pa.array(self.texts, pa.large_string()),
            id=id_array(self.ids) if self.ids else None,
            carried=carry(self.extras),
            numbers=np.array(self._numbers, np.int64),
            rejected=tuple(self._rejected),
            seen=self.seen,
            bytes_done=bytes_done,
        )
        self._clear()
        return rows

    def __bool__(self) -> bool:
        return bool(self._numbers or self._rejected)


def id_array(ids: list[str | int]) -> pa.Array:
    """Make a column of ids that are all strings or all whole numbers."""
    return pa.array(ids, pa.string() if isinstance(ids[0], str) else pa.int64())
