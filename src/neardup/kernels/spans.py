"""Runs of words that two documents share. The twin is `reference.spans`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup.kernels import _native

Hashes = NDArray[np.uint64]
Places = NDArray[np.int64]


def word_hashes(text: str, *, isa: str = "auto") -> Hashes:
    """The hashes of the words of a text, lower-cased, in order.

    >>> one, two, three = word_hashes("Ah, ah! Oh.").tolist()
    >>> one == two != three
    True
    """
    return _native.word_hashes(np.frombuffer(text.encode(), np.uint8), isa=isa)


def shared_runs(first: Hashes, second: Hashes, *, least: int) -> tuple[Places, Places, Places]:
    """Every run of `least` or more words of the first document that the second has, too.

    Of runs inside each other the longest. Returns the first word of each in the first document, in
    order, that of its first occurrence in the second, and its length. Time is linear.

    >>> a, b = np.array([1, 2, 3, 9, 2], np.uint64), np.array([7, 2, 3, 1, 2, 3], np.uint64)
    >>> [places.tolist() for places in shared_runs(a, b, least=1)]
    [[0, 4], [3, 1], [3, 1]]
    """
    return _native.shared_runs(
        np.ascontiguousarray(first), np.ascontiguousarray(second), least=least
    )
