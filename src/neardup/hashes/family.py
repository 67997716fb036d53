"""What every hash family can do, and the bundled words to try it on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache, cached_property
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from neardup.errors import InputError, SettingError
from neardup.hashes.balance import BitBalance
from neardup.hashes.rows import rows_of_numbers
from neardup.kernels.hash_key import HashKey


@cache
def common_words() -> tuple[str, ...]:
    """A thousand common English words, the most frequent ones at the beginning.

    >>> common_words()[:3]
    ('the', 'of', 'and')
    """
    text = files(__package__).joinpath("common_words.txt").read_text(encoding="utf-8")
    return tuple(text.split())


_MEASURED_BITS = 64


class HashFamily(ABC):
    """A way to turn terms into bits; `hash_family` makes one from its name.

    A family that is made of bits (`nd1`, `md5`, `xxh3`) gives its first bits when fewer are asked
    for than it has; one that computes a number gives the number's low bits.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The full name, every parameter written out; the same name means the same bits."""

    @property
    @abstractmethod
    def bits(self) -> int | None:
        """How many bits it can give; None if any number."""

    @property
    def key(self) -> HashKey | None:
        """The secret of a keyed family, by which features are hashed too; others have none."""
        return None

    @abstractmethod
    def value(self, term: str) -> int:
        """The plain number of a term."""

    def digest(self, terms: Sequence[str], bits: int) -> NDArray[np.uint64]:
        """Hash many terms to `bits` bits each, as rows of ceil(bits / 64) words.

        Bit 0 is the most significant bit of a row's first word; the bits behind the last are 0.
        A term that comes twice is hashed twice: pass distinct ones.

        >>> from neardup.hashes import hash_family
        >>> f"{hash_family('md5').digest(['coin'], 42)[0, 0] >> 22:042b}"
        '100101101010100101010001100110111000111111'
        """
        self.require_bits(bits)
        return self._rows(terms, bits)

    def require_bits(self, bits: int) -> None:
        """Refuse more bits than there are."""
        if bits < 1:
            raise SettingError(f"bits={bits} must be at least 1")
        if self.bits is not None and bits > self.bits:
            raise SettingError(
                f"hash={self.name!r} gives {self.bits} bits, {bits} are asked for; "
                "take fewer bits or hash='nd1', which gives any number"
            )

    def _rows(self, terms: Sequence[str], bits: int) -> NDArray[np.uint64]:
        return rows_of_numbers([self.value(term) for term in terms], bits)

    @property
    def measured_bits(self) -> int:
        """The bits by which it is judged: 64, or all it has."""
        return _MEASURED_BITS if self.bits is None else min(self.bits, _MEASURED_BITS)

    def balance(self, words: Sequence[str]) -> BitBalance:
        """How its bits behave over some words."""
        return BitBalance.of(self.digest(words, self.measured_bits), self.measured_bits)

    @cached_property
    def fit(self) -> str | None:
        """None if it is fit for fingerprints, else why not, measured over common words."""
        return self.balance(common_words()).flaw

    def __str__(self) -> str:
        return self.name


def utf8(term: str) -> bytes:
    """The bytes of a term; half a surrogate pair has none."""
    try:
        return term.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"the term {term!r} holds a lone surrogate (U+{ord(term[error.start]):04X}), "
            "which is no Unicode text; repair or drop it"
        ) from None
