"""Families for strings: MD5, XXH3, and hashes computed over code points."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xxhash
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.hashes.family import HashFamily, utf8, vocabulary_of
from neardup.hashes.rows import cut, hash_alike, row_words, rows_of_bytes
from neardup.kernels.terms import md5

_FACTOR = 1_000_003
_MASK = 2**64 - 1
LARGEST_MODULUS = 2**64


@dataclass(frozen=True)
class Md5(HashFamily):
    """The MD5 digest, the most significant bit of its first byte first.

    >>> f"{Md5().value('bit'):032x}"[:10]
    'f67169dfbf'
    """

    name = "md5"
    bits = 128

    def value(self, term: str) -> int:
        """All 128 bits, as one number."""
        # Systems that forbid MD5 allow it for purposes other than security.
        return int.from_bytes(hashlib.md5(utf8(term), usedforsecurity=False).digest(), "big")

    def _rows(self, terms: Sequence[str], bits: int) -> NDArray[np.uint64]:
        return cut(md5(vocabulary_of(terms), row_words(bits)), bits)


@dataclass(frozen=True)
class Xxh3(HashFamily):
    """XXH3 with seed 0: its 64-bit hash up to 64 bits, above that its 128-bit hash.

    These are different functions: the first 64 of 65 bits are not the 64-bit hash. Bits are in
    canonical (big-endian) order, the most significant first.

    >>> f"{Xxh3().value(''):016x}"
    '2d06800538d394c2'
    """

    name = "xxh3"
    bits = 128

    def value(self, term: str) -> int:
        """The 64-bit hash."""
        return xxhash.xxh3_64_intdigest(utf8(term))

    def _rows(self, terms: Sequence[str], bits: int) -> NDArray[np.uint64]:
        encoded = vocabulary_of(terms).encoded()
        if bits > 64:
            return rows_of_bytes(b"".join(map(xxhash.xxh3_128_digest, encoded)), 2, bits)
        hashes = map(xxhash.xxh3_64_intdigest, encoded)
        return cut(np.fromiter(hashes, np.uint64, len(terms)).reshape(-1, 1), bits)


@dataclass(frozen=True)
class String64(HashFamily):
    """The multiplicative string hash of Python 2, low 64 bits.

    One letter affects only the low 34 bits and two letters 54, so it is unsuitable for characters
    and pairs of them.

    >>> f"{String64().value('simhash'):016x}"
    '906715e69d079fba'
    """

    name = "string64"
    bits = 64

    def value(self, term: str) -> int:
        """Multiply by 1,000,003 and mix in the next code point; the length at the end."""
        value = ord(term[0]) << 7 if term else 0
        for char in term:
            value = (value * _FACTOR ^ ord(char)) & _MASK
        return value ^ len(term)

    def _rows(self, terms: Sequence[str], bits: int) -> NDArray[np.uint64]:
        every = list(terms)
        hashes = hash_alike(every, map(len, every), _string64, self.value)
        return (hashes << np.uint64(64 - bits)).reshape(-1, 1)


def _string64(terms: list[str], length: int) -> NDArray[np.uint64]:
    joined = "".join(terms).encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(joined, "<u4").reshape(len(terms), length).astype(np.uint64)
    if not length:
        return np.zeros(len(terms), np.uint64)
    value = codes[:, 0] << np.uint64(7)
    for place in range(length):
        value = value * np.uint64(_FACTOR) ^ codes[:, place]
    return value ^ np.uint64(length)


@dataclass(frozen=True)
class Dek(HashFamily):
    """Knuth's shift-and-mix hash without a word size: it grows by 5 bits per character.

    Fingerprints use its low 64 bits, which words of up to 11 letters do not fill. Its time is
    quadratic in the length of a term.

    >>> Dek().value('algorismica')
    291014770516511749
    """

    name = "dek"
    bits = 64

    def value(self, term: str) -> int:
        """The number in full, of any length."""
        value = len(term)
        for char in term:
            value = (value << 5) ^ (value >> 27) ^ ord(char)
        return value


@dataclass(frozen=True)
class StringModulo(HashFamily):
    """A term as a number in base `base`, with code points as digits, modulo `modulus`.

    >>> StringModulo(257, 1024).value('hola')
    182
    """

    modulus: int = 257
    base: int = 1024

    def __post_init__(self) -> None:
        require_modulus(self.modulus, self.name)
        if self.base < 1:
            raise SettingError(f"hash={self.name!r}: the base must be at least 1")

    @property
    def name(self) -> str:
        """`string:M:C`."""
        return f"string:{self.modulus}:{self.base}"

    @property
    def bits(self) -> int:
        """The bits of modulus - 1."""
        return (self.modulus - 1).bit_length()

    def value(self, term: str) -> int:
        """A number from 0 to modulus - 1."""
        value = 0
        for char in term:
            value = (value * self.base + ord(char)) % self.modulus
        return value


def require_modulus(modulus: int, name: str) -> None:
    """Refuse a modulus below 2 or above 2^64."""
    if not 2 <= modulus <= LARGEST_MODULUS:
        raise SettingError(f"hash={name!r}: the modulus must be between 2 and 2^64")
