"""Batches of documents given as terms, and how rows are collected into them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.read.batch import Rejected, RowCounter


@dataclass(frozen=True, eq=False)
class TermBatch:
    """Consecutive rows of the input: the good ones as columns, the bad ones with reasons.

    `ids` are strings or int64. `terms` is a list or large_list of strings, large strings or a
    dictionary of either. `weights` is a list of float64 with the same lengths; None if the input
    has no weights, or no document of the batch has a term. There are no nulls, every term is valid
    UTF-8 and every weight is finite; both arrays may be slices. `places` is each document's place
    in the whole input, counting rejected rows. `made_ids` and `file` are as in
    `neardup.read.batch.Batch`.
    """

    ids: pa.Array
    terms: pa.Array
    weights: pa.Array | None
    places: npt.NDArray[np.int64]
    rejected: tuple[Rejected, ...]
    made_ids: Callable[[], pa.Array] | None = None
    file: str | None = None


@dataclass(frozen=True, eq=False)
class TermRows:
    """A batch before ids are settled; see `neardup.read.batch.Rows`."""

    terms: pa.Array
    weights: pa.Array | None
    id: pa.Array | None
    numbers: npt.NDArray[np.int64]
    rejected: tuple[Rejected, ...]
    seen: int
    bytes_done: int


def no_terms() -> pa.Array:
    """A column of terms without rows."""
    return pa.array([], pa.list_(pa.large_string()))


class TermGatherer(RowCounter):
    """Collects the good and rejected documents of one file until they are taken."""

    def _clear(self) -> None:
        super()._clear()
        self._terms: list[str] = []
        self._weights: list[float] = []
        self._offsets = [0]
        self._weighted = False

    def add(self, terms: list[str], weights: list[float] | None, size: int) -> None:
        """Add one good document; the caller appends its id."""
        self._terms += terms
        if weights:
            self._weighted = True
            self._weights += weights
        self._offsets.append(len(self._terms))
        self._accept(size)

    def take(self, bytes_done: int) -> TermRows:
        """Return the collected rows and start afresh."""
        offsets = pa.array(self._offsets, pa.int32())
        terms = pa.array(self._terms, pa.large_string())
        # Every number fits: orjson parses integers beyond 64 bits as floats.
        weights = pa.array(np.array(self._weights, np.float64))
        rows = TermRows(
            terms=pa.ListArray.from_arrays(offsets, terms),
            weights=pa.ListArray.from_arrays(offsets, weights) if self._weighted else None,
            **self._settled(bytes_done),
        )
        self._clear()
        return rows
