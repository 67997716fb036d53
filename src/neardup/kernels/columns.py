"""Conversions between Arrow columns and NumPy arrays, without copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def string_buffers(array: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes and offsets of a string array; the bytes are not copied."""
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


def column_of(values: NDArray[Any], nulls: NDArray[np.bool_] | None = None) -> pa.Array:
    """An Arrow array of numbers or flags, null where `nulls` is true.

    Unlike `pa.array`, it does not import pandas, which takes longer than many runs.

    >>> column_of(np.array([3, 1, 2]), np.array([False, True, False])).to_pylist()
    [3, None, 2]
    """
    kind = pa.from_numpy_dtype(values.dtype)
    content = _bits(values) if pa.types.is_boolean(kind) else np.ascontiguousarray(values)
    validity = None if nulls is None else pa.py_buffer(_bits(~nulls))
    return pa.Array.from_buffers(kind, len(values), [validity, pa.py_buffer(content)])


def text_column(texts: Sequence[str]) -> pa.Array:
    """An Arrow array of strings without nulls, likewise without pandas.

    >>> text_column(["to be", "", "不"]).to_pylist()
    ['to be', '', '不']
    """
    encoded = [text.encode() for text in texts]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string(), len(encoded), buffers)


def _bits(flags: NDArray[np.bool_]) -> NDArray[np.uint8]:
    return np.packbits(flags, bitorder="little")
