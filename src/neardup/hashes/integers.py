"""Families for whole numbers: scaled division and remainder."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from neardup.errors import InputError, SettingError
from neardup.hashes.family import HashFamily, utf8
from neardup.hashes.strings import require_modulus

_MOST_DIGITS = 38
_LARGEST_RANGE = 2**128  # holds every number of that many digits


@dataclass(frozen=True)
class Remainder(HashFamily):
    """The remainder of a whole number divided by `slots`.

    A term of 1 to 38 digits is read as that number; any other term is its UTF-8 bytes, read as
    one big-endian number.

    >>> Remainder(257).value('1000'), Remainder(257).value('a')
    (229, 97)
    """

    slots: int = 257

    def __post_init__(self) -> None:
        require_modulus(self.slots, self.name)

    @property
    def name(self) -> str:
        """`remainder:M`."""
        return f"remainder:{self.slots}"

    @property
    def bits(self) -> int:
        """The bits of the largest remainder."""
        return (self.slots - 1).bit_length()

    def value(self, term: str) -> int:
        """A number from 0 to slots - 1."""
        shown = _shown(term)
        number = int.from_bytes(utf8(term), "big") if shown is None else shown
        return number % self.slots


@dataclass(frozen=True)
class Division(HashFamily):
    """A whole number below `range`, scaled down to `slots`.

    A term of 1 to 38 digits is read as that number. Any other term is a key of as many bytes as
    `range` needs: its UTF-8 bytes, truncated or padded with zeros at the end.

    >>> Division(100, 1000).value('123'), Division(257, 2**32).value('a')
    (12, 97)
    """

    slots: int = 257
    range: int = 2**32

    def __post_init__(self) -> None:
        require_modulus(self.slots, self.name)
        if not 2 <= self.range <= _LARGEST_RANGE:
            raise SettingError(f"hash={self.name!r}: the range must be between 2 and 2^128")

    @property
    def name(self) -> str:
        """`division:M:N`."""
        return f"division:{self.slots}:{self.range}"

    @property
    def bits(self) -> int:
        """The bits of the last slot's number."""
        return (self.slots - 1).bit_length()

    def value(self, term: str) -> int:
        """A number from 0 to slots - 1."""
        number = _shown(term)
        if number is None:
            width = ((self.range - 1).bit_length() + 7) // 8
            number = int.from_bytes(utf8(term)[:width].ljust(width, b"\0"), "big")
        if number >= self.range:
            raise InputError(
                f"the term {term!r} is the number {number}, too large for {self.name}; choose a "
                "range above every number, or for words a power of 256"
            )
        return number * self.slots // self.range


def range_of(terms: Iterable[str]) -> int:
    """A range that holds every term, for `Division`: a power of ten for numbers, else of 256.

    >>> range_of(["934021", "7"]), range_of(["hola", "7"])
    (1000000, 4294967296)
    """
    numbers, words = [], False
    for term in terms:
        number = _shown(term)
        words = words or number is None
        numbers.append(number or 0)
    base, least = (256, 2**32) if words else (10, 10)
    while least <= max(numbers, default=0):
        least *= base
    return least


def _shown(term: str) -> int | None:
    """The value of a term of 1 to 38 ASCII digits; None for other terms."""
    digits = term.isascii() and term.isdigit()
    return int(term) if digits and len(term) <= _MOST_DIGITS else None
