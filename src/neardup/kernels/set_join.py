"""Set joins: exact similarity of given pairs, and every pair that reaches a threshold.

Document i has the features `hashes[offsets[i]:offsets[i + 1]]`, distinct and ascending, and their
`weights`: 0, or from 1e-100 to 1e100; without weights each feature weighs 1. An empty document has
similarity 0 to all others; equal documents have similarity 1. The twin is `reference.set_join`.

"inclusion" has a direction: it is the part of the first document of a pair that the second one has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.frozen import dataclass
from neardup.kernels import _native
from neardup.kernels._native import TooManyPairsError

MEASURES = ("jaccard", "weighted-jaccard", "cosine", "containment", "inclusion")
MOST_DOCUMENTS = 2**32 - 1

Offsets = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Weights = NDArray[np.float64]
Documents = tuple[Offsets, Hashes, Weights | None]
Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]

NO_PAIRS: Pairs = (np.zeros(0, np.int64), np.zeros(0, np.int64))


Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class SimilarPairs:
    """Pairs sorted by (a, b), each once; a < b where a collection is joined with itself.

    By inclusion, a of such a pair can come after b, and two documents can be two pairs.
    `compared` is the number of pairs that were compared feature by feature to find them.
    """

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    similarity: NDArray[np.float64]
    compared: int

    def __len__(self) -> int:
        return len(self.a)


class TooManyPostingsError(Exception):
    """A join would read more postings than `most_postings`; it did not start."""

    def __init__(self, postings: int) -> None:
        super().__init__(f"the join would read {postings} postings")
        self.postings = postings


def checked_measure(measure: Any, *sides: Documents | None) -> str:
    """Check the name of a measure; jaccard takes no weights."""
    if measure not in MEASURES:
        raise SettingError(f"measure={measure!r} must be one of {', '.join(MEASURES)}")
    if measure == "jaccard" and any(side is not None and side[2] is not None for side in sides):
        raise SettingError("jaccard takes no weights; leave them out or use weighted-jaccard")
    return str(measure)


def checked_threshold(threshold: Any) -> float:
    """Check the lowest similarity of pairs: above 0 and at most 1."""
    if isinstance(threshold, bool) or not isinstance(threshold, int | float | np.floating):
        raise SettingError(f"threshold={threshold!r} must be a number")
    if not 0 < threshold <= 1:
        raise SettingError(f"threshold={threshold!r} must be above 0 and at most 1")
    return float(threshold)


def checked_sides(left: Documents, right: Documents | None) -> tuple[Documents, Documents | None]:
    """Check the types of both collections; the kernels check the values."""
    if right is not None:
        if (left[2] is None) != (right[2] is None):
            raise SettingError("both collections need weights, or neither")
        right = _documents(right, "right")
    return _documents(left, "left"), right


def checked_places(places: Any, count: int, name: str) -> NDArray[np.int64]:
    """Check that places are numbers of the `count` documents."""
    array = np.asarray(places)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise SettingError(f"{name} must be a list of whole numbers")
    if array.size and (array.min() < 0 or array.max() >= count):
        raise SettingError(f"{name} names a document that is not among the {count}")
    return np.ascontiguousarray(array, np.int64)


def _documents(side: Documents, name: str) -> Documents:
    offsets, hashes, weights = side
    for part, array, dtype in (
        ("offsets", offsets, np.int64),
        ("hashes", hashes, np.uint64),
        ("weights", weights, np.float64),
    ):
        if array is None and part == "weights":
            continue
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
            raise SettingError(f"the {part} of {name} must be a flat {np.dtype(dtype)} array")
    if not 1 <= len(offsets) <= MOST_DOCUMENTS:
        raise SettingError(f"the offsets of {name} must be one more than its documents")
    return (
        np.ascontiguousarray(offsets),
        np.ascontiguousarray(hashes),
        None if weights is None else np.ascontiguousarray(weights),
    )


__all__ = [
    "PossiblePartners",
    "SimilarPairs",
    "TooManyPairsError",
    "TooManyPostingsError",
    "components",
    "dense_clusters",
    "join_similar",
    "predict_similar",
    "similarities",
]


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
    """The exact similarity of documents a[i] and b[i]; with `right`, b refers to that collection.

    `measure` is "jaccard", which takes no weights, or another one of `MEASURES`.
    """
    left, right = checked_sides((offsets, hashes, weights), right)
    measure = checked_measure(measure, left, right)
    a = checked_places(a, len(left[0]) - 1, "a")
    b = checked_places(b, len((right or left)[0]) - 1, "b")
    return refused_in_a_sentence(
        lambda: _native.similarities(left, right, a, b, measure=measure, threads=threads)
    )


def join_similar(
    offsets: Offsets,
    hashes: Hashes,
    weights: Weights | None,
    *,
    measure: str,
    threshold: float,
    right: Documents | None = None,
    most_postings: int | None = None,
    most_pairs: int | None = None,
    threads: int = 1,
) -> SimilarPairs:
    """Every pair of documents whose similarity is at least `threshold`, guaranteed.

    With `right`, each pair has its second document in that collection. Every two equal documents
    are a pair; to avoid these pairs, join one document of each content. Raises
    `TooManyPostingsError` if `predict_similar` counts more than `most_postings`, and
    `TooManyPairsError` if there are more than `most_pairs`, with any number of threads.
    """
    left, right = checked_sides((offsets, hashes, weights), right)
    measure, threshold = checked_measure(measure, left, right), checked_threshold(threshold)
    found = refused_in_a_sentence(
        lambda: _native.join_similar(
            left,
            right,
            measure=measure,
            threshold=threshold,
            most_postings=2**64 - 1 if most_postings is None else most_postings,
            most_pairs=2**64 - 1 if most_pairs is None else most_pairs,
            threads=threads,
        )
    )
    a, b, similarity, compared, postings, done = found
    if not done:
        raise TooManyPostingsError(postings)
    return SimilarPairs(a, b, similarity, compared)


def predict_similar(
    offsets: Offsets,
    hashes: Hashes,
    weights: Weights | None,
    *,
    measure: str,
    threshold: float,
    right: Documents | None = None,
    threads: int = 1,
) -> int:
    """The number of postings that `join_similar` would read: its work beyond reading the features.

    The number is exact; counting costs as much as the linear part of the join.
    """
    left, right = checked_sides((offsets, hashes, weights), right)
    measure, threshold = checked_measure(measure, left, right), checked_threshold(threshold)
    return refused_in_a_sentence(
        lambda: _native.predict_similar(
            left, right, measure=measure, threshold=threshold, threads=threads
        )
    )


class PossiblePartners:
    """Finds documents that cannot be in a pair because they share too few features with others.

    Each collection is passed twice, part by part: first all parts to `see`, then all parts to
    `keep_possible`. `features` is the approximate number of features; with `two` collections, only
    features of both count. A document that is in a pair is never excluded; some that are in none
    remain.
    """

    def __init__(
        self, features: int, *, measure: str, threshold: float, two: bool = False, threads: int = 1
    ) -> None:
        self._filter = _native.SharedFilter(features, two)
        self._measure, self._threshold = checked_measure(measure), checked_threshold(threshold)
        self._threads = threads

    def see(self, part: Documents, wanted: NDArray[np.bool_], *, right: bool = False) -> None:
        """Record the features of the documents whose flag is set in `wanted`."""
        part, _ = checked_sides(part, None)
        refused_in_a_sentence(
            lambda: self._filter.see(part, wanted, right=right, threads=self._threads)
        )

    def keep_possible(self, part: Documents, wanted: NDArray[np.bool_]) -> None:
        """Clear the flags in `wanted` of documents that cannot be in a pair."""
        part, _ = checked_sides(part, None)
        checked_measure(self._measure, part)
        refused_in_a_sentence(
            lambda: self._filter.keep_possible(
                part,
                wanted,
                measure=self._measure,
                threshold=self._threshold,
                threads=self._threads,
            )
        )


def components(n: int, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """The smallest member of each document's connected component, by pairs (a[i], b[i])."""
    if not 0 <= n <= MOST_DOCUMENTS:
        raise SettingError(f"n={n!r} must be a number of documents from 0 to {MOST_DOCUMENTS}")
    a, b = checked_places(a, n, "a"), checked_places(b, n, "b")
    return refused_in_a_sentence(lambda: _native.components(n, a, b))


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
    """The smallest node of each node's dense cluster; `documents` is how many each stands for.

    The pairs (a[i], b[i]), each named once, are taken in their order. The first `certain` join two
    clusters in any case, the others if at least `share` of the cross pairs of documents are pairs.
    Clusters with two nodes that are `apart` are never joined. Nodes from `first_other` on are of
    another collection: two of them were not compared, and do not count as cross pair.

    >>> path = np.array([0, 1, 2]), np.array([1, 2, 3])
    >>> dense_clusters(np.ones(4, np.int64), *path, 0.25).tolist()
    [0, 0, 0, 0]
    >>> dense_clusters(np.ones(4, np.int64), *path, 0.5).tolist()
    [0, 0, 0, 3]
    """
    count = len(documents)
    a, b = checked_places(a, count, "a"), checked_places(b, count, "b")
    apart_a, apart_b = (checked_places(side, count, "apart") for side in apart)
    return refused_in_a_sentence(
        lambda: _native.dense_clusters(
            np.ascontiguousarray(documents, np.int64),
            a,
            b,
            share,
            first_other=count if first_other is None else first_other,
            certain=certain,
            apart_a=apart_a,
            apart_b=apart_b,
        )
    )


def refused_in_a_sentence(work: Callable[[], Found]) -> Found:
    """Raise the errors of the native module, which checks the values, as `SettingError`."""
    try:
        return work()
    except ValueError as error:
        raise SettingError(str(error)) from None
