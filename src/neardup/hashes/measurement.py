"""One hash family, tried on words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from neardup.errors import InputError, SettingError
from neardup.hashes.balance import BitBalance
from neardup.hashes.family import HashFamily
from neardup.hashes.load import Load

_SECONDS = 0.02


@dataclass(frozen=True)
class Measurement:
    """What a hash family does with some words."""

    family: HashFamily
    load: Load
    balance: BitBalance
    terms_per_second: float

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "name": self.family.name,
            "bits": self.family.bits,
            "fit": self.balance.fit,
            "flaw": self.balance.flaw,
            "load": self.load.to_dict(),
            "balance": self.balance.to_dict(),
            "terms_per_second": round(self.terms_per_second),
        }


def measure(family: HashFamily, words: Sequence[str], slots: int = 257) -> Measurement:
    """Try a hash family on words: their load in a table of `slots`, the bits, the speed.

    >>> from neardup.hashes import hash_family
    >>> tried = measure(hash_family("string:257:1024"), ["hola", "adeu", "a"])
    >>> tried.load.distinct, tried.balance.flaw
    (3, 'only 9 bits')
    """
    if not words:
        raise InputError("there are no words to try a hash family on")
    if slots < 2:
        raise SettingError(f"slots={slots} must be at least 2")
    return Measurement(
        family,
        Load.of([family.value(word) for word in words], slots),
        family.balance(words),
        _speed(family, words),
    )


def _speed(family: HashFamily, words: Sequence[str]) -> float:
    """Terms per second in the fastest round, which other programs disturbed the least."""
    rounds: list[float] = []
    while sum(rounds) < _SECONDS:
        start = perf_counter()
        family.digest(words, family.measured_bits)
        rounds.append(perf_counter() - start)
    return len(words) / min(rounds)
