"""Weights: how much each feature of a document counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Counted(Protocol):
    """What `Features` and `Terms` have in common."""

    @property
    def offsets(self) -> NDArray[np.int64]: ...  # noqa: D102
    @property
    def counts(self) -> Floats: ...  # noqa: D102
    @property
    def scale(self) -> Floats | None: ...  # noqa: D102
    @property
    def hashes(self) -> NDArray[np.uint64]: ...  # noqa: D102


Idf = Callable[[NDArray[np.uint64]], Floats]


def weights_of(documents: Counted, how: str, idf: Idf | None = None) -> Floats:
    """The weight of every feature of every document.

    `set` counts each once, `count` and `given` as often as it occurs or is said to weigh, `tfidf`
    as often as it occurs times its `idf`; `tfidf:lab` divides by the largest count of the document
    and makes the weights of each document a vector of length one.
    """
    if how == "set":
        return _scaled(np.ones(len(documents.counts)), documents.scale)
    if how in ("count", "given"):
        return _scaled(documents.counts, documents.scale)
    if idf is None:
        raise ValueError(f"weights={how!r} need the idf of the features")
    if how == "tfidf":
        return _scaled(documents.counts * idf(documents.hashes), documents.scale)
    largest = _per_document(np.maximum, documents.counts, documents.offsets)
    frequencies = documents.counts / np.where(largest == 0, 1, largest)
    weights = _scaled(frequencies * idf(documents.hashes), documents.scale)
    lengths = np.sqrt(_per_document(np.add, weights * weights, documents.offsets))
    return np.asarray(weights / np.where(lengths == 0, 1, lengths))


def _scaled(weights: Floats, scale: Floats | None) -> Floats:
    return weights if scale is None else weights * scale


def _per_document(combine: np.ufunc, values: Floats, offsets: NDArray[np.int64]) -> Floats:
    """What the values of a document combine to, for each of them."""
    sizes = np.diff(offsets)
    starts = offsets[:-1][sizes > 0]
    if not len(starts):
        return values
    return np.repeat(combine.reduceat(values[offsets[0] :], starts - offsets[0]), sizes[sizes > 0])
