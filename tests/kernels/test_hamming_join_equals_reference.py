"""The joins find exactly what their twin finds: any width, distance and instruction set."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tests.kernels.near_rows import WIDTHS, flipped, near_rows, planted_rows, random_rows

from neardup import kernels
from neardup.kernels import hamming_join
from neardup.kernels.reference import hamming_join as twin

ISAS = kernels.available_isas()
# As measured; comparing nearly free; and so expensive that rows are divided to the last bit.
COSTS = [
    hamming_join.JoinCosts(),
    hamming_join.JoinCosts(compare=1e-6, move=100.0, bucket=100.0),
    hamming_join.JoinCosts(compare=1e6, move=1e-3, bucket=1e-3),
]


def lists(pairs):
    assert (pairs.a.dtype, pairs.b.dtype, pairs.distance.dtype) == (np.int64, np.int64, np.uint16)
    return list(zip(pairs.a.tolist(), pairs.b.tolist(), pairs.distance.tolist(), strict=True))


@st.composite
def cut_points(draw, bits, distance):
    """Blocks of any size, in any order, that need not cover all bits."""
    cuts = sorted(draw(st.sets(st.integers(0, bits), min_size=distance + 2)))
    blocks = list(pairwise(cuts))
    return draw(st.permutations(blocks)) if len(blocks) < 30 else blocks


@st.composite
def masks(draw, bits):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    each = draw(st.integers(0, min(bits, 20)))
    nothing = np.zeros(-(-bits // 64), np.uint64)
    drawn = [flipped(random, nothing, bits, each) for _ in range(draw(st.integers(0, 6)))]
    return np.array(drawn, np.uint64).reshape(-1, len(nothing))


@settings(max_examples=300)
@given(near_rows(), st.data())
def test_within(drawn, data):
    bits, distance, rows = drawn
    expected = lists(twin.join_within(rows, bits=bits, distance=distance))
    for isa in ISAS:
        for costs in COSTS:
            found = hamming_join.join_within(
                rows, bits=bits, distance=distance, costs=costs, isa=isa
            )
            assert lists(found) == expected
    if distance < bits:
        blocks = data.draw(cut_points(bits, distance))
        found = hamming_join.join_within(rows, bits=bits, distance=distance, blocks=blocks)
        assert lists(found) == expected


@settings(max_examples=200)
@given(near_rows(), st.floats(0, 1))
def test_within_between_two_sides(drawn, share):
    bits, distance, rows = drawn
    at = int(share * len(rows))
    expected = lists(twin.join_within(rows[:at], rows[at:], bits=bits, distance=distance))
    for isa in ISAS:
        for costs in COSTS:
            found = hamming_join.join_within(
                rows[:at], rows[at:], bits=bits, distance=distance, costs=costs, isa=isa
            )
            assert lists(found) == expected


@settings(max_examples=200)
@given(near_rows(), st.booleans(), st.booleans(), st.data())
def test_masks(drawn, two, limited, data):
    bits, distance, rows = drawn
    plan = data.draw(masks(bits))
    sides = (rows[: len(rows) // 2], rows[len(rows) // 2 :]) if two else (rows,)
    limits = {"masks": plan, "max_distance": distance if limited else None}
    expected = lists(twin.join_masks(*sides, **limits))
    for isa in ISAS:
        assert lists(hamming_join.join_masks(*sides, **limits, isa=isa)) == expected
        assert hamming_join.count_masks(*sides, **limits, isa=isa) == len(expected)


@settings(max_examples=200)
@given(near_rows(), st.booleans(), st.booleans())
def test_all(drawn, two, limited):
    _, distance, rows = drawn
    sides = (rows[: len(rows) // 3], rows[len(rows) // 3 :]) if two else (rows,)
    most = distance if limited else None
    expected = lists(twin.join_all(*sides, max_distance=most))
    for isa in ISAS:
        assert lists(hamming_join.join_all(*sides, max_distance=most, isa=isa)) == expected


@settings(max_examples=200)
@given(near_rows(), st.integers(1, 70), st.booleans(), st.data())
def test_windows(drawn, size, limited, data):
    _, distance, rows = drawn
    least = np.arange(1, len(rows) + 1)
    wanted = data.draw(st.lists(st.integers(0, size), min_size=len(rows), max_size=len(rows)))
    stops = np.minimum(np.maximum.accumulate(least + np.array(wanted, np.int64)), len(rows))
    most = distance if limited else None
    expected = lists(twin.join_windows(rows, stops, max_distance=most))
    for isa in ISAS:
        assert lists(hamming_join.join_windows(rows, stops, max_distance=most, isa=isa)) == expected


@settings(max_examples=200)
@given(near_rows(), st.floats(0, 1))
def test_groups_and_their_expansion(drawn, share):
    bits, distance, rows = drawn
    at = int(share * len(rows))
    groups = hamming_join.group_rows(rows)
    expected = twin.group_rows(rows)
    assert groups.firsts.tolist() == expected.firsts.tolist()
    assert groups.group_of.tolist() == expected.group_of.tolist()
    assert (hamming_join.equal_rows(rows) is None) == (twin.equal_rows(rows) is None)
    pairs = hamming_join.join_within(rows[groups.firsts], bits=bits, distance=distance)
    expanded = lists(hamming_join.expand_pairs(pairs, groups))
    assert expanded == lists(twin.expand_pairs(pairs, groups))
    assert expanded == lists(twin.join_within(rows, bits=bits, distance=distance))

    left, right = rows[:at], rows[at:]
    sides = hamming_join.group_rows(left), hamming_join.group_rows(right)
    pairs = hamming_join.join_within(
        left[sides[0].firsts], right[sides[1].firsts], bits=bits, distance=distance
    )
    expanded = lists(hamming_join.expand_pairs(pairs, *sides))
    assert expanded == lists(twin.expand_pairs(pairs, *sides))
    assert expanded == lists(hamming_join.join_all(left, right, max_distance=distance))


@pytest.mark.parametrize(
    ("bits", "distance"),
    [(bits, distance) for bits in WIDTHS for distance in (0, 1, 3, 6, 10) if distance <= bits],
)
def test_many_rows_on_any_number_of_threads(bits, distance):
    """Enough rows for several threads and digits; the full scan, tested above, is the oracle."""
    random = np.random.default_rng(bits + distance)
    near = planted_rows(random, 400, bits, 100, min(bits, distance + 1))
    # Narrow widths have few different rows, and too many pairs of them.
    rows = np.concatenate([random_rows(random, 9000 if bits > 30 else 100, bits), near])
    rows = rows[random.permutation(len(rows))]
    expected = lists(hamming_join.join_all(rows, max_distance=distance))
    half = len(rows) // 2
    between = lists(
        hamming_join.join_all(rows[:half], rows[half:], max_distance=distance, threads=2)
    )
    assert len(expected) >= 1
    for threads in (1, 2, 3):
        limits = {"bits": bits, "distance": distance, "threads": threads}
        for costs in COSTS[:: 2 if distance < 6 else 3]:
            assert lists(hamming_join.join_within(rows, **limits, costs=costs)) == expected
        assert lists(hamming_join.join_within(rows[:half], rows[half:], **limits)) == between


@pytest.mark.parametrize("bits", [64, 130])
def test_skewed_rows(bits):
    """Buckets as large as the input: rows that share all but a few bits, and equal rows."""
    random = np.random.default_rng(bits)
    rows = random_rows(random, 30_000, bits)
    shared = random_rows(random, 1, bits)
    shared[:, 0] &= np.uint64(2**64 - 2**27)
    rows[:, 0] = rows[:, 0] & np.uint64(2**27 - 1) | shared[:, 0]
    rows[:, 1:] = shared[:, 1:]
    expected = lists(hamming_join.join_all(rows, max_distance=2))
    assert len(expected) > 1000
    for threads in (1, 2, 3):
        assert (
            lists(hamming_join.join_within(rows, bits=bits, distance=2, threads=threads))
            == expected
        )
    equal = np.repeat(rows[:1], 5000, axis=0)
    groups = hamming_join.group_rows(equal, threads=3)
    assert groups.firsts.tolist() == [0]
    assert groups.group_of.tolist() == [0] * 5000


@pytest.mark.parametrize("bits", [64, 200])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_many_groups(bits, threads):
    random = np.random.default_rng(bits)
    some = random_rows(random, 20_000, bits)
    rows = some[random.integers(0, len(some), 40_000)]
    rows[::7] = some[0]
    groups = hamming_join.group_rows(rows, threads=threads)
    expected = twin.group_rows(rows)
    assert np.array_equal(groups.firsts, expected.firsts)
    assert np.array_equal(groups.group_of, expected.group_of)


@pytest.mark.parametrize("bits", [64, 128])
def test_many_rows_by_masks(bits):
    """Bands of 12 bits, with and without a limit, with any number of threads."""
    random = np.random.default_rng(bits)
    rows = np.concatenate(
        [planted_rows(random, 3000, bits, 800, 9), random_rows(random, 3000, bits)]
    )
    nothing = np.zeros(rows.shape[1], np.uint64)
    plan = np.array([flipped(random, nothing, bits, 12) for _ in range(5)])
    agree = [lists(hamming_join.join_masks(rows, masks=mask[None])) for mask in plan]
    for most in (None, 10):
        expected = sorted(
            {pair for pairs in agree for pair in pairs if most is None or pair[2] <= most}
        )
        for threads in (1, 2, 3):
            limits = {"masks": plan, "max_distance": most, "threads": threads}
            assert lists(hamming_join.join_masks(rows, **limits)) == expected
            assert hamming_join.count_masks(rows, **limits) == len(expected)
