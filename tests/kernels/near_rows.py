"""Rows with near neighbours: random rows, and copies of them with some bits flipped."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

# Around the boundaries of words, half words and the keys of blocks.
WIDTHS = (1, 7, 32, 63, 64, 65, 128, 256, 1000)


def random_rows(random, count, bits):
    words = -(-bits // 64)
    rows = random.integers(0, 2**64, (count, words), np.uint64)
    rows[:, -1] &= np.uint64(2**64 - 2 ** (64 * words - bits))
    return rows


def flipped(random, row, bits, differences):
    """The row with `differences` bits flipped."""
    row = row.copy()
    for bit in random.choice(bits, differences, replace=False).tolist():
        row[bit // 64] ^= np.uint64(1 << (63 - bit % 64))
    return row


def planted_rows(random, count, bits, originals, most):
    """Copies of a few originals, each with 0 to `most` bits flipped, in any order."""
    centres = random_rows(random, max(originals, 1), bits)
    return np.array(
        [
            flipped(random, centres[random.integers(len(centres))], bits, random.integers(most + 1))
            for _ in range(count)
        ],
        np.uint64,
    ).reshape(count, -(-bits // 64))


@st.composite
def near_rows(draw, widths=WIDTHS, most_rows=60):
    """A width, a distance, and rows of which many are about that distance apart."""
    bits = draw(st.sampled_from(widths))
    distance = draw(st.one_of(st.integers(0, min(bits, 12)), st.integers(0, bits)))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    count, originals = draw(st.integers(0, most_rows)), draw(st.integers(1, 20))
    rows = planted_rows(random, count, bits, originals, min(bits, distance + 1))
    return bits, distance, rows
