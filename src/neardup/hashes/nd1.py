"""The nd1 family: the default, fast and without limit of width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.hashes.alike import hash_alike
from neardup.hashes.family import HashFamily, utf8
from neardup.hashes.rows import cut, row_words
from neardup.kernels import reference

_BLOCK = 16
_LOW_HALF = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@dataclass(frozen=True)
class Nd1(HashFamily):
    """What the nd1 scheme gives for a term that is one unit, spaces and capitals kept.

    >>> f"{Nd1().value('cat'):016x}"
    '9a9bd3a7fd1d1856'
    """

    name = "nd1"
    bits = None

    def value(self, term: str) -> int:
        """The feature hash: the first 64 bits."""
        utf8(term)
        return reference.feature_hash([term])

    def _rows(self, terms: Sequence[str], bits: int) -> NDArray[np.uint64]:
        blocks = (-(-len(utf8(term)) // _BLOCK) for term in terms)
        features = hash_alike(terms, blocks, _features, self.value)
        rows = np.empty((len(terms), row_words(bits)), np.uint64)
        rows[:, 0] = features
        turned = _turn(features) ^ np.uint64(reference.WIDTH_KEY)
        for place in range(1, rows.shape[1]):
            key = np.uint64(place * reference.WIDTH_STEP & reference.MASK)
            rows[:, place] = _fold_multiply(features ^ key, turned)
        return cut(rows, bits)


def _features(terms: list[str], blocks: int) -> NDArray[np.uint64]:
    """`reference.feature_hash` of terms that all have the same number of 16-byte blocks."""
    encoded = [term.encode() for term in terms]
    lengths = np.array([len(data) for data in encoded], np.uint64)
    packed = b"".join([data.ljust(_BLOCK * blocks, b"\0") for data in encoded])
    halves = np.frombuffer(packed, "<u8").reshape(len(terms), 2 * blocks).astype(np.uint64)
    value = np.zeros(len(terms), np.uint64)
    for block in range(blocks):
        low, high = halves[:, 2 * block], halves[:, 2 * block + 1]
        if block == blocks - 1:
            high = high ^ lengths
        value = _fold_multiply(
            low ^ np.uint64(reference.LOW_KEY) ^ value, high ^ np.uint64(reference.HIGH_KEY)
        )
    return _fold_multiply(
        value ^ np.uint64(reference.FEATURE_KEY), _turn(value) ^ np.uint64(reference.TURNED_KEY)
    )


def _turn(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return (x << _HALF) | (x >> _HALF)


def _fold_multiply(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The 128-bit product by schoolbook multiplication of halves, its two words folded."""
    a_low, a_high = a & _LOW_HALF, a >> _HALF
    b_low, b_high = b & _LOW_HALF, b >> _HALF
    middle = a_high * b_low + (a_low * b_low >> _HALF)
    other = a_low * b_high + (middle & _LOW_HALF)
    return np.asarray((a_high * b_high + (middle >> _HALF) + (other >> _HALF)) ^ (a * b))
