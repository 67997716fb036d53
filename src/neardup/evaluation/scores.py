"""Precision, recall and F1 of pairs and clusters, from one cluster number per document.

A number of -1 says that the document is in no cluster: it is alone. All functions sort the
documents once and look at no pair, so a cluster of a million documents costs no more than a
million clusters of one.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from neardup.cluster import pairs_in
from neardup.frozen import dataclass

Labels = NDArray[np.int64]

# The number of standard deviations on each side of a 95 % interval.
_Z = 1.959963984540054


@dataclass(frozen=True)
class Interval:
    """A 95 % interval, both ends included."""

    low: float
    high: float


@dataclass(frozen=True)
class Rates:
    """Precision, recall and F1; NaN where nothing can be said.

    Precision is NaN if nothing was found, recall if there is nothing to find, F1 if both.
    """

    precision: float
    recall: float
    f1: float

    @classmethod
    def of_counts(cls, right: int, found: int, true: int) -> Rates:
        """From the pairs that are found and true, all that are found, and all that are true.

        >>> Rates.of_counts(right=6, found=8, true=12)
        Rates(precision=0.75, recall=0.5, f1=0.6)
        """
        return cls(_share(right, found), _share(right, true), _share(2 * right, found + true))


@dataclass(frozen=True)
class PairCounts:
    """Pairs of documents: found and true (`right`), all that are found, all that are true."""

    right: int
    found: int
    true: int

    @property
    def rates(self) -> Rates:
        return Rates.of_counts(self.right, self.found, self.true)


def pairwise(truth: Labels, found: Labels) -> Rates:
    """Rates of the pairs of documents that are in the same cluster.

    >>> truth, found = np.array([0, 0, 0, 1, 1, -1]), np.array([0, 0, 1, 1, 1, -1])
    >>> pairwise(truth, found)
    Rates(precision=0.5, recall=0.5, f1=0.5)
    """
    return pair_counts(truth, found).rates


def pair_counts(truth: Labels, found: Labels) -> PairCounts:
    """How many pairs of documents are in the same cluster, by either and by both."""
    truth, found = _numbered(truth, found)
    both = _crossed(truth, found)
    return PairCounts(*(pairs_in(np.bincount(labels)) for labels in (both, found, truth)))


def bcubed(truth: Labels, found: Labels) -> Rates:
    """B-cubed rates (Bagga and Baldwin 1998): each document counts the same.

    The precision of a document is the share of its found cluster, itself included, that is in its
    true one; recall the other way round; both are means over all documents, F1 is of these means.

    >>> truth, found = np.array([0, 0, 0, 1, 1, -1]), np.array([0, 0, 1, 1, 1, -1])
    >>> rates = bcubed(truth, found)
    >>> round(rates.precision, 3), round(rates.recall, 3)
    (0.778, 0.778)
    """
    truth, found = _numbered(truth, found)
    if len(truth) == 0:
        return Rates(math.nan, math.nan, math.nan)
    both = _crossed(truth, found)
    together = np.bincount(both)[both]
    precision = float(np.mean(together / np.bincount(found)[found]))
    recall = float(np.mean(together / np.bincount(truth)[truth]))
    return Rates(precision, recall, 2 * precision * recall / (precision + recall))


def adjusted_rand(truth: Labels, found: Labels) -> float:
    """The adjusted Rand index (Hubert and Arabie 1985): 1 if equal, about 0 if by chance.

    >>> adjusted_rand(np.array([0, 0, 1, 1, -1]), np.array([5, 5, 2, 2, 2]))
    0.5454545454545454
    """
    counts, n = pair_counts(truth, found), len(truth)
    every = n * (n - 1) // 2
    # Whole numbers up to here: their products are beyond the exact range of floats.
    above = counts.right * every - counts.found * counts.true
    below = (counts.found + counts.true) * every - 2 * counts.found * counts.true
    return 1.0 if below == 0 else 2 * above / below


def wilson(successes: float, trials: float) -> Interval:
    """The 95 % interval of a share (Wilson 1927), for trials that do not depend on each other.

    >>> interval = wilson(9, 10)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.596, 0.982)
    """
    if trials <= 0:
        return Interval(math.nan, math.nan)
    share, z2 = successes / trials, _Z * _Z
    middle = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = _Z / (1 + z2 / trials) * math.sqrt((share * (1 - share) + z2 / (4 * trials)) / trials)
    # At shares of 0 and 1 the formula gives these very ends, but for rounding.
    low = 0.0 if successes == 0 else max(0.0, middle - half)
    high = 1.0 if successes == trials else min(1.0, middle + half)
    return Interval(low, high)


def _numbered(truth: Labels, found: Labels) -> tuple[Labels, Labels]:
    if len(truth) != len(found):
        raise ValueError(f"{len(truth)} true labels and {len(found)} found ones")
    return _distinct(truth), _distinct(found)


def _distinct(labels: Labels) -> Labels:
    """Numbers from 0 on, without gaps; those who are alone have one each."""
    alone = labels < 0
    found = np.empty(len(labels), np.int64)
    values, found[~alone] = np.unique(labels[~alone], return_inverse=True)
    found[alone] = len(values) + np.arange(int(alone.sum()))
    return found


def _crossed(one: Labels, other: Labels) -> Labels:
    """Numbers of the groups that are together in both; both are numbered without gaps."""
    width = int(other.max()) + 1 if len(other) else 1
    return np.asarray(np.unique(one * width + other, return_inverse=True)[1]).reshape(-1)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
