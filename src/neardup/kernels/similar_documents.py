"""What true similarity takes and gives: documents as sorted features, and pairs of similar ones.

Document i has the features `hashes[offsets[i]:offsets[i + 1]]`, ascending, each once, with
`weights` beside them; without, each weighs 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SettingError

MEASURES = ("jaccard", "weighted-jaccard", "cosine")
MOST_DOCUMENTS = 2**32 - 1

Offsets = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Weights = NDArray[np.float64]
Documents = tuple[Offsets, Hashes, Weights | None]


@dataclass(frozen=True, eq=False)
class SimilarPairs:
    """Pairs sorted by (a, b), each once; a < b where a collection is joined with itself.

    `compared` is how many pairs were looked at feature by feature to find them.
    """

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    similarity: NDArray[np.float64]
    compared: int

    def __len__(self) -> int:
        return len(self.a)


class TooManyPostingsError(Exception):
    """A join would have to look at more postings than it may; none was looked at."""

    def __init__(self, postings: int) -> None:
        super().__init__(f"{postings} postings would have to be looked at")
        self.postings = postings


def checked_measure(measure: Any, *sides: Documents | None) -> str:
    """A measure by name; Jaccard knows no weights."""
    if measure not in MEASURES:
        raise SettingError(f"measure={measure!r} must be one of {', '.join(MEASURES)}")
    if measure == "jaccard" and any(side is not None and side[2] is not None for side in sides):
        raise SettingError("jaccard takes no weights; leave them out or use weighted-jaccard")
    return str(measure)


def checked_threshold(threshold: Any) -> float:
    """A similarity that pairs are to reach: above 0, at most 1."""
    if isinstance(threshold, bool) or not isinstance(threshold, int | float | np.floating):
        raise SettingError(f"threshold={threshold!r} must be a number")
    if not 0 < threshold <= 1:
        raise SettingError(f"threshold={threshold!r} must be above 0 and at most 1")
    return float(threshold)


def checked_sides(left: Documents, right: Documents | None) -> tuple[Documents, Documents | None]:
    """Both collections in the types that the kernels take; what is in them is checked there."""
    if right is not None:
        if (left[2] is None) != (right[2] is None):
            raise SettingError("both collections need weights, or neither")
        right = _documents(right, "right")
    return _documents(left, "left"), right


def checked_places(places: Any, count: int, name: str) -> NDArray[np.int64]:
    """Numbers of documents that are there."""
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
