"""The base class of hash families, and the bundled words to test them on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from neardup.errors import InputError, SettingError
from neardup.hashes.rows import rows_of_numbers
from neardup.kernels.hash_key import HashKey
from neardup.kernels.terms import Vocabulary

if TYPE_CHECKING:
    from neardup.hashes.balance import BitBalance

_MEASURED_BITS = 64


@cache
def common_words() -> tuple[str, ...]:
    """A thousand common English words, the most frequent first.

    >>> common_words()[:3]
    ('the', 'of', 'and')
    """
    from importlib.resources import files

    text = files(__package__).joinpath("common_words.txt").read_text(encoding="utf-8")
    return tuple(text.split())


class HashFamily(ABC):
    """A way to turn terms into bits; `hash_family` makes one from its name.

    When fewer bits are requested than a family has, families of bits (`nd1`, `md5`, `xxh3`) return
    their first bits, and families that compute a number return its low bits.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The full name with all parameters; the same name means the same bits."""

    @property
    @abstractmethod
    def bits(self) -> int | None:
        """The most bits it can return; None if unlimited."""

    @property
    def key(self) -> HashKey | None:
        """The key of a keyed family, with which features are hashed too; None for others."""
        return None

    @abstractmethod
    def value(self, term: str) -> int:
        """The hash of a term as a number."""

    def digest(self, terms: Sequence[str], bits: int) -> NDArray[np.uint64]:
        """Hash many terms to `bits` bits each, as rows of ceil(bits / 64) words.

        Bit 0 is the most significant bit of a row's first word; unused bits are 0. Pass distinct
        terms: a repeated one is hashed again.

        >>> from neardup.hashes import hash_family
        >>> f"{hash_family('md5').digest(['coin'], 42)[0, 0] >> 22:042b}"
        '100101101010100101010001100110111000111111'
        """
        self.require_bits(bits)
        return self._rows(terms, bits)

    def require_bits(self, bits: int) -> None:
        """Refuse more bits than the family has."""
        if bits < 1:
            raise SettingError(f"bits={bits} must be at least 1")
        if self.bits is not None and bits > self.bits:
            raise SettingError(
                f"hash={self.name!r} gives {self.bits} bits, {bits} are asked for; "
                "use fewer bits or hash='nd1', which has no limit"
            )

    def _rows(self, terms: Sequence[str], bits: int) -> NDArray[np.uint64]:
        return rows_of_numbers([self.value(term) for term in terms], bits)

    @property
    def measured_bits(self) -> int:
        """The number of bits that are measured: 64, or all if it has fewer."""
        return _MEASURED_BITS if self.bits is None else min(self.bits, _MEASURED_BITS)

    def balance(self, words: Sequence[str]) -> BitBalance:
        """Measure the balance of its bits over some words."""
        from neardup.hashes.balance import BitBalance

        return BitBalance.of(self.digest(words, self.measured_bits), self.measured_bits)

    @cached_property
    def fit(self) -> str | None:
        """None if it is fit for fingerprints, else the reason, measured over common words."""
        return self.balance(common_words()).flaw

    def __str__(self) -> str:
        return self.name


def vocabulary_of(terms: Sequence[str]) -> Vocabulary:
    """The terms in native memory; a lone surrogate is an `InputError`."""
    return terms if isinstance(terms, Vocabulary) else Vocabulary.of(list(map(utf8, terms)))


def utf8(term: str) -> bytes:
    """The UTF-8 bytes of a term; a lone surrogate is an `InputError`."""
    try:
        return term.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"the term {term!r} holds a lone surrogate (U+{ord(term[error.start]):04X}), "
            "which is not valid Unicode; repair or drop it"
        ) from None
