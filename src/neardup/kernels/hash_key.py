"""The numbers that the steps of a keyed hash use, all derived from one secret."""

from __future__ import annotations

from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from neardup.frozen import dataclass

PRIME = 2**64 - 59
_WORDS = 7
_HASH, _CHECK = b"neardup nd1 hash", b"neardup nd1 name"
_CHECK_BYTES = 4
NO_KEY: NDArray[np.uint64] = np.zeros(0, np.uint64)


@dataclass(frozen=True)
class HashKey:
    """Seven secret numbers, hidden in the repr; docs/reference/scheme.md explains each."""

    unit_low: int = field(repr=False)
    unit_high: int = field(repr=False)
    shingle_base: int = field(repr=False)
    feature_key: int = field(repr=False)
    turned_key: int = field(repr=False)
    width_step: int = field(repr=False)
    width_key: int = field(repr=False)

    @classmethod
    def derive(cls, name: str, secret: bytes) -> HashKey:
        """Derive the numbers from the name of a key and its secret of 16 to 64 bytes."""
        from hashlib import blake2b  # loads OpenSSL, which only a key needs

        digest = blake2b(name.encode(), key=secret, person=_HASH, digest_size=8 * _WORDS).digest()
        words = [int.from_bytes(digest[i : i + 8], "little") for i in range(0, 8 * _WORDS, 8)]
        # A base of 0 or 1 would lose the order of the units.
        words[2] = 2 + words[2] % (PRIME - 2)
        return cls(*words)

    @property
    def words(self) -> NDArray[np.uint64]:
        """The numbers as an array for the native module."""
        return np.array(
            [
                self.unit_low,
                self.unit_high,
                self.shingle_base,
                self.feature_key,
                self.turned_key,
                self.width_step,
                self.width_key,
            ],
            np.uint64,
        )


def key_check(name: str, secret: bytes) -> str:
    """Eight hexadecimal digits that distinguish two secrets of the same name."""
    from hashlib import blake2b

    return blake2b(name.encode(), key=secret, person=_CHECK, digest_size=_CHECK_BYTES).hexdigest()
