"""Weighted features: the weight of each feature, and the feature sets of documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from neardup import kernels
from neardup.frozen import dataclass

Floats = NDArray[np.float64]


Idf = Callable[[NDArray[np.uint64]], Floats]


class Counted(Protocol):
    """What `Features` and `Terms` have in common."""

    @property
    def offsets(self) -> NDArray[np.int64]: ...
    @property
    def counts(self) -> Floats: ...
    @property
    def scale(self) -> Floats | None: ...
    @property
    def hashes(self) -> NDArray[np.uint64]: ...


def weights_of(documents: Counted, how: str, idf: Idf | None = None) -> Floats:
    """The weight of every feature of every document.

    `set` is 1, `count` and `given` are the count or the given weight, `idf` is the `idf`, and
    `tfidf` the count times the `idf`. `tfidf:lab` divides counts by the largest of the
    document, and scales the weights of each document to a vector of length 1.
    """
    if how == "set":
        return _scaled(np.ones(len(documents.counts)), documents.scale)
    if how in ("count", "given"):
        return _scaled(documents.counts, documents.scale)
    if idf is None:
        raise ValueError(f"weights={how!r} need the idf of the features")
    if how == "idf":
        return _scaled(idf(documents.hashes), documents.scale)
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
    """Reduce the values of each document, and repeat the result for each of its values."""
    sizes = np.diff(offsets)
    starts = offsets[:-1][sizes > 0]
    if not len(starts):
        return values
    return np.repeat(combine.reduceat(values[offsets[0] :], starts - offsets[0]), sizes[sizes > 0])


@dataclass(frozen=True, eq=False)
class WeightedFeatures:
    """Document i has the features `hashes[offsets[i]:offsets[i + 1]]`, distinct and ascending.

    `weights` is None if each weighs 1. `words` is the number of words of each document; a document
    without words has no features.
    """

    offsets: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    weights: NDArray[np.float64] | None
    words: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.words)

    @property
    def nbytes(self) -> int:
        weights = 0 if self.weights is None else self.weights.nbytes
        return self.offsets.nbytes + self.hashes.nbytes + weights + self.words.nbytes

    @property
    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.float64] | None]:
        """Offsets, hashes, weights: the arguments of the set joins."""
        return self.offsets, self.hashes, self.weights

    def content_keys(self) -> NDArray[np.uint64]:
        """128 bits per document: equal for equal feature sets, else different up to collisions."""
        return kernels.content_keys(*self.arrays)

    def take(self, places: NDArray[np.int64]) -> WeightedFeatures:
        """The documents at these places, in this order."""
        places = np.ascontiguousarray(places, np.int64)
        offsets, hashes, weights = kernels.take_features(*self.arrays, places)
        return WeightedFeatures(offsets, hashes, weights, self.words[places])


def in_order(
    offsets: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    weights: NDArray[np.float64],
    words: NDArray[np.uint32],
    *,
    threads: int = 1,
) -> WeightedFeatures:
    """Sort the features of each document; the weights of equal ones add up."""
    ordered = kernels.order_features(offsets, hashes, weights, threads=threads)
    return WeightedFeatures(*ordered, words)


def joined(parts: list[WeightedFeatures]) -> WeightedFeatures:
    """Concatenate the documents of several batches.

    The list is emptied meanwhile, so that the features are never in memory twice.
    """
    if len(parts) == 1:
        return parts.pop()
    counts = np.concatenate([np.zeros(0, np.int64), *(np.diff(part.offsets) for part in parts)])
    words = np.concatenate([np.zeros(0, np.uint32), *(part.words for part in parts)])
    weighted = any(part.weights is not None for part in parts)
    offsets = np.concatenate(([0], np.cumsum(counts)))
    hashes = np.empty(offsets[-1], np.uint64)
    weights = np.empty(offsets[-1], np.float64) if weighted else None
    at = 0
    for part in _taken(parts):
        hashes[at : at + len(part.hashes)] = part.hashes
        if weights is not None and part.weights is not None:
            weights[at : at + len(part.hashes)] = part.weights
        at += len(part.hashes)
    return WeightedFeatures(offsets, hashes, weights, words)


def _taken(parts: list[WeightedFeatures]) -> Iterator[WeightedFeatures]:
    parts.reverse()
    while parts:
        yield parts.pop()
