"""Arithmetic whose result does not depend on the machine, its BLAS or its threads.

A sum of floats depends on the order of its terms, and linear algebra libraries choose the order by
the processor and the number of threads. If the terms are multiples of a coarse grid, every partial
sum fits into the 53 bits of a float and is exact, so that all orders agree. Matrices are therefore
split into two parts of 21 to 26 bits. Everything else here is a single IEEE operation per element
(+ − × ÷ √ are rounded the same way everywhere) or a sum from left to right.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LARGEST_SIZE = 4096


def product(left: Floats, right: Floats) -> Floats:
    """The matrix product, independent of the order in which a library sums.

    The absolute values of entries and of partial sums of dot products must be at most 1: either
    both sides are unit vectors, or the absolute values of each row of `left` sum to at most 1.
    """
    bits = _part_bits(left.shape[1])
    left_high, left_low = _parts(left, bits)
    right_high, right_low = _parts(right, bits)
    return left_high @ right_high + (left_high @ right_low + left_low @ right_high)


def resolution(size: int) -> float:
    """The grid to which `product` rounds the entries of vectors of this size."""
    return math.ldexp(1.0, -2 * _part_bits(size))


def _part_bits(size: int) -> int:
    # high · high: at most 1 on a grid of 2^-2b, so 2b <= 52. high · low: at most size · 2^-(b + 1)
    # on a grid of 2^-3b, so 2b - 1 + log2(size) <= 53.
    return min(26, 27 - ((size - 1).bit_length() + 1) // 2)


def _parts(matrix: Floats, bits: int) -> tuple[Floats, Floats]:
    high = np.rint(matrix * 2.0**bits) * 2.0**-bits
    low = np.rint((matrix - high) * 2.0 ** (2 * bits)) * 2.0 ** (-2 * bits)
    return high, low


def total(values: Floats) -> float:
    """The sum from left to right, by a cumulative sum, which has no other order."""
    return float(np.cumsum(values)[-1])


def row_totals(matrix: Floats) -> Floats:
    """The sum of each row from left to right."""
    sums = np.zeros(len(matrix))
    for column in range(matrix.shape[1]):
        sums += matrix[:, column]
    return sums


def unit(rows: Floats) -> Floats:
    """Scale rows to length 1."""
    return rows / np.sqrt(row_totals(rows * rows))[:, None]


def power_of_two_above(value: float) -> float:
    """A power of two larger than a positive value; scaling by it is exact."""
    return math.ldexp(1.0, math.frexp(value)[1])
