"""Chains of pairs: how each document of a component is connected to the kept one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup.frozen import dataclass

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Chains:
    """For each document the nearest kept one, and the next one on a shortest chain to it.

    `pair` is a row of the pairs that the chains were made of. `next` and `pair` are -1 for the kept
    documents. All are -1 for documents that no chain connects to a kept one.
    """

    kept: Places
    next: Places
    pair: Places


def chains(n: int, a: Places, b: Places, kept: Places) -> Chains:
    """Shortest chains of pairs from n documents to the `kept` ones, ties to the first document.

    A pair is the documents a[i] and b[i], by their numbers.

    >>> chains(4, np.array([0, 1, 2]), np.array([1, 2, 3]), np.array([0])).next.tolist()
    [-1, 0, 1, 2]
    """
    one, other = np.concatenate((a, b)), np.concatenate((b, a))
    order = np.lexsort((other, one))
    neighbours, pairs = other[order], order % max(1, len(a))
    begins = np.searchsorted(one[order], np.arange(n + 1))
    found = Chains(*(np.full(n, -1, np.int64) for _ in range(3)))
    found.kept[kept] = kept
    level = np.unique(kept)
    while len(level):
        counts = begins[level + 1] - begins[level]
        rows = np.repeat(begins[level] - np.cumsum(counts) + counts, counts)
        rows += np.arange(len(rows))
        source = np.repeat(level, counts)
        fresh = found.kept[neighbours[rows]] < 0
        # Documents of a level ascend, so the first row of a neighbour has its first one.
        next_level, first = np.unique(neighbours[rows[fresh]], return_index=True)
        found.next[next_level] = source[fresh][first]
        found.pair[next_level] = pairs[rows[fresh][first]]
        found.kept[next_level] = found.kept[found.next[next_level]]
        level = next_level
    return found
