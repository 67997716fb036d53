"""Sentence kernels: texts → sentences. The twin is `reference.sentences`.

`neardup.features.sentences` states the rules. String arrays must not hold nulls.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.kernels import _native
from neardup.kernels.columns import string_buffers


def cut_sentences(
    texts: pa.Array, *, edges: bool, threads: int = 1
) -> tuple[NDArray[np.int64], pa.Array]:
    """Cut texts into sentences; returns offsets and a column of the sentences of all texts.

    Text i has the sentences from `offsets[i]` to `offsets[i + 1]`: all of them or, with `edges`,
    its title and the first and last one of each paragraph.
    """
    found, data, ends = _native.sentences(*string_buffers(texts), edges=edges, threads=threads)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(data)]
    return found, pa.Array.from_buffers(pa.large_string(), len(ends) - 1, buffers)


def longest_sentences(
    offsets: NDArray[np.int64],
    sentences: pa.Array,
    words: NDArray[np.uint32],
    hashes: NDArray[np.uint64],
    count: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Choose the sentences with the most words; returns offsets and the places of the chosen ones.

    On ties, the sentence with more code points, then the earlier one; of sentences with the same
    hash, only the first of these.
    """
    return _native.longest_sentences(
        *string_buffers(sentences), offsets, words, hashes, count=count
    )
