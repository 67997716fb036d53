"""Nothing within the distance is missed, nothing beyond it is given, by any complete way."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from tests.pairs.by_fingerprints.truth import WIDTHS, near_pairs, rows_of, triples

import neardup as nd
from neardup.pairs.by_fingerprints import MaskPlan, plan_of
from neardup.pairs.by_fingerprints.blocks import BlockPlan


@st.composite
def values(draw, bits):
    """Fingerprints that lie near each other: a few centres, and these with some bits flipped."""
    centres = draw(st.lists(st.integers(0, 2**bits - 1), min_size=1, max_size=3))
    near = st.builds(
        lambda centre, flips: centre ^ sum(1 << bit for bit in flips),
        st.sampled_from(centres),
        st.sets(st.integers(0, bits - 1), max_size=6),
    )
    return draw(st.lists(near, max_size=14))


def fingerprints(values, bits):
    return nd.Fingerprints(rows_of(values, bits), f"nd1/word:3/set/{bits}")


@st.composite
def cases(draw):
    bits = draw(st.sampled_from(WIDTHS))
    k = draw(st.one_of(st.integers(0, min(bits, 8)), st.just(bits)))
    return bits, k, draw(values(bits))


def complete_ways(bits, k):
    ways: list[str | BlockPlan] = ["auto", "all"]
    if k < bits:
        ways += [f"blocks:{k}", BlockPlan.of_blocks(k, k + 1, bits)]
    if k + 2 <= bits and k <= 6:
        ways.append(f"blocks:{k}/{k + 2}")
    if k <= 1:
        ways.append(f"probe:{k}")
    return ways


@given(cases())
@settings(max_examples=150)
def test_every_complete_way_equals_brute_force(case):
    bits, k, found = case
    truth = near_pairs(found, limit=k)
    for way in complete_ways(bits, k):
        table = nd.find_pairs(fingerprints(found, bits), max_distance=k, candidates=way)
        assert triples(table) == truth, way


@given(cases(), st.data())
@settings(max_examples=80)
def test_two_collections_equal_brute_force(case, data):
    bits, k, left = case
    right = data.draw(values(bits)) + left[: data.draw(st.integers(0, 3))]
    truth = near_pairs(left, right, limit=k)
    for way in complete_ways(bits, k):
        table = nd.find_pairs(
            fingerprints(left, bits), fingerprints(right, bits), max_distance=k, candidates=way
        )
        assert triples(table) == truth, way


@pytest.mark.parametrize("bits", WIDTHS)
def test_planted_pairs_at_exactly_the_distance_are_found(bits):
    """One flip pattern for every block boundary, where an off-by-one would lose a pair."""
    rng = np.random.default_rng(bits)
    k = min(3, bits - 1)
    centres = [int.from_bytes(rng.bytes(32), "big") >> (256 - bits) for _ in range(40)]
    flipped = [
        value ^ sum(1 << int(bit) for bit in rng.choice(bits, k, replace=False))
        for value in centres
    ]
    found = centres + flipped
    truth = near_pairs(found, limit=k)
    assert {(i, i + 40, k) for i in range(40)} <= set(truth)
    for way in ("auto", f"blocks:{k}", "all"):
        assert triples(nd.find_pairs(fingerprints(found, bits), None, k, way)) == truth


@given(st.sampled_from(WIDTHS).flatmap(lambda bits: st.tuples(st.just(bits), values(bits))))
@settings(max_examples=80)
def test_candidates_of_a_plan_are_the_pairs_that_agree_on_a_mask(case):
    bits, found = case
    plans = ["prefix:0", f"prefix:{bits}", f"prefix:{(bits + 1) // 2}", f"bands:{bits}x1"]
    plans += [f"blocks:{min(2, bits - 1)}", f"blocks:0/{bits}"]
    if bits >= 7:
        plans += [f"bands:2x{bits // 3}", "blocks:2/5"]
    rng = np.random.default_rng(bits)
    masks = [int(rng.integers(0, 2 ** min(bits, 62))) for _ in range(3)]
    for way in [*plans, masks]:
        plan = MaskPlan.of(way, bits) if way is masks else plan_of(way, bits)

        def agree(x, y, plan=plan):
            return any((x ^ y) & mask == 0 for mask in plan.masks)

        given_way = plan if way is masks else way
        assert plan.guarantee is not None
        for limit in (None, min(plan.guarantee, 2)):
            table = nd.find_pairs(fingerprints(found, bits), None, limit, given_way)
            assert triples(table) == near_pairs(found, limit=limit, wanted=agree), plan


@pytest.mark.parametrize("way", ["auto", "all", "blocks:2", "blocks:2/4", "bands:4x8", "rotate:8"])
@pytest.mark.parametrize("count", [0, 1])
def test_none_and_one(way, count):
    table = nd.find_pairs(np.zeros(count, np.uint64), max_distance=2, candidates=way)
    assert table.num_rows == 0
    assert table.schema.names == ["a", "b", "distance"]
    both = nd.find_pairs(np.zeros(count, np.uint64), np.zeros(1, np.uint64), 2, way)
    assert triples(both) == [(0, 0, 0)] * count


def test_the_widest_fingerprints():
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 2**64, (30, 64), np.uint64)
    rows[7] = rows[3]
    rows[7, 63] ^= np.uint64(1)
    for way in ("auto", "blocks:2", "all", "rotate:2", "bands:3x100"):
        assert (3, 7, 1) in triples(nd.find_pairs(rows, max_distance=2, candidates=way))


def test_types_of_the_columns():
    table = nd.find_pairs(np.array([1, 1], np.uint64), max_distance=0)
    assert table.schema.types == [pa.int64(), pa.int64(), pa.uint16()]
