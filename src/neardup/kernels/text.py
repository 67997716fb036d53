"""Feature kernels: texts → hashes with counts, weighted hashes → fingerprints, counts of hashes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.kernels import _native
from neardup.kernels.columns import string_buffers
from neardup.kernels.hash_key import NO_KEY, HashKey

__all__ = ["FeatureCounts", "find_features", "find_sets", "weigh_features"]

FeatureCounts = _native.FeatureCounts


def find_features(
    texts: pa.Array,
    shingles: Sequence[tuple[str, int]],
    *,
    key: HashKey | None = None,
    threads: int = 1,
    isa: str = "auto",
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]:
    """Offsets, hashes, counts, word counts: the features of a string array without nulls.

    Document i has the hashes from `offsets[i]` to `offsets[i + 1]`, ascending, each once, of all
    kinds of `shingles` (unit, size) together, and how often each occurs. With a `key` they are
    those of the keyed hash, else of plain nd1.
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
    """The same without counts: offsets, hashes, word counts."""
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
        key=NO_KEY if key is None else key.words,
        threads=threads,
        isa=isa,
    )


def weigh_features(
    offsets: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    weights: NDArray[np.float64],
    *,
    bits: int,
    ties_up: bool,
    key: HashKey | None = None,
    with_sums: bool = False,
    threads: int = 1,
    isa: str = "auto",
) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """Fingerprint documents of weighted features: rows, and the sums if wanted.

    A `key` is that of the features: beyond 64 bits they are hashed on with it.
    """
    return _native.weigh_features(
        offsets,
        hashes,
        weights,
        bits=bits,
        ties_up=ties_up,
        key=NO_KEY if key is None else key.words,
        with_sums=with_sums,
        threads=threads,
        isa=isa,
    )
