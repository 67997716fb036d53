"""The twin of the star join: the sequential definition, comparing every pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup.kernels.reference.set_join import similarities
from neardup.kernels.set_join import Documents

Places = NDArray[np.int64]


def stars(
    documents: Documents,
    order: Places,
    *,
    measure: str,
    threshold: float,
    kept_first: int = 0,
    within: bool = True,
) -> tuple[Places, NDArray[np.float64]]:
    """For each document the kept one that it duplicates, and their similarity.

    Documents are visited in `order`. The first `kept_first` of them are kept whatever they are
    similar to; without `within`, the others are compared with those only. A document without
    features is kept. A kept document has its own place and the similarity NaN.
    """
    count = len(documents[0]) - 1
    sizes = np.diff(documents[0])
    kept_for = np.arange(count, dtype=np.int64)
    similarity = np.full(count, np.nan)
    kept: list[int] = []
    for turn, place in enumerate(order.tolist()):
        if not sizes[place]:
            continue
        if turn >= kept_first and kept:
            others = np.array(kept, np.int64)
            a, b = np.minimum(others, place), np.maximum(others, place)
            if measure == "inclusion":  # of the document in the kept one
                a, b = np.full_like(others, place), others
            found = similarities(*documents, a, b, measure=measure)
            best = int(np.argmax(found))  # the first of the most similar
            if found[best] >= threshold:
                kept_for[place], similarity[place] = kept[best], found[best]
                continue
        if turn < kept_first or within:
            kept.append(place)
    return kept_for, similarity
