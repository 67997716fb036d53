"""Bit balance: how evenly the bits of a hash are set, and how independent they are."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.hashes.rows import bit_columns

# The narrowest fingerprints in the literature; with fewer bits, unrelated documents come close.
_FEWEST_BITS = 32
# A feature bit set in 55 % of all words is set in 84 % of the fingerprints of 100 features.
_BIAS_ALLOWED = 0.05
_CORRELATION_ALLOWED = 0.1
# Deviations by chance: one of 64 bits deviates by 5 standard deviations once in 25,000 word lists,
# one of 2,016 pairs by 6 once in 250,000.
_BIAS_BY_CHANCE = 5 * 0.5
_CORRELATION_BY_CHANCE = 6.0
# With fewer words, even a bit set in three of four words may be chance.
_ENOUGH_WORDS = 100
_ROWS_AT_ONCE = 65_536


@dataclass(frozen=True)
class BitBalance:
    """The worst bias and correlation among the bits of a hash over some words; bit 0 is the first.

    A bit is fair if half of the words set it. Two bits are independent if their correlation is 0;
    a constant bit has correlation 0. A bit counts as biased if it deviates from fair by more than
    chance explains for this number of words, and by enough to matter.
    """

    words: int
    bits: int
    biased_bits: int
    worst_bit: int
    worst_share: float
    worst_pair: tuple[int, int] | None
    worst_correlation: float

    @classmethod
    def of(cls, rows: NDArray[np.uint64], bits: int) -> BitBalance:
        """Measure the rows of `HashFamily.digest`; there must be at least one."""
        words = len(rows)
        both = np.zeros((bits, bits))
        for first in range(0, words, _ROWS_AT_ONCE):
            part = bit_columns(rows[first : first + _ROWS_AT_ONCE], bits).astype(np.float64)
            both += part.T @ part
        ones = both.diagonal()
        spread = np.sqrt(ones * (words - ones))
        changing = np.outer(spread, spread)
        correlations = np.divide(
            words * both - np.outer(ones, ones), changing, np.zeros_like(both), where=changing > 0
        )
        upper = np.triu(correlations.clip(-1, 1), 1)
        bias = np.abs(ones / words - 0.5)
        worst = int(bias.argmax())
        i, j = divmod(int(np.abs(upper).argmax()), bits)
        return cls(
            words=words,
            bits=bits,
            biased_bits=int(np.count_nonzero(bias > _bias_allowed(words))),
            worst_bit=worst,
            worst_share=float(ones[worst] / words),
            worst_pair=(i, j) if upper[i, j] else None,
            worst_correlation=float(upper[i, j]),
        )

    @property
    def fit(self) -> bool | None:
        """Whether a hash with these bits is fit for fingerprints; None with too few words."""
        if self.flaw:
            return False
        return True if self.words >= _ENOUGH_WORDS else None

    @property
    def flaw(self) -> str | None:
        """Why a hash with these bits is unfit for fingerprints; None if no flaw is found."""
        found = []
        if self.bits < _FEWEST_BITS:
            found.append(f"only {self.bits} bit{'s' if self.bits > 1 else ''}")
        if self.biased_bits:
            found.append(f"{self._biased()}, {self._worst()}")
        allowed = max(_CORRELATION_ALLOWED, _CORRELATION_BY_CHANCE / math.sqrt(self.words))
        if self.worst_pair and abs(self.worst_correlation) > allowed:
            i, j = self.worst_pair
            found.append(f"bits {i} and {j} have a correlation of {self.worst_correlation:.2f}")
        return "; ".join(found) or None

    def _biased(self) -> str:
        verb = "is" if self.biased_bits == 1 else "are"
        return f"{self.biased_bits} of {self.bits} bits {verb} biased"

    def _worst(self) -> str:
        often = {0.0: "never set", 1.0: "always set"}.get(self.worst_share)
        return f"bit {self.worst_bit} is {often or f'set in {self.worst_share:.1%} of the words'}"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def _bias_allowed(words: int) -> float:
    return max(_BIAS_ALLOWED, _BIAS_BY_CHANCE / math.sqrt(words))
