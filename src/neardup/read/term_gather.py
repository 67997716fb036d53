"""Gathering terms: documents that come one by one become columns of bounded size."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from neardup.read.gather import RowCounter
from neardup.read.term_batch import TermRows


class TermGatherer(RowCounter):
    """Collects the good documents and the rejected ones of one file until they are taken."""

    def _clear(self) -> None:
        super()._clear()
        self._terms: list[str] = []
        self._weights: list[float] = []
        self._offsets = [0]
        self._weighted = False

    def add(self, terms: list[str], weights: list[float] | None, size: int) -> None:
        """Count one good document; its id is appended by the caller."""
        self._terms += terms
        if weights:
            self._weighted = True
            self._weights += weights
        self._offsets.append(len(self._terms))
        self._accept(size)

    def take(self, bytes_done: int) -> TermRows:
        """Hand over what was collected and begin anew."""
        offsets = pa.array(self._offsets, pa.int32())
        terms = pa.array(self._terms, pa.large_string())
        # By way of float: a number beyond 64 bits is one already, a smaller one fits.
        weights = pa.array(np.array(self._weights, np.float64))
        rows = TermRows(
            terms=pa.ListArray.from_arrays(offsets, terms),
            weights=pa.ListArray.from_arrays(offsets, weights) if self._weighted else None,
            **self._settled(bytes_done),
        )
        self._clear()
        return rows
