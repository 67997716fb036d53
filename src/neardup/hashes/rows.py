"""Hashes as rows of 64-bit words, bit 0 the most significant bit of a row's first word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def row_words(bits: int) -> int:
    """The number of 64-bit words that hold `bits` bits."""
    return -(-bits // 64)


def rows_of_numbers(numbers: Sequence[int], bits: int) -> NDArray[np.uint64]:
    """The low `bits` bits of each number; a negative one counts as its two's complement.

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
    """The first `bits` bits of each of many byte strings, all of `words` 64-bit words."""
    rows = np.frombuffer(packed, ">u8").reshape(-1, words)[:, : row_words(bits)]
    return cut(rows.astype(np.uint64), bits)


def cut(rows: NDArray[np.uint64], bits: int) -> NDArray[np.uint64]:
    """Clear, in place, the bits of each row's last word that lie behind the last of `bits`."""
    unused = np.uint64(64 * rows.shape[1] - bits)
    rows[:, -1] = rows[:, -1] >> unused << unused
    return rows


def bit_columns(rows: NDArray[np.uint64], bits: int) -> NDArray[np.uint8]:
    """Each bit as a column of zeros and ones."""
    as_bytes = np.ascontiguousarray(rows.astype(">u8")).view(np.uint8)
    return np.unpackbits(as_bytes.reshape(len(rows), -1), axis=1, count=bits)
