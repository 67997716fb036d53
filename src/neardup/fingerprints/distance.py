"""Hamming distance of fingerprints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.fingerprints.fingerprints import Fingerprints, unsigned

_BYTE_COUNTS = np.array([bin(byte).count("1") for byte in range(256)], np.uint8)


def hamming(a: Any, b: Any) -> Any:
    """Count the differing bits of ints, arrays or Fingerprints, or characters of strings.

    Two ints give an int, and so do two strings of equal length. Unsigned arrays give an array,
    under NumPy's broadcasting: in one dimension each item is a fingerprint, in two each row.
    Fingerprints must have the same scheme; the distance of an empty document is bits + 1, which
    exceeds every limit.

    >>> hamming(0b1011101, 0b1001001)
    2
    >>> hamming("toned", "roses")
    3
    >>> hamming(np.array([1, 3], np.uint64), np.array([0, 0], np.uint64)).tolist()
    [1, 2]
    """
    if isinstance(a, Fingerprints) or isinstance(b, Fingerprints):
        return _of_fingerprints(a, b)
    if isinstance(a, str) and isinstance(b, str):
        return _of_strings(a, b)
    if isinstance(a, int | np.integer) and isinstance(b, int | np.integer):
        return _of_ints(int(a), int(b))
    return _of_arrays(unsigned(a), unsigned(b))


def _of_ints(a: int, b: int) -> int:
    if a < 0 or b < 0:
        raise SettingError("a fingerprint cannot be negative")
    return (a ^ b).bit_count()


def _of_strings(a: str, b: str) -> int:
    if len(a) != len(b):
        raise SettingError(
            f"strings of {len(a)} and {len(b)} characters have no Hamming distance; "
            "both must have the same length"
        )
    return sum(x != y for x, y in zip(a, b, strict=True))


def _of_arrays(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.int64]:
    if min(a.ndim, b.ndim) == 1 < max(a.ndim, b.ndim) or (
        a.ndim > 1 and a.shape[-1] != b.shape[-1]
    ):
        raise SettingError(
            f"arrays of shapes {a.shape} and {b.shape} do not hold fingerprints of the same width"
        )
    counts = _bit_counts(a ^ b)
    return counts.sum(axis=-1, dtype=np.int64) if counts.ndim > 1 else counts.astype(np.int64)


def _of_fingerprints(a: Any, b: Any) -> NDArray[np.int64]:
    ours = a if isinstance(a, Fingerprints) else b
    rows_a, empty_a = _rows(a, ours)
    rows_b, empty_b = _rows(b, ours)
    distances = np.asarray(_of_arrays(rows_a, rows_b))
    distances[np.broadcast_to(empty_a | empty_b, distances.shape)] = ours.bits + 1
    return distances


def _rows(side: Any, ours: Fingerprints) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """The rows of one side, and which of them are empty."""
    if isinstance(side, Fingerprints):
        ours.scheme.require_same(side.scheme)
        return side.array, side.empty
    none_empty = np.zeros(1, np.bool_)
    if isinstance(side, int | np.integer):
        if int(side) >> ours.bits:
            raise SettingError(f"{side} has more than the {ours.bits} bits of {ours.scheme}")
        size = 8 * ours.scheme.row_words
        shifted = int(side) << (8 * size - ours.bits)
        words = np.frombuffer(shifted.to_bytes(size, "big"), ">u8").astype(np.uint64)
        return words.reshape(1, -1), none_empty
    rows = unsigned(side)
    if rows.ndim == 1 and ours.scheme.row_words == 1:
        rows = rows.reshape(-1, 1)
    if rows.ndim < 2 or rows.shape[-1] != ours.scheme.row_words:
        raise SettingError(
            f"an array of shape {rows.shape} cannot be compared with fingerprints of "
            f"{ours.scheme}; it must have {ours.scheme.row_words} columns"
        )
    return rows, none_empty


def _bit_counts(array: NDArray[Any]) -> NDArray[np.uint8]:
    if hasattr(np, "bitwise_count"):
        return np.asarray(np.bitwise_count(array))
    as_bytes = np.ascontiguousarray(array).view(np.uint8).reshape(*array.shape, -1)
    return np.asarray(_BYTE_COUNTS[as_bytes].sum(axis=-1, dtype=np.uint8))
