"""What the readers of terms hand on: a batch of documents that bring their own terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.read.batch import Rejected


@dataclass(frozen=True, eq=False)
class TermBatch:
    """Some consecutive rows of the input: the good ones as columns, the bad ones with reasons.

    `ids` are strings or int64. `terms` is a list or large_list of strings, large strings or a
    dictionary of either; `weights`, a list of float64, has the same lengths, and is None where
    the input has none, or where no document of the batch has a term. Nothing in them is null,
    every term is valid UTF-8 and every weight finite; both may be slices.
    `places` holds each document's place in the whole input, rejected rows counted too.
    `made_ids` is that of `neardup.read.batch.Batch`.
    """

    ids: pa.Array
    terms: pa.Array
    weights: pa.Array | None
    places: npt.NDArray[np.int64]
    rejected: tuple[Rejected, ...]
    made_ids: Callable[[], pa.Array] | None = None


@dataclass(frozen=True, eq=False)
class TermRows:
    """The same inside the stage, before ids are settled; see `neardup.read.batch.Rows`."""

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
