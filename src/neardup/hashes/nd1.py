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
        features = hash_alike(terms, map(_block_count, terms), _features, self.value)
        rows = np.empty((len(terms), row_words(bits)), np.uint64)
        rows[:, 0] = features
        turned = _turn(features) ^ np.uint64(reference.WIDTH_KEY)
        for place in range(1, rows.shape[1]):
            key = np.uint64(place * reference.WIDTH_STEP & reference.MASK)
            rows[:, place] = _fold_multiply(features ^ key, turned)
        return cut(rows, bits)


def shingle_hashes(shingles: Sequence[Sequence[str]]) -> NDArray[np.uint64]:
    """`reference.feature_hash` of every shingle, each unit hashed once."""
    places: dict[str, int] = {}
    for shingle in shingles:
        for unit in shingle:
            places.setdefault(unit, len(places))
    units = list(places)
    values = hash_alike(units, map(_block_count, units), _unit_values, reference.unit_value)
    totals = np.zeros(len(shingles), np.uint64)
    lengths = np.array([len(shingle) for shingle in shingles], np.int64)
    for turn in range(int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > turn)
        found = values[[places[shingles[i][turn]] for i in longer.tolist()]]
        totals[longer] = totals[longer] * np.uint64(reference.SHINGLE_BASE) + found
    return _finished(totals)


def hashes_in_field(features: NDArray[np.uint64], field: str) -> NDArray[np.uint64]:
    """`reference.feature_in_field` of every feature."""
    key = np.uint64(reference.unit_value(field))
    return _finished(features * np.uint64(reference.SHINGLE_BASE) + key)


def _block_count(term: str) -> int:
    return -(-len(utf8(term)) // _BLOCK)


def _features(terms: list[str], blocks: int) -> NDArray[np.uint64]:
    """`reference.feature_hash` of terms that all have the same number of 16-byte blocks."""
    return _finished(_unit_values(terms, blocks))


def _unit_values(terms: list[str], blocks: int) -> NDArray[np.uint64]:
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
    return value


def _finished(totals: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The last multiplication of a feature hash."""
    return _fold_multiply(
        totals ^ np.uint64(reference.FEATURE_KEY), _turn(totals) ^ np.uint64(reference.TURNED_KEY)
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
