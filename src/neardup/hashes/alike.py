"""Terms of one size together, so that NumPy can hash them side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

# A step over fewer terms than this takes NumPy longer than plain Python takes for all of them.
_FEW = 32


def hash_alike(
    terms: Sequence[str],
    sizes: Iterable[int],
    side_by_side: Callable[[list[str], int], NDArray[np.uint64]],
    one: Callable[[str], int],
) -> NDArray[np.uint64]:
    """Hash terms to 64 bits: those of one size by `side_by_side(terms, size)`, rare ones by `one`.

    >>> hash_alike(["a", "bcd"], [1, 3], lambda same, size: np.zeros(len(same)), len).tolist()
    [1, 3]
    """
    hashes = np.empty(len(terms), np.uint64)
    every = np.fromiter(sizes, np.int64, len(terms))
    order = np.argsort(every, kind="stable")
    edges = np.flatnonzero(np.diff(every[order])) + 1
    for places in np.split(order, edges):
        same = [terms[place] for place in places]
        if len(same) < _FEW:
            hashes[places] = np.fromiter(map(one, same), np.uint64, len(same))
        else:
            hashes[places] = side_by_side(same, int(every[places[0]]))
    return hashes
