"""The nd1 family over arrays of terms, plain or keyed: the default, fast, of any width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from neardup.frozen import dataclass
from neardup.hashes.family import HashFamily, utf8, vocabulary_of
from neardup.hashes.rows import cut, hash_alike, row_words
from neardup.kernels.hash_key import PRIME, HashKey
from neardup.kernels.reference import text
from neardup.kernels.reference.keyed import SIP_START, KeyedHash
from neardup.kernels.terms import ONE_UNIT, hash_terms

_BLOCK = 16
_SIP_BLOCK = 8
_LOW_HALF = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_PRIME, _GAP = np.uint64(PRIME), np.uint64(2**64 - PRIME)

Hashes = NDArray[np.uint64]


class _Steps(Protocol):
    """The steps from units to features that depend on the key."""

    def unit_values(self, units: Sequence[str]) -> Hashes: ...

    def step(self, totals: Hashes, values: Hashes | np.uint64) -> Hashes:
        """Add the value of the next unit to the polynomial of a shingle."""
        ...

    def finished(self, totals: Hashes) -> Hashes: ...


def feature_rows(terms: Sequence[str], bits: int, key: HashKey | None) -> Hashes:
    """The bits of terms of one unit each, as rows of 64-bit words."""
    rows = hash_terms(vocabulary_of(terms), ONE_UNIT, row_words(bits), key=key)
    return cut(rows, bits)


def shingle_hashes(shingles: Sequence[Sequence[str]], key: HashKey | None = None) -> Hashes:
    """`feature_hash` of every shingle; each distinct unit is hashed once."""
    steps = _steps(key)
    places: dict[str, int] = {}
    for shingle in shingles:
        for unit in shingle:
            places.setdefault(unit, len(places))
    values = steps.unit_values(list(places))
    totals = np.zeros(len(shingles), np.uint64)
    lengths = np.array([len(shingle) for shingle in shingles], np.int64)
    for turn in range(int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > turn)
        found = values[[places[shingles[i][turn]] for i in longer.tolist()]]
        totals[longer] = steps.step(totals[longer], found)
    return steps.finished(totals)


def hashes_in_field(features: Hashes, field: str, key: HashKey | None = None) -> Hashes:
    """`feature_in_field` of every feature."""
    steps = _steps(key)
    return steps.finished(steps.step(features, steps.unit_values([field])[0]))


def _steps(key: HashKey | None) -> _Steps:
    return _Plain() if key is None else _Keyed(key)


class _Plain:
    """The steps of `kernels.reference.text`."""

    def unit_values(self, units: Sequence[str]) -> Hashes:
        sizes = (-(-len(utf8(unit)) // _BLOCK) for unit in units)
        return hash_alike(units, sizes, _plain_units, text.unit_value)

    def step(self, totals: Hashes, values: Hashes | np.uint64) -> Hashes:
        return totals * np.uint64(text.SHINGLE_BASE) + values

    def finished(self, totals: Hashes) -> Hashes:
        return _mixed(totals, text.FEATURE_KEY, text.TURNED_KEY)


@dataclass(frozen=True)
class _Keyed:
    """The steps of `kernels.reference.keyed`."""

    key: HashKey

    def unit_values(self, units: Sequence[str]) -> Hashes:
        sizes = (len(utf8(unit)) // _SIP_BLOCK for unit in units)
        return hash_alike(units, sizes, self._side_by_side, KeyedHash(self.key).unit_value)

    def step(self, totals: Hashes, values: Hashes | np.uint64) -> Hashes:
        high, low = _product(totals, np.uint64(self.key.shingle_base))
        # Modulo the prime, 2^64 equals the gap, so the product is low + high * gap.
        more, less = _product(high, _GAP)
        total = _sum_modulo(_sum_modulo(low, less), more * _GAP)
        return _below_prime(_sum_modulo(total, values))

    def finished(self, totals: Hashes) -> Hashes:
        return _mixed(totals, self.key.feature_key, self.key.turned_key)

    def _side_by_side(self, units: list[str], blocks: int) -> Hashes:
        """SipHash-1-3 of units that have the same number of whole blocks of 8 bytes."""
        encoded = [unit.encode() for unit in units]
        packed = b"".join(
            data.ljust(_SIP_BLOCK * blocks + 7, b"\0") + bytes([len(data) % 256])
            for data in encoded
        )
        every = np.frombuffer(packed, "<u8").reshape(len(units), blocks + 1).astype(np.uint64)
        keys = (self.key.unit_low, self.key.unit_high) * 2
        state = [
            np.full(len(units), start ^ key, np.uint64)
            for start, key in zip(SIP_START, keys, strict=True)
        ]
        for block in every.T:
            state[3] = state[3] ^ block
            state = _sip_round(*state)
            state[0] = state[0] ^ block
        state[2] = state[2] ^ np.uint64(0xFF)
        for _ in range(3):
            state = _sip_round(*state)
        return np.asarray(state[0] ^ state[1] ^ state[2] ^ state[3])


def _sip_round(v0: Hashes, v1: Hashes, v2: Hashes, v3: Hashes) -> list[Hashes]:
    v0, v2 = v0 + v1, v2 + v3
    v1, v3 = _rotated(v1, 13) ^ v0, _rotated(v3, 16) ^ v2
    v0, v2 = _rotated(v0, 32) + v3, v2 + v1
    v1, v3 = _rotated(v1, 17) ^ v2, _rotated(v3, 21) ^ v0
    return [v0, v1, _rotated(v2, 32), v3]


def _rotated(x: Hashes, bits: int) -> Hashes:
    return (x << np.uint64(bits)) | (x >> np.uint64(64 - bits))


def _sum_modulo(a: Hashes, b: Hashes | np.uint64) -> Hashes:
    """A sum modulo the prime, as a number of 64 bits that may be the prime or above."""
    total = a + b
    wrapped = np.where(total < a, _GAP, np.uint64(0))
    again = total + wrapped
    return np.asarray(again + np.where(again < wrapped, _GAP, np.uint64(0)))


def _below_prime(x: Hashes) -> Hashes:
    return np.asarray(np.where(x >= _PRIME, x - _PRIME, x))


def _plain_units(terms: list[str], blocks: int) -> Hashes:
    """`reference.unit_value` of terms that all have the same number of 16-byte blocks."""
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
            low ^ np.uint64(text.LOW_KEY) ^ value, high ^ np.uint64(text.HIGH_KEY)
        )
    return value


def _mixed(x: Hashes, key: int, turned_key: int) -> Hashes:
    """The multiplication that finishes or widens a feature hash."""
    turned = (x << _HALF) | (x >> _HALF)
    return _fold_multiply(x ^ np.uint64(key & text.MASK), turned ^ np.uint64(turned_key))


def _fold_multiply(a: Hashes, b: Hashes) -> Hashes:
    high, low = _product(a, b)
    return high ^ low


def _product(a: Hashes, b: Hashes | np.uint64) -> tuple[Hashes, Hashes]:
    """The 128-bit product by schoolbook multiplication of halves: its high and its low word."""
    a_low, a_high = a & _LOW_HALF, a >> _HALF
    b_low, b_high = b & _LOW_HALF, b >> _HALF
    middle = a_high * b_low + (a_low * b_low >> _HALF)
    other = a_low * b_high + (middle & _LOW_HALF)
    return np.asarray(a_high * b_high + (middle >> _HALF) + (other >> _HALF)), np.asarray(a * b)


@dataclass(frozen=True)
class Nd1(HashFamily):
    """The nd1 hash of a term as one unit; spaces and upper case are kept.

    >>> f"{Nd1().value('cat'):016x}"
    '9a9bd3a7fd1d1856'
    """

    name = "nd1"
    bits = None

    def value(self, term: str) -> int:
        """The feature hash: the first 64 bits."""
        utf8(term)
        return text.feature_hash([term])

    def _rows(self, terms: Sequence[str], bits: int) -> NDArray[np.uint64]:
        return feature_rows(terms, bits, None)
