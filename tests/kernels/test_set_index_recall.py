"""How many similar sets the bands find that an index takes for a threshold."""

from __future__ import annotations

from math import ceil

import numpy as np
import pytest
from tests.kernels.set_index_documents import block, matches, native, plan_of

from neardup.kernels.reference import set_index as twin
from neardup.kernels.set_index import SetSegment, SetView, pack_sets
from neardup.pairs.recall import minhash_bands

THRESHOLDS = [0.3, 0.5, 0.7, 0.8, 0.9]
SIZES = [1, 2, 3, 5, 8, 13, 30, 100, 300, 1000, 3000]
PAIRS = 400
FEW = 200  # of large sets, which take longer


def pairs_of(random, size, threshold, nested, count=PAIRS):
    """Pairs of sets that are just as similar as the threshold asks, or a little more.

    Both are of about that size; or one is part of the other.
    """
    shared = size if nested else ceil(2 * size * threshold / (1 + threshold) - 1e-9)
    first = size - shared
    second = int(size / threshold + 1e-9) - size if nested else size - shared
    left, right = [], []
    for _ in range(count):
        hashes = random.integers(0, 2**64, shared + first + second, np.uint64).tolist()
        both = hashes[:shared]
        left.append(dict.fromkeys(both + hashes[shared : shared + first], 1.0))
        right.append(dict.fromkeys(both + hashes[shared + first :], 1.0))
    return left, right


def found_of(plan, left, right):
    """The number of pairs found, of sets that are in one segment."""
    numbers = list(range(len(left)))
    there = block(plan, left, numbers)
    packed = pack_sets(plan, [there], None, 2)
    view = SetView(
        [SetSegment(np.frombuffer(packed, np.uint8), [there])], [np.empty(0, np.uint64)], None, 0
    )
    options = {"threshold": plan.threshold, "limit": None, "now": 0, "skip": None}
    found = matches(view.search(native(plan, right), **options, threads=2, isa="auto"))
    return sum(number in dict(these) for number, these in enumerate(found))


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_recall_at_the_threshold(threshold, nested):
    """At least 99 % of the pairs of every size, from sets of one feature to 3,000."""
    random = np.random.default_rng(16)
    bands, minima = minhash_bands(threshold)
    plan = plan_of(threshold=threshold, bands=bands, minima=minima)
    shares = {}
    for size in SIZES:
        count = PAIRS if size <= 300 else FEW
        pairs = pairs_of(random, size, threshold, nested, count)
        shares[size] = found_of(plan, *pairs) / count
    assert min(shares.values()) >= 0.99, shares


def test_keys_of_the_twin_have_the_recall():
    """The recall is that of the keys: those of the twin miss as few."""
    random = np.random.default_rng(17)
    bands, minima = minhash_bands(0.8)
    missed = 0
    for a, b in zip(*pairs_of(random, 60, 0.8, False), strict=True):
        keys = [twin.band_keys([feature >> 32 for feature in one], bands, minima) for one in (a, b)]
        missed += all(x != y for x, y in zip(*keys, strict=True))
    assert missed <= PAIRS // 100
