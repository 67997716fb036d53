"""The twin of the set joins: compares every pair, feature by feature.

`neardup.kernels.set_join` must find exactly the same pairs, with similarities equal to the last
bit; sums are `math.fsum`, which does not depend on the order. Only `compared` may differ: here it
counts every pair.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.kernels.set_join import (
    NO_PAIRS,
    Documents,
    Hashes,
    Offsets,
    Pairs,
    SimilarPairs,
    Weights,
    checked_measure,
    checked_places,
    checked_sides,
    checked_threshold,
)

__all__ = [
    "SimilarPairs",
    "components",
    "dense_clusters",
    "join_similar",
    "predict_similar",
    "similarities",
]

Weighed = dict[int, float]


def similarities(
    offsets: Offsets,
    hashes: Hashes,
    weights: Weights | None,
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    *,
    measure: str,
    right: Documents | None = None,
    threads: int = 1,
) -> NDArray[np.float64]:
    """The exact similarity of documents a[i] and b[i]."""
    left, right = checked_sides((offsets, hashes, weights), right)
    measure = checked_measure(measure, left, right)
    documents = list(_weighed(left))
    others = documents if right is None else list(_weighed(right))
    a = checked_places(a, len(documents), "a")
    b = checked_places(b, len(others), "b")
    if len(a) != len(b):
        raise SettingError("a and b must be of one length")
    pairs = zip(a.tolist(), b.tolist(), strict=True)
    return np.array([_similarity(documents[i], others[j], measure) for i, j in pairs], np.float64)


def join_similar(
    offsets: Offsets,
    hashes: Hashes,
    weights: Weights | None,
    *,
    measure: str,
    threshold: float,
    right: Documents | None = None,
    threads: int = 1,
) -> SimilarPairs:
    """Every pair of documents whose similarity is at least `threshold`."""
    left, right = checked_sides((offsets, hashes, weights), right)
    threshold = checked_threshold(threshold)
    count = len(offsets) - 1
    if right is None and measure == "inclusion":
        a, b = np.nonzero(~np.eye(count, dtype=np.bool_))
    elif right is None:
        a, b = np.triu_indices(count, 1)
    else:
        a, b = (places.ravel() for places in np.indices((count, len(right[0]) - 1)))
    found = similarities(*left, a, b, measure=measure, right=right)
    near = found >= threshold
    return SimilarPairs(
        a[near].astype(np.int64), b[near].astype(np.int64), found[near], compared=len(found)
    )


def predict_similar(
    offsets: Offsets,
    hashes: Hashes,
    weights: Weights | None,
    *,
    measure: str,
    threshold: float,
    right: Documents | None = None,
) -> int:
    """How often two documents share a feature: an upper bound on what the join reads."""
    left, right = checked_sides((offsets, hashes, weights), right)
    checked_measure(measure, left, right)
    checked_threshold(threshold)
    counts = Counter(key for document in _weighed(left) for key in document)
    if right is None and measure == "inclusion":
        return sum(count**2 for count in counts.values())
    if right is None:
        return sum(count * (count - 1) // 2 for count in counts.values())
    others = Counter(key for document in _weighed(right) for key in document)
    return sum(count * others[key] for key, count in counts.items())


def components(n: int, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """The smallest member of each document's connected component, by pairs (a[i], b[i])."""
    a, b = checked_places(a, n, "a"), checked_places(b, n, "b")
    if len(a) != len(b):
        raise SettingError("a and b must be of one length")
    smallest = np.arange(n, dtype=np.int64)
    while True:
        before = smallest.copy()
        np.minimum.at(smallest, a, before[b])
        np.minimum.at(smallest, b, before[a])
        if np.array_equal(smallest, before):
            return smallest


def dense_clusters(
    documents: NDArray[np.int64],
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    share: float,
    *,
    first_other: int | None = None,
    certain: int = 0,
    apart: Pairs = NO_PAIRS,
) -> NDArray[np.int64]:
    """The smallest node of each node's dense cluster; counts the cross pairs anew at every pair."""
    count = len(documents)
    sizes = [int(size) for size in documents]
    others = range(count if first_other is None else first_other, count)
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    never = list(zip(apart[0].tolist(), apart[1].tolist(), strict=True))
    clusters = {node: frozenset([node]) for node in range(count)}

    def between(some: list[tuple[int, int]], x: frozenset[int], y: frozenset[int]) -> int:
        return sum(
            sizes[p] * sizes[q] for p, q in some if (p in x and q in y) or (p in y and q in x)
        )

    for number, (one, other) in enumerate(pairs):
        x, y = clusters[one], clusters[other]
        if x is y or between(never, x, y):
            continue
        possible = sum(
            sizes[p] * sizes[q] for p in x for q in y if p not in others or q not in others
        )
        if number >= certain and between(pairs, x, y) / possible < share:
            continue
        clusters |= dict.fromkeys(x | y, x | y)
    return np.array([min(clusters[node]) for node in range(count)], np.int64)


def _weighed(side: Documents) -> Iterator[Weighed]:
    offsets, hashes, weights = side
    if np.any(np.diff(offsets) < 0) or offsets[0] < 0 or offsets[-1] > len(hashes):
        raise SettingError("offsets must not decrease, nor point outside the features")
    if weights is None:
        weights = np.ones(len(hashes))
    if len(weights) != len(hashes):
        raise SettingError("every feature needs its weight")
    for start, stop in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        keys, values = hashes[start:stop], weights[start:stop]
        if np.any(keys[1:] <= keys[:-1]):
            raise SettingError("the features of a document must ascend, each once")
        if not np.all((values == 0) | ((values >= 1e-100) & (values <= 1e100))):
            raise SettingError("weights must be 0, or from 1e-100 to 1e100")
        yield dict(zip(keys.tolist(), values.tolist(), strict=True))


def _similarity(a: Weighed, b: Weighed, measure: str) -> float:
    if measure in ("containment", "inclusion"):
        return _part(a, b, measure)
    return _cosine(a, b) if measure == "cosine" else _weighted_jaccard(a, b)


def _part(a: Weighed, b: Weighed, measure: str) -> float:
    smaller = math.fsum(min(weight, b[key]) for key, weight in a.items() if key in b)
    mass = math.fsum(a.values())
    if measure == "containment":
        mass = min(mass, math.fsum(b.values()))
    return min(smaller / mass, 1.0) if mass else 0.0


def _weighted_jaccard(a: Weighed, b: Weighed) -> float:
    smaller = math.fsum(min(weight, b[key]) for key, weight in a.items() if key in b)
    larger = math.fsum(max(weight, b.get(key, 0)) for key, weight in a.items())
    larger += math.fsum(weight for key, weight in b.items() if key not in a)
    return min(smaller / larger, 1.0) if larger else 0.0


def _cosine(a: Weighed, b: Weighed) -> float:
    dot = math.fsum(weight * b[key] for key, weight in a.items() if key in b)
    if not dot:
        return 0.0
    square_a = math.fsum(weight * weight for weight in a.values())
    square_b = math.fsum(weight * weight for weight in b.values())
    return min(math.sqrt((dot / square_a) * (dot / square_b)), 1.0)
