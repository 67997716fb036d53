"""Axes: a range of values with round numbers along it, as many as there is room for."""

from __future__ import annotations

import math
from dataclasses import dataclass

from neardup.report.dedup_svg import text_width

_GAP = 14  # between two labels side by side, at the least

Tick = tuple[float, str]


@dataclass(frozen=True)
class Axis:
    """Values from `low` to `high`, some of them with labels, and what they are."""

    low: float
    high: float
    ticks: tuple[Tick, ...]
    title: str
    is_log: bool = False

    def share(self, value: float) -> float:
        """How far along the axis a value is, from 0 to 1."""
        if self.is_log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def linear_axis(
    low: float, high: float, title: str, *, room: float = 270, whole: bool = False
) -> Axis:
    """At most eight ticks, at multiples of 1, 2 or 5; fewer if they need more than `room`."""
    for pieces in range(7, 1, -1):
        ticks = _ticks(low, high, _step(high - low, pieces, whole))
        if sum(text_width(label) + _GAP for _, label in ticks) <= room:
            break
    return Axis(low, high, ticks, title)


def count_axis(most: int, noun: str) -> Axis:
    """From 0 to a little more than the highest bar."""
    high = 1.06 * most
    return Axis(0, high, _ticks(0, high, _step(high, 6, whole=True)), noun)


def log_count_axis(most: int, noun: str) -> Axis:
    """From below 1, so that a single one has a bar too; ticks at 1, 10, 100."""
    high = 2.0 * max(5, most)
    powers = [10**power for power in range(int(math.log10(high)) + 1)]
    if len(powers) < 3:
        powers = [value for power in powers for value in (power, 2 * power, 5 * power)]
    ticks = [(float(value), count_label(value)) for value in powers if value <= high]
    return Axis(0.5, high, tuple(ticks[:: -(-len(ticks) // 7)]), f"{noun} (log scale)", True)


def count_label(value: float) -> str:
    """A whole number that is never long.

    >>> count_label(12000), count_label(2_500_000), count_label(2**30)
    ('12,000', '2.5M', '1.07G')
    """
    for size, letter in ((1e9, "G"), (1e6, "M")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:,.0f}"


def _step(room: float, pieces: int, whole: bool = False) -> float:
    """The smallest of ..., 0.5, 1, 2, 5, 10, ... of which at most `pieces` fit into the room.

    >>> _step(0.2, 5), _step(14_000, 5), _step(3, 5, whole=True)
    (0.05, 5000.0, 1)
    """
    power = 10.0 ** math.floor(math.log10(room / pieces))
    steps = (factor * power for factor in (1, 2, 5, 10))
    step = next(step for step in steps if step * pieces >= room * (1 - 1e-9))
    return max(1, step) if whole else step


def _ticks(low: float, high: float, step: float) -> tuple[Tick, ...]:
    """The multiples of a step, with as many digits as it has; a bare 0 for nothing.

    >>> [label for _, label in _ticks(0, 2.2, 0.5)]
    ['0', '0.5', '1.0', '1.5', '2.0']
    """
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    places = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return tuple((place * step, _label(place * step, digits)) for place in places)


def _label(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if digits and value else count_label(value)
