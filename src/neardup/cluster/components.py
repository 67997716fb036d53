"""Connected components: what hangs together through any chain of pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]


def components(n: int, a: Places, b: Places) -> Places:
    """For each of n documents, the smallest one that a chain of pairs connects it with.

    >>> components(5, np.array([1, 3]), np.array([3, 4])).tolist()
    [0, 1, 2, 1, 1]
    """
    label = np.arange(n, dtype=np.int64)
    left, right = np.asarray(a, np.int64), np.asarray(b, np.int64)
    # Labels are roots here. In each round every root with a smaller neighbour hangs itself onto
    # its smallest one; in any two rounds at least half of the roots that have neighbours go.
    while len(left):
        np.minimum.at(label, np.maximum(left, right), np.minimum(left, right))
        _point_at_roots(label)
        left, right = label[left], label[right]
        apart = left != right
        left, right = left[apart], right[apart]
    return label


def _point_at_roots(label: Places) -> None:
    """Halve every path until each label is a root."""
    while True:
        further = label[label]
        if np.array_equal(further, label):
            return
        label[:] = further
