"""Conversions between Arrow columns and NumPy arrays, and Arrow's functions on columns.

`pyarrow.compute` makes a function with a docstring of each of 286 kernels when it is imported,
which takes as long as a job of a few documents; the methods `take`, `filter` and `cast` of arrays
import it. The functions here call the same kernels without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow._compute import CastOptions, CountOptions, call_function


def string_buffers(array: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes and offsets of a string array; the bytes are not copied."""
    if not pa.types.is_large_string(array.type):
        array = converted(array, pa.large_string())
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


def taken(values: Any, places: pa.Array) -> Any:
    """The values of a column, or the rows of a batch, at these places: `values.take(places)`."""
    return call_function("take", [values, places])


def chosen(values: Any, flags: NDArray[np.bool_]) -> Any:
    """The values of a column, or the rows of a batch, where a flag is set."""
    return call_function("filter", [values, column_of(flags)])


def converted(values: Any, kind: pa.DataType) -> Any:
    """The values of a column as another type; one that does not fit is an error."""
    return call_function("cast", [values], CastOptions.safe(kind))


def distinct_count(values: Any) -> int:
    """The number of different values of a column, null among them."""
    return int(call_function("count_distinct", [values], CountOptions("all")).as_py())


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """The distinct values, ascending: `np.unique`, which imports NumPy's masked arrays.

    >>> distinct(np.array([3, 1, 3, 2])).tolist()
    [1, 2, 3]
    """
    ordered = np.sort(values)
    is_first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]


def _bits(flags: NDArray[np.bool_]) -> NDArray[np.uint8]:
    return np.packbits(flags, bitorder="little")
