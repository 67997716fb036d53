"""Gathering terms: documents that come one by one become columns of bounded size."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from neardup.read.batch import Rejected
from neardup.read.gather import id_array
from neardup.read.term_batch import TermRows


class TermGatherer:
    """Collects the good documents and the rejected ones of one file until they are taken."""

    def __init__(self, file: str, batch_terms: int) -> None:
        self._file = file
        self._batch_terms = batch_terms
        self.seen = 0
        self._clear()

    def _clear(self) -> None:
        self.ids: list[str | int] = []
        self._terms: list[str] = []
        self._weights: list[float] = []
        self._offsets = [0]
        self._numbers: list[int] = []
        self._rejected: list[Rejected] = []
        self._weighted = False
        self._size = 0

    def full(self, size: int) -> bool:
        """Whether a document of this size would make the batch larger than it may be."""
        return self._size + size > self._batch_terms and bool(self)

    def add(self, terms: list[str], weights: list[float] | None, size: int) -> None:
        """Count one good document; its id is appended by the caller."""
        self._terms += terms
        if weights:
            self._weighted = True
            self._weights += weights
        self._offsets.append(len(self._terms))
        self._numbers.append(self.seen)
        self._size += size
        self.seen += 1

    def reject(self, reason: str, size: int) -> None:
        """Count one document that is set aside."""
        self._rejected.append(Rejected(self._file, self.seen, reason))
        self._size += size
        self.seen += 1

    def take(self, bytes_done: int) -> TermRows:
        """Hand over what was collected and begin anew."""
        offsets = pa.array(self._offsets, pa.int32())
        terms = pa.array(self._terms, pa.large_string())
        # By way of float: a number beyond 64 bits is one already, a smaller one fits.
        weights = pa.array(np.array(self._weights, np.float64))
        rows = TermRows(
            terms=pa.ListArray.from_arrays(offsets, terms),
            weights=pa.ListArray.from_arrays(offsets, weights) if self._weighted else None,
            id=id_array(self.ids) if self.ids else None,
            numbers=np.array(self._numbers, np.int64),
            rejected=tuple(self._rejected),
            seen=self.seen,
            bytes_done=bytes_done,
        )
        self._clear()
        return rows

    def __bool__(self) -> bool:
        return bool(self._numbers or self._rejected)
