"""Rates of pairs with intervals, from how many partners each document has, found and true.

A pair counts once for each of its two documents, so half the sum over documents counts pairs, and
the sums over true clusters tell how much the rates depend on single clusters.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.evaluation.scores import Interval, PairCounts, Rates, wilson
from neardup.frozen import dataclass

Places = NDArray[np.int64]

RESAMPLES = 1000
_SEED = 20240229
# So many numbers of a resample are held at once.
_AT_ONCE = 4_000_000
_ENDS = (2.5, 97.5)


@dataclass(frozen=True)
class Measured:
    """Pairs counted, their rates, and 95 % intervals.

    With `at_least`, precision and F1 are lower bounds: pairs without a label count as false.
    """

    what: str
    counts: PairCounts
    precision_interval: Interval
    recall_interval: Interval
    f1_interval: Interval
    at_least: bool = False

    @property
    def rates(self) -> Rates:
        return self.counts.rates

    @property
    def precision(self) -> float:
        return self.rates.precision

    @property
    def recall(self) -> float:
        return self.rates.recall

    @property
    def f1(self) -> float:
        return self.rates.f1

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; what nothing can be said about is None."""
        found: dict[str, Any] = {"what": self.what, **asdict(self.counts)}
        for name in ("precision", "recall", "f1"):
            interval = getattr(self, f"{name}_interval")
            found[name] = _known(getattr(self, name))
            found[f"{name}_interval"] = [_known(interval.low), _known(interval.high)]
        return {**found, "precision_and_f1_are_lower_bounds": self.at_least}


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


@dataclass(frozen=True, eq=False)
class Partners:
    """For each document, how many partners it has: found and true (`right`), found, and true."""

    right: Places
    found: Places
    true: Places

    @property
    def counts(self) -> PairCounts:
        return PairCounts(*(int(side.sum()) // 2 for side in (self.right, self.found, self.true)))

    def measured(self, what: str, clusters: Places, *, at_least: bool = False) -> Measured:
        """The rates, with intervals by a bootstrap over true clusters (-1 is a cluster of one)."""
        intervals = _intervals(self, clusters)
        return Measured(what, self.counts, *intervals, at_least=at_least)


def partners_of_clusters(truth: Places, found: Places) -> Partners:
    """The partners of each document in its true and in its found cluster; -1 is alone."""
    width = int(found.max()) + 1 if len(found) else 1
    both = np.where((truth >= 0) & (found >= 0), truth * width + found, -1)
    return Partners(*(_others_alike(labels) for labels in (both, found, truth)))


def partners_of_pairs(
    count: int, a: Places, b: Places, same: NDArray[np.bool_], found: NDArray[np.bool_]
) -> Partners:
    """The partners of each document in labelled pairs; a place of -1 counts at the other end."""
    a, b = np.where(a < 0, b, a), np.where(b < 0, a, b)
    sides = [
        np.bincount(a[flags], minlength=count) + np.bincount(b[flags], minlength=count)
        for flags in (same & found, found, same)
    ]
    return Partners(*sides)


def _others_alike(labels: Places) -> Places:
    """How many others have the same label as each."""
    found = np.zeros(len(labels), np.int64)
    known = labels >= 0
    _, number, sizes = np.unique(labels[known], return_inverse=True, return_counts=True)
    found[known] = sizes[number.reshape(-1)] - 1
    return found


def _intervals(partners: Partners, clusters: Places) -> tuple[Interval, Interval, Interval]:
    rows, counts = _by_cluster(partners, clusters)
    right, found, true = (rows[:, side].astype(np.float64) for side in range(3))
    samples = _resampled(counts, np.stack((right, found, true), axis=1))
    rates = partners.counts.rates
    shares = (
        (rates.precision, samples[:, 0], samples[:, 1], found),
        (rates.recall, samples[:, 0], samples[:, 2], true),
        (rates.f1, 2 * samples[:, 0], samples[:, 1] + samples[:, 2], found + true),
    )
    return _each(shares, counts)


def _each(
    shares: tuple[tuple[float, Any, Any, Any], ...], counts: Places
) -> tuple[Interval, Interval, Interval]:
    found = []
    for value, part, whole, own in shares:
        if math.isnan(value):
            found.append(Interval(math.nan, math.nan))
        elif value in (0.0, 1.0):
            # All resamples are the same; the clusters that could have shown another are trials.
            trials = int(counts[own > 0].sum())
            found.append(wilson(value * trials, trials))
        else:
            drawn = whole > 0
            low, high = np.percentile(part[drawn] / whole[drawn], _ENDS)
            found.append(Interval(float(low), float(high)))
    return found[0], found[1], found[2]


def _by_cluster(partners: Partners, clusters: Places) -> tuple[Places, Places]:
    """The distinct sums over true clusters, and how many clusters have each."""
    alone = clusters < 0
    numbers = np.empty(len(clusters), np.int64)
    known, numbers[~alone] = np.unique(clusters[~alone], return_inverse=True)
    numbers[alone] = len(known) + np.arange(int(alone.sum()))
    count = len(known) + int(alone.sum())
    sums = np.stack(
        [
            np.bincount(numbers, side, minlength=count).astype(np.int64)
            for side in (partners.right, partners.found, partners.true)
        ],
        axis=1,
    )
    rows, counts = np.unique(sums, axis=0, return_counts=True)
    return rows, counts


def _resampled(counts: Places, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sums of as many clusters as there are, drawn with replacement, for each resample.

    Clusters with the same sums are drawn together, which gives the same distribution.
    """
    clusters = int(counts.sum())
    if not clusters:
        return np.zeros((RESAMPLES, 3))
    random = np.random.default_rng(_SEED)
    chances = counts / clusters
    step = max(1, _AT_ONCE // len(counts))
    parts = [
        random.multinomial(clusters, chances, min(step, RESAMPLES - begin)) @ rows
        for begin in range(0, RESAMPLES, step)
    ]
    return np.concatenate(parts)
