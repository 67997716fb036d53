"""Hashes as rows of 64-bit words, and vectorized hashing of terms of equal size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

# For fewer terms than this, plain Python is faster than NumPy.
_FEW = 32


def row_words(bits: int) -> int:
    """The number of 64-bit words that hold `bits` bits."""
    return -(-bits // 64)


def rows_of_numbers(numbers: Sequence[int], bits: int) -> NDArray[np.uint64]:
    """The low `bits` bits of each number; negative numbers in two's complement.

    >>> [f"{word:016x}" for word in rows_of_numbers([0x1FA, 5], 8)[:, 0].tolist()]
    ['fa00000000000000', '0500000000000000']
    """
    words = row_words(bits)
    mask, unused = (1 << bits) - 1, 64 * words - bits
    if words == 1:
        column = np.fromiter((n & mask for n in numbers), np.uint64, len(numbers))
        return (column << np.uint64(unused)).reshape(-1, 1)
    packed = b"".join(((n & mask) << unused).to_bytes(8 * words, "big") for n in numbers)
    return rows_of_bytes(packed, words, bits)


def rows_of_bytes(packed: bytes, words: int, bits: int) -> NDArray[np.uint64]:
    """The first `bits` bits of byte strings that are `words` 64-bit words each."""
    rows = np.frombuffer(packed, ">u8").reshape(-1, words)[:, : row_words(bits)]
    return cut(rows.astype(np.uint64), bits)


def cut(rows: NDArray[np.uint64], bits: int) -> NDArray[np.uint64]:
    """Clear, in place, the bits after the first `bits` in each row's last word."""
    unused = np.uint64(64 * rows.shape[1] - bits)
    rows[:, -1] = rows[:, -1] >> unused << unused
    return rows


def bit_columns(rows: NDArray[np.uint64], bits: int) -> NDArray[np.uint8]:
    """Each bit as a column of zeros and ones."""
    as_bytes = np.ascontiguousarray(rows.astype(">u8")).view(np.uint8)
    return np.unpackbits(as_bytes.reshape(len(rows), -1), axis=1, count=bits)


def hash_alike(
    terms: Sequence[str],
    sizes: Iterable[int],
    side_by_side: Callable[[list[str], int], NDArray[np.uint64]],
    one: Callable[[str], int],
) -> NDArray[np.uint64]:
    """Hash terms to 64 bits: terms of equal size by `side_by_side(terms, size)`, a few by `one`.

    >>> hash_alike(["a", "bcd"], [1, 3], lambda same, size: np.zeros(len(same)), len).tolist()
    [1, 3]
    """
    hashes = np.empty(len(terms), np.uint64)
    every = np.fromiter(sizes, np.int64, len(terms))
    order = np.argsort(every, kind="stable")
    edges = np.flatnonzero(np.diff(every[order])) + 1
    for places in np.split(order, edges):
        same = [terms[place] for place in places]
        if len(same) < _FEW:
            hashes[places] = np.fromiter(map(one, same), np.uint64, len(same))
        else:
            hashes[places] = side_by_side(same, int(every[places[0]]))
    return hashes
