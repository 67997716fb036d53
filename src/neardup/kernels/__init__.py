"""Kernels: the native code, seen from Python; `reference` is its slow twin."""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.errors import SettingError

try:
    from neardup.kernels import _native
except ImportError as error:
    raise ImportError(
        f"neardup's native module cannot be loaded ({error}); build it with "
        "`pip install .` in the source folder, which needs a C++20 compiler"
    ) from error
from neardup.kernels.columns import string_buffers
from neardup.kernels.hash_key import NO_KEY, HashKey
from neardup.kernels.text import FeatureCounts, find_features, find_sets, weigh_features

__all__ = [
    "FeatureCounts",
    "HashKey",
    "IdSet",
    "available_isas",
    "find_features",
    "find_sets",
    "fingerprint",
    "is_utf8",
    "thread_count",
    "weigh",
    "weigh_features",
]

MOST_THREADS = 1024  # more than any machine has cores; each takes a stack and some buffers


def available_isas() -> list[str]:
    """Name the instruction sets the kernels can use on this machine, slowest first."""
    return _native.available_isas()


def thread_count(threads: int | None) -> int:
    """How many threads to use: as asked, or one for each core this process may run on."""
    if threads is None:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    if (
        isinstance(threads, bool)
        or not isinstance(threads, int)
        or not 1 <= threads <= MOST_THREADS
    ):
        raise SettingError(f"threads={threads!r} must be a whole number from 1 to {MOST_THREADS:,}")
    return threads


def is_utf8(texts: pa.Array, *, isa: str = "auto") -> bool:
    """Whether every string of an array is well-formed UTF-8, several times as fast as Arrow."""
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
    """Fingerprint a string array without nulls: rows of 64-bit words, and word counts.

    With a `key` they are those of the keyed hash, else of plain nd1.
    """
    data, offsets = string_buffers(texts)
    return _native.fingerprint(
        data,
        offsets,
        words=unit == "word",
        size=size,
        distinct=distinct,
        bits=bits,
        ties_up=ties_up,
        key=NO_KEY if key is None else key.words,
        threads=threads,
        isa=isa,
    )


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
    """Fingerprint documents of weighted terms: rows of 64-bit words, and the sums if wanted.

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


class IdSet:
    """The ids seen so far, in 16 bytes each, to find one that comes twice."""

    def __init__(self) -> None:
        self._native = _native.IdSet()

    def __len__(self) -> int:
        return len(self._native)

    def add(self, ids: pa.Array, places: NDArray[np.int64]) -> tuple[int, int] | None:
        """Add string or integer ids; stop at one seen before.

        Returns its position among `ids` and the place of the earlier one, or None.
        """
        data, offsets = string_buffers(ids)
        return self._native.add(data, offsets, np.ascontiguousarray(places, np.int64))
