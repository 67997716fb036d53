"""Text kernels: texts → fingerprints or hashed features, weighted features → fingerprints.

String arrays must not hold nulls. With a `key`, features are hashed by the keyed hash, else by
plain nd1. Fingerprints are rows of 64-bit words. The twin is `reference.text`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.kernels import _native
from neardup.kernels.columns import string_buffers
from neardup.kernels.hash_key import NO_KEY, HashKey

__all__ = [
    "FeatureCounts",
    "content_keys",
    "find_features",
    "find_sets",
    "fingerprint",
    "is_utf8",
    "order_features",
    "take_features",
    "weigh",
    "weigh_features",
]

FeatureCounts = _native.FeatureCounts


def is_utf8(texts: pa.Array, *, isa: str = "auto") -> bool:
    """Whether every string of an array is well-formed UTF-8; several times as fast as Arrow."""
    data, offsets = string_buffers(texts)
    return _native.is_utf8(data, offsets, isa=isa)


def fingerprint(
    texts: pa.Array,
    *,
    unit: str,
    size: int,
    distinct: bool,
    bits: int,
    ties_up: bool,
    key: HashKey | None = None,
    threads: int = 1,
    isa: str = "auto",
) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Fingerprint texts by one kind of shingle; returns the fingerprints and the word counts."""
    data, offsets = string_buffers(texts)
    return _native.fingerprint(
        data,
        offsets,
        words=unit == "word",
        size=size,
        distinct=distinct,
        bits=bits,
        ties_up=ties_up,
        key=_words(key),
        threads=threads,
        isa=isa,
    )


def find_features(
    texts: pa.Array,
    shingles: Sequence[tuple[str, int]],
    *,
    key: HashKey | None = None,
    threads: int = 1,
    isa: str = "auto",
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]:
    """Find the features of texts; returns offsets, hashes, counts and word counts.

    `hashes[offsets[i]:offsets[i + 1]]` are the distinct features of document i, ascending: the
    union over all kinds of `shingles` (unit, size). `counts` says how often each occurs.
    """
    return _features(texts, shingles, True, key, threads, isa)


def find_sets(
    texts: pa.Array,
    shingles: Sequence[tuple[str, int]],
    *,
    key: HashKey | None = None,
    threads: int = 1,
    isa: str = "auto",
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint32]]:
    """Like `find_features` without the counts; returns offsets, hashes and word counts."""
    offsets, hashes, _, words = _features(texts, shingles, False, key, threads, isa)
    return offsets, hashes, words


def _features(
    texts: pa.Array,
    shingles: Sequence[tuple[str, int]],
    with_counts: bool,
    key: HashKey | None,
    threads: int,
    isa: str,
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]:
    data, offsets = string_buffers(texts)
    kinds = [(unit == "word", size) for unit, size in shingles]
    return _native.features(
        data,
        offsets,
        shingles=kinds,
        with_counts=with_counts,
        key=_words(key),
        threads=threads,
        isa=isa,
    )


def content_keys(
    offsets: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.uint64]:
    """Two words for each document, equal for equal features, else different up to collisions.

    Document i has the features `hashes[offsets[i]:offsets[i + 1]]`, distinct and ascending.
    """
    return _native.content_keys(offsets, hashes, weights)


def order_features(
    offsets: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    weights: NDArray[np.float64],
    *,
    threads: int = 1,
    isa: str = "auto",
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.float64]]:
    """The features of each document in ascending order, each once: offsets, hashes and weights.

    The weights of equal features are added in the order in which they come.
    """
    return _native.order_features(offsets, hashes, weights, threads=threads, isa=isa)


def take_features(
    offsets: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    weights: NDArray[np.float64] | None,
    places: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.float64] | None]:
    """The features of the documents at these places: offsets, hashes and weights."""
    found, taken = _native.take_values(offsets, hashes, places)
    if weights is None:
        return found, taken, None
    some = _native.take_values(offsets, weights.view(np.uint64), places)[1]
    return found, taken, some.view(np.float64)


def weigh(
    offsets: NDArray[np.int64],
    places: NDArray[np.int32],
    weights: NDArray[np.float64],
    digests: NDArray[np.uint64],
    *,
    bits: int,
    ties_up: bool,
    with_sums: bool = False,
    threads: int = 1,
    isa: str = "auto",
) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """Fingerprint documents of weighted terms; returns fingerprints and, if requested, the sums.

    Document i has the terms `places[offsets[i]:offsets[i + 1]]`, each a row of `digests`.
    """
    return _native.weigh(
        offsets,
        places,
        weights,
        digests,
        bits=bits,
        ties_up=ties_up,
        with_sums=with_sums,
        threads=threads,
        isa=isa,
    )


def weigh_features(
    offsets: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    weights: NDArray[np.float64] | None,
    *,
    bits: int,
    ties_up: bool,
    key: HashKey | None = None,
    with_sums: bool = False,
    threads: int = 1,
    isa: str = "auto",
) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """Fingerprint documents of weighted features; returns fingerprints and, if requested, the sums.

    Without weights, each feature counts once. `key` must be the one the features were hashed with:
    bits beyond 64 are derived with it.
    """
    if weights is None and with_sums:
        weights = np.ones(len(hashes))
    return _native.weigh_features(
        offsets,
        hashes,
        weights,
        bits=bits,
        ties_up=ties_up,
        key=_words(key),
        with_sums=with_sums,
        threads=threads,
        isa=isa,
    )


def _words(key: HashKey | None) -> NDArray[np.uint64]:
    return NO_KEY if key is None else key.words
