"""The universal family: random coefficients modulo a prime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import shake_256
from operator import mul
from typing import cast

from neardup.errors import SettingError
from neardup.hashes.family import HashFamily, utf8

_SMALLEST = 257
_LARGEST = 2**64
# With these bases the Miller-Rabin test is exact for every number below 3.3e24 (Sorenson and
# Webster, 2015).
_BASES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)


def universal_hash(digits: Sequence[int], coefficients: Sequence[int], modulus: int) -> int:
    """The sum of coefficient times digit, modulo a prime: one function of the universal family.

    With random coefficients, any two different keys of digits below the modulus collide with
    probability 1 / modulus.

    >>> universal_hash((128, 32, 168, 24, 7, 80), (87, 23, 125, 4, 17, 231), 257)
    167
    """
    if not is_prime(modulus):
        raise SettingError(f"the modulus of a universal hash must be prime, which {modulus} is not")
    if len(digits) > len(coefficients):
        raise SettingError(
            f"a key of {len(digits)} digits needs at least that many coefficients, "
            f"not {len(coefficients)}"
        )
    return _dot(coefficients, digits) % modulus


@dataclass(frozen=True)
class Universal(HashFamily):
    """One function of the universal family, with coefficients drawn from a seed.

    The digits are the UTF-8 bytes of a term, so the modulus must be a prime of at least 257. Zero
    bytes at the end of a term do not change its hash.

    >>> Universal(257, 1).value('hola')
    82
    """

    modulus: int = 257
    seed: int = 1

    def __post_init__(self) -> None:
        if not _SMALLEST <= self.modulus < _LARGEST or not is_prime(self.modulus):
            raise SettingError(
                f"hash={self.name!r}: the modulus must be a prime from {_SMALLEST} (a digit is a "
                f"byte) to 2^64, which {self.modulus} is not; {next_prime(self.modulus)} is"
            )

    @property
    def name(self) -> str:
        """`universal:M:SEED`."""
        return f"universal:{self.modulus}:{self.seed}"

    @property
    def bits(self) -> int:
        """The bits of modulus - 1."""
        return (self.modulus - 1).bit_length()

    def value(self, term: str) -> int:
        """A number from 0 to modulus - 1."""
        data = utf8(term)
        enough = 1 << len(data).bit_length()
        return _dot(coefficients(self.modulus, self.seed, enough), data) % self.modulus


def _dot(coefficients: Sequence[int], digits: Sequence[int]) -> int:
    return cast(int, sum(map(mul, coefficients, digits)))


@lru_cache(maxsize=64)
def coefficients(modulus: int, seed: int, count: int) -> tuple[int, ...]:
    """The first `count` coefficients of a seed, the same on every machine.

    Each is read from SHAKE-256 of its name with 64 bits more than the modulus has, so that the
    bias is at most one part in 2^64.
    """
    size = (modulus.bit_length() + 7) // 8 + 8
    return tuple(
        int.from_bytes(shake_256(f"universal:{modulus}:{seed}:{i}".encode()).digest(size), "big")
        % modulus
        for i in range(count)
    )


def is_prime(number: int) -> bool:
    """Whether a number below 2^64 is a prime.

    >>> [n for n in range(250, 270) if is_prime(n)]
    [251, 257, 263, 269]
    """
    if number < 2 or any(number % base == 0 for base in _BASES):
        return number in _BASES
    twos = ((number - 1) & -(number - 1)).bit_length() - 1
    return all(_passes(number, base, twos) for base in _BASES)


def _passes(number: int, base: int, twos: int) -> bool:
    power = pow(base, (number - 1) >> twos, number)
    if power in (1, number - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return True
    return False


def next_prime(number: int) -> int:
    """The smallest prime from `number` up, within 257 to 2^64 - 59.

    >>> next_prime(1000)
    1009
    """
    candidate = min(max(number, _SMALLEST), _LARGEST - 59)
    while not is_prime(candidate):
        candidate += 1
    return candidate
