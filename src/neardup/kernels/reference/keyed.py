"""The twin of the keyed hash: the definition of `nd1:NAME` in plain Python.

`docs/reference/scheme.md` describes it. Words, characters and shingles are those of
`reference.text`.
"""

from __future__ import annotations

from collections.abc import Iterable

from neardup.frozen import dataclass
from neardup.kernels.hash_key import PRIME, HashKey
from neardup.kernels.reference.text import MASK, fold_multiply, rotate_half

# "somepseudorandomlygeneratedbytes", as the authors of SipHash chose it.
SIP_START = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)


def siphash13(low: int, high: int, data: bytes) -> int:
    """SipHash-1-3 (Aumasson and Bernstein 2012) of bytes under the key (low, high).

    >>> hex(siphash13(0x0706050403020100, 0x0F0E0D0C0B0A0908, bytes(range(15))))
    '0xd320d86d2a519956'
    """
    state = [start ^ key for start, key in zip(SIP_START, (low, high, low, high), strict=True)]
    whole = len(data) // 8 * 8
    last = data[whole:].ljust(7, b"\0") + bytes([len(data) % 256])
    for block in [data[i : i + 8] for i in range(0, whole, 8)] + [last]:
        number = int.from_bytes(block, "little")
        state[3] ^= number
        state = _sip_round(*state)
        state[0] ^= number
    state[2] ^= 0xFF
    for _ in range(3):
        state = _sip_round(*state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _sip_round(v0: int, v1: int, v2: int, v3: int) -> list[int]:
    v0 = (v0 + v1) & MASK
    v2 = (v2 + v3) & MASK
    v1 = _rotated(v1, 13) ^ v0
    v3 = _rotated(v3, 16) ^ v2
    v0 = (_rotated(v0, 32) + v3) & MASK
    v2 = (v2 + v1) & MASK
    v1 = _rotated(v1, 17) ^ v2
    v3 = _rotated(v3, 21) ^ v0
    return [v0, v1, _rotated(v2, 32), v3]


def _rotated(x: int, bits: int) -> int:
    return (x << bits | x >> (64 - bits)) & MASK


@dataclass(frozen=True)
class KeyedHash:
    """The hash functions of `reference.text` with a key."""

    key: HashKey

    def unit_value(self, unit: str) -> int:
        """Hash the UTF-8 bytes of a unit."""
        return siphash13(self.key.unit_low, self.key.unit_high, unit.encode())

    def feature_hash(self, shingle: Iterable[str]) -> int:
        """Hash a shingle: a polynomial in its units' values over a prime field, then a mix."""
        total = 0
        for unit in shingle:
            total = (total * self.key.shingle_base + self.unit_value(unit)) % PRIME
        return self._finished(total)

    def feature_in_field(self, feature: int, field: str) -> int:
        """Hash a feature together with the field of a record that it occurs in."""
        total = (feature * self.key.shingle_base + self.unit_value(field)) % PRIME
        return self._finished(total)

    def widen(self, feature: int, place: int) -> int:
        """The hash that a feature contributes to the 64-bit word `place` of a fingerprint."""
        if place == 0:
            return feature
        step = place * self.key.width_step & MASK
        return fold_multiply(feature ^ step, rotate_half(feature) ^ self.key.width_key)

    def _finished(self, total: int) -> int:
        return fold_multiply(total ^ self.key.feature_key, rotate_half(total) ^ self.key.turned_key)
