"""Texts without some of their parts, and the parts put back."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.kernels.columns import chosen, string_buffers

Places = NDArray[np.int64]


def cut_out(texts: pa.Array, rows: Places, begins: Places, ends: Places) -> pa.Array:
    """The texts without some ranges of bytes: from `begins` to `ends` in the texts at `rows`.

    Ranges may come in any order, and overlap.

    >>> ranges = [np.array(some) for some in ([0, 0], [1, 3], [6, 5])]
    >>> cut_out(pa.array(["a long text", "kept"]), *ranges).to_pylist()
    ['a text', 'kept']
    """
    data, offsets = string_buffers(texts)
    begins, ends = np.sort(offsets[rows] + begins), np.sort(offsets[rows] + ends)
    bounds = np.sort(np.concatenate((offsets, begins, ends)))
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(data)]
    pieces = pa.Array.from_buffers(pa.large_string(), len(bounds) - 1, buffers)
    # A piece is inside a range if more ranges have begun than ended where it begins.
    open_ranges = np.searchsorted(begins, bounds[:-1], "right") - np.searchsorted(
        ends, bounds[:-1], "right"
    )
    keeps = open_ranges == 0
    kept_data, kept_bounds = string_buffers(chosen(pieces, keeps))
    kept_before = np.append(0, np.cumsum(keeps))
    own = kept_bounds[kept_before[np.searchsorted(bounds, offsets)]]
    buffers = [None, pa.py_buffer(np.ascontiguousarray(own)), pa.py_buffer(kept_data)]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers)


def put_back(text: str, parts: list[tuple[int, str]]) -> str:
    """The text before parts were cut out of it; each comes with where it began, in characters.

    >>> put_back("a text", [(1, " long")])
    'a long text'
    """
    for start, part in sorted(parts):
        text = text[:start] + part + text[start:]
    return text
