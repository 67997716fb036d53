"""Pairs of documents as numbers, with the pairs that stars of exact copies stand for."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def keys_of(ids: pa.ChunkedArray, a: pa.ChunkedArray, b: pa.ChunkedArray) -> Ints:
    """A number for each pair of ids: the two rows, the earlier one in the upper 32 bits."""
    rows = [pc.index_in(column, ids.combine_chunks()).to_numpy() for column in (a, b)]
    return _keys(*(column.astype(np.int64) for column in rows))


def every_pair(ids: pa.ChunkedArray, pairs: pa.Table) -> tuple[Ints, NDArray[np.float64]]:
    """All pairs that a table of pairs stands for, and their similarities.

    neardup pairs an exact copy with the first document of its kind only, and one document of each
    kind with those that are near. Of n copies all n (n - 1) / 2 pairs are meant, and what is near
    one of them is near all.
    """
    keys, similarity = keys_of(ids, pairs["a"], pairs["b"]), pairs["similarity"].to_numpy()
    a, b, same = keys >> 32, keys & 0xFFFFFFFF, similarity == 1
    kind = _kinds(len(ids), a[same], b[same])
    members, sizes = np.argsort(kind, kind="stable"), np.bincount(kind)
    repeated = np.flatnonzero(sizes > 1)
    left = np.concatenate((kind[a[~same]], repeated))
    right = np.concatenate((kind[b[~same]], repeated))
    similarity = np.concatenate((similarity[~same], np.ones(len(repeated))))
    counts = sizes[left] * sizes[right]
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    left, right, similarity = (np.repeat(column, counts) for column in (left, right, similarity))
    begins = np.cumsum(sizes) - sizes
    one = members[begins[left] + place // sizes[right]]
    other = members[begins[right] + place % sizes[right]]
    once = (left != right) | (one < other)
    found, first = np.unique(_keys(one[once], other[once]), return_index=True)
    return found, similarity[once][first]


def _kinds(n: int, a: Ints, b: Ints) -> Ints:
    """For each of n documents the number of its kind, where these pairs are of one kind."""
    parent = list(range(n))

    def first(row: int) -> int:
        while parent[row] != row:
            parent[row] = row = parent[parent[row]]
        return row

    for one, other in zip(a.tolist(), b.tolist(), strict=True):
        parent[first(other)] = first(one)
    return np.unique([first(row) for row in range(n)], return_inverse=True)[1]


def _keys(a: Ints, b: Ints) -> Ints:
    return np.asarray((np.minimum(a, b).astype(np.int64) << 32) | np.maximum(a, b))
