"""Sort and rotate: the worked example of the course, and how much it finds."""

import numpy as np
import pytest
from tests.pairs.by_fingerprints.truth import WIDTHS, rows_of, triples

import neardup as nd
from neardup.pairs.by_fingerprints import plan_of
from neardup.pairs.by_fingerprints.rotate import RotatePlan, rotate_left
from neardup.pairs.recall import bit_agreement

VALUES = [37586, 50086, 2648, 934, 40957, 2650, 64475, 40955]
SORTED = [934, 2648, 2650, 37586, 40955, 40957, 50086, 64475]
TURNED = [3736, 3739, 10592, 10600, 19274, 32750, 32758, 61295]


def sixteen(values):
    return nd.Fingerprints(rows_of(values, 16), "nd1/word:3/set/16")


def test_adjacent_distances_of_the_worked_example():
    table = nd.find_pairs(sixteen(SORTED), candidates="rotate:1")
    assert triples(table) == [(i, i + 1, d) for i, d in enumerate([9, 1, 5, 6, 2, 9, 9])]
    assert sorted(VALUES) == SORTED


def test_rotated_by_two_the_missed_pair_lies_together():
    prints = sixteen(VALUES)
    turned = rotate_left(prints.array, 16, 2)[:, 0] >> np.uint64(48)
    assert sorted(turned.tolist()) == TURNED
    table = nd.find_pairs(sixteen(TURNED), candidates="rotate:1")
    assert table["distance"].to_pylist() == [2, 11, 1, 5, 6, 2, 6]
    plan = plan_of("rotate:8", 16)
    assert isinstance(plan, RotatePlan)
    assert plan.shifts == [0, 2, 4, 6, 8, 10, 12, 14]
    missed = (1, 3, 2)  # 50086 and 934
    assert missed not in triples(nd.find_pairs(prints, candidates="rotate:1"))
    assert missed in triples(nd.find_pairs(prints, candidates="rotate:8"))


@pytest.mark.parametrize("bits", WIDTHS)
def test_rotation_turns_every_bit(bits):
    rng = np.random.default_rng(bits)
    values = [int.from_bytes(rng.bytes(32), "big") >> (256 - bits) for _ in range(5)]
    for shift in {0, 1, bits // 2, bits - 1} - {bits}:
        turned = [(v << shift | v >> (bits - shift)) & (2**bits - 1) for v in values]
        assert np.array_equal(
            rotate_left(rows_of(values, bits), bits, shift), rows_of(turned, bits)
        )


def test_a_window_over_everything_finds_everything():
    rows = np.random.default_rng(2).integers(0, 2**64, (30, 2), np.uint64)
    table = nd.find_pairs(rows, candidates="rotate:1:29")
    assert table.equals(nd.find_pairs(rows, candidates="all"))
    both = nd.find_pairs(rows[:10], rows[5:], candidates="rotate:1:29")
    assert both.equals(nd.find_pairs(rows[:10], rows[5:], candidates="all"))


@pytest.mark.parametrize(
    ("name", "similarity"),
    [("rotate:1:2", 0.97), ("rotate:16", 0.9), ("rotate:64", 0.9), ("rotate:64:4", 0.9)],
)
def test_measured_recall_of_isolated_pairs_is_near_the_formula(name, similarity):
    """Four standard deviations of 1,500 pairs are 0.05, and the formula is an approximation:

    it takes what lies between a pair in two rotations for independent, which it is not quite.
    """
    rng = np.random.default_rng(7)
    n, count = 10_000, 1500
    differing = rng.random((count, 64)) >= bit_agreement(similarity)
    flips = np.packbits(differing, axis=1).view(">u8").astype(np.uint64).ravel()
    rows = rng.integers(0, 2**64, n, np.uint64)
    rows[count : 2 * count] = rows[:count] ^ flips
    plan = plan_of(name, 64)
    table = nd.find_pairs(rows, candidates=plan)
    a, b = table["a"].to_numpy(), table["b"].to_numpy()
    measured = np.count_nonzero((b - a == count) & (a < count)) / count
    assert measured == pytest.approx(plan.recall(similarity, n), abs=0.06)
    distinct = nd.find_pairs(rows, candidates=plan, group=True).pairs
    assert distinct.num_rows <= plan.expected_candidates(n)


def test_clusters_crowd_each_other_out():
    """The promise says so: adjacent neighbours lose most pairs of a cluster, `auto` none."""
    rng = np.random.default_rng(9)
    centres = np.repeat(rng.integers(0, 2**64, 100, np.uint64), 20)
    flips = np.uint64(1) << rng.integers(0, 64, (2, 2000), np.uint64)
    rows = centres ^ flips[0] ^ flips[1]
    truth = nd.find_pairs(rows, max_distance=4).num_rows
    recall = {
        name: nd.find_pairs(rows, max_distance=4, candidates=name).num_rows / truth
        for name in ("rotate:64", "rotate:64:4")
    }
    assert 0.1 < recall["rotate:64"] < 0.7
    assert recall["rotate:64"] + 0.1 < recall["rotate:64:4"] < 1


def test_recall_needs_to_know_among_how_many():
    plan = plan_of("rotate:8", 64)
    assert plan.recall(0.9) is None
    assert plan.recall(1.0, 1000) == 1.0
    assert plan.recall(0.9, 1000) > plan.recall(0.9, 1_000_000)
    assert 0 <= plan.recall(-1.0, 1000) < 0.01
