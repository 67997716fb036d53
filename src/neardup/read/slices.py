"""Slices: cutting a column of texts into parts of bounded size without copying."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa


def bounded(texts: pa.Array, batch_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of parts of at most `batch_bytes` of text; a larger text goes alone."""
    width = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    if not len(texts):
        return
    offsets = np.frombuffer(texts.buffers()[1], width)[texts.offset :][: len(texts) + 1]
    start = 0
    while start < len(texts):
        limit = int(offsets[start]) + batch_bytes
        stop = max(start + 1, int(np.searchsorted(offsets, limit, side="right")) - 1)
        yield start, min(stop, len(texts))
        start = stop
