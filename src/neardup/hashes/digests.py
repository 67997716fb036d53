"""Families whose hash is a string of bits: MD5 and XXH3."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xxhash
from numpy.typing import NDArray

from neardup.hashes.family import HashFamily, utf8
from neardup.hashes.rows import cut, rows_of_bytes


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
        return int.from_bytes(_md5(utf8(term)), "big")

    def _rows(self, terms: Sequence[str], bits: int) -> NDArray[np.uint64]:
        return rows_of_bytes(b"".join([_md5(utf8(term)) for term in terms]), 2, bits)


def _md5(data: bytes) -> bytes:
    # Machines that forbid MD5 allow it where nothing is to be kept safe.
    return hashlib.md5(data, usedforsecurity=False).digest()


@dataclass(frozen=True)
class Xxh3(HashFamily):
    """XXH3 with seed 0: its 64-bit hash up to 64 bits, above that its 128-bit hash.

    The two are different functions: 65 bits do not begin with the 64. Both start with the most
    significant bit, as in their canonical (big-endian) form.

    >>> f"{Xxh3().value(''):016x}"
    '2d06800538d394c2'
    """

    name = "xxh3"
    bits = 128

    def value(self, term: str) -> int:
        """The 64-bit hash."""
        return xxhash.xxh3_64_intdigest(utf8(term))

    def _rows(self, terms: Sequence[str], bits: int) -> NDArray[np.uint64]:
        if bits > 64:
            digests = [xxhash.xxh3_128_digest(utf8(term)) for term in terms]
            return rows_of_bytes(b"".join(digests), 2, bits)
        hashes = [xxhash.xxh3_64_intdigest(utf8(term)) for term in terms]
        return cut(np.array(hashes, np.uint64).reshape(-1, 1), bits)
