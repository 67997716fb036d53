"""Slices: cutting a column into parts of bounded size without copying."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def bounded(texts: pa.Array, batch_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of parts of at most `batch_bytes` of text; a larger text goes alone."""
    width = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    if len(texts):
        offsets = np.frombuffer(texts.buffers()[1], width)[texts.offset :][: len(texts) + 1]
        yield from bounded_offsets(offsets, batch_bytes)


def bounded_offsets(offsets: npt.NDArray[Any], most: int) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of parts that span at most `most`; a longer row goes alone.

    >>> list(bounded_offsets(np.array([0, 2, 3, 9, 9]), 3))
    [(0, 2), (2, 3), (3, 4)]
    """
    start, end = 0, len(offsets) - 1
    while start < end:
        limit = int(offsets[start]) + most
        stop = max(start + 1, int(np.searchsorted(offsets, limit, side="right")) - 1)
        yield start, min(stop, end)
        start = stop
