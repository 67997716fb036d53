"""String columns as the native code reads them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def string_buffers(array: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes and offsets of a string array, the bytes uncopied."""
    if not pa.types.is_large_string(array.type):
        array = array.cast(pa.large_string())
    _, offsets, data = array.buffers()
    if len(array) == 0:
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    every = np.frombuffer(offsets, np.int64)
    return (
        np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8),
        every[array.offset : array.offset + len(array) + 1],
    )
