"""How many isolated pairs sort-and-rotate finds, by a formula.

Two fingerprints of a pair, rotated, agree on L bits and differ in the next one. Sorted among n
random ones, about n / 2^(L+1) of these lie between the two: half of those that share the L bits,
because the pair's later bits are mostly alike. The pair is found where fewer than `window` do,
which has the chance of a Poisson variable. The rotations are not independent, since they see the
same differing bits; so we sum over where these are, from one to the next, around the circle.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

import numpy as np
from numpy.typing import NDArray

# Gaps less likely than this are left out; the recall is then off by less than one in a million.
_NEGLIGIBLE = 1e-12


def rotation_recall(agrees: float, n: int, bits: int, shifts: Sequence[int], window: int) -> float:
    """The share of pairs found whose bits agree with the chance `agrees`, among n others."""
    if agrees >= 1:
        return 1.0
    longest = bits if agrees > 0 else 1
    if 0 < agrees < 1:
        longest = min(bits, 2 + int(log(_NEGLIGIBLE) / log(agrees)))
    missed = _missed_by_length(n, longest, window)
    turned = np.zeros(2 * bits, np.bool_)
    turned[list(shifts)] = True
    turned[bits:] = turned[:bits]
    # weights[j, g - 1]: from a differing bit at j - g to the next one at j, every rotation that
    # begins in between missing the pair.
    weights = np.zeros((2 * bits, longest))
    for gap in range(1, longest + 1):
        ends = np.arange(gap, 2 * bits)
        begins_here = turned[ends - gap + 1]
        before = weights[ends, gap - 2] if gap > 1 else (1 - agrees) * np.ones(len(ends))
        step = agrees if gap > 1 else 1.0
        weights[ends, gap - 1] = before * step * np.where(begins_here, missed[gap - 1], 1.0)
    return 1 - _around_the_circle(weights, bits, longest)


def _missed_by_length(n: int, longest: int, window: int) -> NDArray[np.float64]:
    """For each agreed length, the chance that `window` or more others come between."""
    missed = np.empty(longest)
    for length in range(longest):
        between = n * 0.5 ** (length + 1)
        term = found = exp(-between)
        for count in range(1, window):
            term *= between / count
            found += term
        missed[length] = max(0.0, 1 - found)
    return missed


def _around_the_circle(weights: NDArray[np.float64], bits: int, longest: int) -> float:
    """Sum over the first differing bit f, and over all ways from there to f + bits.

    paths[f, j] is the weight of all ways from f to a differing bit at j.
    """
    firsts = min(bits, longest)
    paths = np.zeros((firsts, bits + firsts))
    paths[np.arange(firsts), np.arange(firsts)] = 1.0
    for j in range(1, bits):
        reach = min(j, longest)
        gaps = np.arange(1, reach + 1)
        reached = paths[:, j - gaps] @ weights[j, gaps - 1]
        reached[j:] = paths[j:, j]  # no way leads back before the first one
        if j < firsts:
            reached[j] = 1.0
        paths[:, j] = reached
    total = 0.0
    for first in range(firsts):
        gaps = np.arange(first + 1, min(longest, bits) + 1)
        total += float(paths[first, first + bits - gaps] @ weights[first + bits, gaps - 1])
    return total
