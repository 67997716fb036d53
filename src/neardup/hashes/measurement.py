"""Measurement of a hash family: bit balance, load of a hash table, speed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import InputError, SettingError
from neardup.hashes.balance import BitBalance
from neardup.hashes.family import HashFamily

_SECONDS = 0.02


@dataclass(frozen=True, eq=False)
class Load:
    """The load of a hash table: `counts` has the number of words in each slot.

    >>> load = Load.of([3, 10, 4], slots=7)
    >>> load.counts.tolist(), load.distinct, load.collisions, load.longest_chain
    ([0, 0, 0, 2, 1, 0, 0], 2, 1, 2)
    """

    counts: NDArray[np.int64]

    @classmethod
    def of(cls, values: Sequence[int], slots: int) -> Load:
        """Put each value into slot value mod `slots`."""
        taken = np.fromiter((value % slots for value in values), np.int64, len(values))
        return cls(np.bincount(taken, minlength=slots))

    @property
    def slots(self) -> int:
        return len(self.counts)

    @property
    def words(self) -> int:
        return int(self.counts.sum())

    @property
    def distinct(self) -> int:
        """The number of slots that hold a word."""
        return int(np.count_nonzero(self.counts))

    @property
    def expected_distinct(self) -> float:
        """The expected number of slots that as many words would take at random."""
        return self.slots * -math.expm1(self.words * math.log1p(-1 / self.slots))

    def expected_chains(self, most: int) -> NDArray[np.float64]:
        """The expected number of slots with 0, 1, … `most` words for a random load (binomial).

        >>> Load.of([0, 0], slots=2).expected_chains(2).round(3).tolist()
        [0.5, 1.0, 0.5]
        """
        words = self.words
        logs = [
            math.lgamma(words + 1)
            - math.lgamma(chain + 1)
            - math.lgamma(words - chain + 1)
            - chain * math.log(self.slots)
            + (words - chain) * math.log1p(-1 / self.slots)
            for chain in range(min(most, words) + 1)
        ]
        expected = np.zeros(most + 1)
        expected[: len(logs)] = self.slots * np.exp(logs)
        return expected

    @property
    def collisions(self) -> int:
        """The number of words whose slot was taken."""
        return self.words - self.distinct

    @property
    def longest_chain(self) -> int:
        """The number of words in the fullest slot."""
        return int(self.counts.max())

    @property
    def chi_square(self) -> float:
        """The sum of squared differences from an even load, divided by that load.

        For a random load, about `degrees_of_freedom`.
        """
        even = self.words / self.slots
        return float(((self.counts - even) ** 2).sum() / even)

    @property
    def degrees_of_freedom(self) -> int:
        """The number of slots minus one, since the number of words is fixed."""
        return self.slots - 1

    @property
    def z_score(self) -> float:
        """The chi-square in standard deviations from a random load, positive if more uneven."""
        return normal_score(self.chi_square, self.degrees_of_freedom)

    @property
    def p_value(self) -> float:
        """The probability that a random load is at least as uneven."""
        return math.erfc(self.z_score / math.sqrt(2)) / 2

    def grouped(self, groups: int) -> NDArray[np.float64]:
        """The load of `groups` ranges of neighbouring slots; 1.0 is an even load.

        >>> Load.of([0, 1, 2, 3, 4, 4], slots=6).grouped(3).tolist()
        [1.0, 1.0, 1.0]
        """
        edges = np.linspace(0, self.slots, min(groups, self.slots) + 1).round().astype(np.int64)
        sums = np.add.reduceat(self.counts, edges[:-1])
        return np.asarray(sums / np.diff(edges) / (self.words / self.slots))

    def to_dict(self) -> dict[str, Any]:
        """The figures for JSON; `chains` counts the slots with 0, 1, 2 … words."""
        return {
            "distinct": self.distinct,
            "collisions": self.collisions,
            "longest_chain": self.longest_chain,
            "chi_square": self.chi_square,
            "degrees_of_freedom": self.degrees_of_freedom,
            "z_score": self.z_score,
            "p_value": self.p_value,
            "chains": np.bincount(self.counts).tolist(),
        }


def normal_score(chi_square: float, degrees_of_freedom: int) -> float:
    """The distance of a chi-square from its mean, in standard deviations of a normal variable.

    By the cube root of Wilson and Hilferty (1931), accurate to two digits from 3 degrees of freedom
    up. The load follows a chi-square distribution only with about one word per slot or more.

    >>> round(normal_score(294.32, 256), 2)  # exceeded with probability 5 %
    1.64
    """
    spread = 2 / (9 * degrees_of_freedom)
    root = float((chi_square / degrees_of_freedom) ** (1 / 3))
    return (root - (1 - spread)) / math.sqrt(spread)


@dataclass(frozen=True)
class Measurement:
    """The measurements of a hash family over some words."""

    family: HashFamily
    load: Load
    balance: BitBalance
    terms_per_second: float

    def to_dict(self) -> dict[str, Any]:
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
    """Measure a hash family over words: load of a table with `slots` slots, bits, speed.

    >>> from neardup.hashes import hash_family
    >>> tried = measure(hash_family("string:257:1024"), ["hola", "adeu", "a"])
    >>> tried.load.distinct, tried.balance.flaw
    (3, 'only 9 bits')
    """
    if not words:
        raise InputError("there are no words to measure a hash family on; give at least one")
    if slots < 2:
        raise SettingError(f"slots={slots} must be at least 2")
    return Measurement(
        family,
        Load.of([family.value(word) for word in words], slots),
        family.balance(words),
        _speed(family, words),
    )


def _speed(family: HashFamily, words: Sequence[str]) -> float:
    """Terms per second in the fastest round, the one least disturbed by other programs."""
    rounds: list[float] = []
    while sum(rounds) < _SECONDS:
        start = perf_counter()
        family.digest(words, family.measured_bits)
        rounds.append(perf_counter() - start)
    return len(words) / min(rounds)
