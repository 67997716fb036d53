"""Dense clusters: similar documents, as far as enough of them are similar to each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup.kernels.set_join import dense_clusters

Places = NDArray[np.int64]


def dense(
    kinds: Places,
    documents: int,
    a: Places,
    b: Places,
    similarity: NDArray[np.float64],
    share: float,
) -> Places:
    """For each document that pairs name, the first one of its dense cluster.

    Pairs are taken strongest first, ties by places. A pair joins the clusters of its ends if at
    least `share` of their cross pairs are pairs. `kinds` are the first exact copies, which alone
    are named in pairs and stand for all their copies. Documents from `documents` on are of the
    other collection: two of them are no cross pair, and copies among them count once.

    >>> a, b, similarity = np.array([0, 1, 2]), np.array([1, 2, 3]), np.array([0.9, 0.6, 0.8])
    >>> dense(np.arange(4), 4, a, b, similarity, 0.25).tolist()
    [0, 0, 0, 0]
    >>> dense(np.arange(4), 4, a, b, similarity, 0.5).tolist()
    [0, 0, 2, 2]
    """
    own = kinds[:documents]
    sizes = np.bincount(own[own >= 0], minlength=len(kinds))
    sizes[documents:] = 1
    taken = np.lexsort((b, a, -similarity))
    return dense_clusters(sizes, a[taken], b[taken], share, first_other=documents)
