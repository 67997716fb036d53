"""Stars: a document goes only if it is directly similar to the one that stays for it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]
_PAIRS_AT_A_TIME = 1 << 16  # as Python numbers they take four times the space


def star(a: Places, b: Places, order: Places) -> Places:
    """For each document the kept one it is a duplicate of, itself where it is kept.

    Documents are gone through in `order` (their places, the most wanted first). Each that is still
    there is kept, and removes all that are directly similar to it. So kept documents are never
    similar to each other, and in a chain A~B~C with A first, C is kept.

    >>> star(np.array([0, 1]), np.array([1, 2]), order=np.arange(3)).tolist()
    [0, 0, 2]
    """
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    better, worse = np.minimum(rank[a], rank[b]), np.maximum(rank[a], rank[b])
    by_rank = np.argsort(better, kind="stable")
    # When the pairs of a document come, all that could remove it have had theirs.
    kept_for = list(range(len(order)))
    for start in range(0, len(by_rank), _PAIRS_AT_A_TIME):
        some = by_rank[start : start + _PAIRS_AT_A_TIME]
        for one, other in zip(better[some].tolist(), worse[some].tolist(), strict=True):
            if kept_for[one] == one and kept_for[other] == other:
                kept_for[other] = one
    found = np.empty_like(order)
    found[order] = order[np.array(kept_for, dtype=np.int64)]
    return found
