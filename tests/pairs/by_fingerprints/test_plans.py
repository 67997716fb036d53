"""What plans say about themselves is true: tables, guarantee, recall, candidates, names."""

from itertools import combinations, pairwise
from math import comb, prod

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import neardup as nd
from neardup.pairs.by_fingerprints import MaskPlan, plan_of
from neardup.pairs.by_fingerprints.blocks import cut
from neardup.pairs.by_fingerprints.masks import agreement, guarantee
from neardup.pairs.by_fingerprints.probe import ProbePlan
from neardup.pairs.recall import bit_agreement

BITS = 8
masks = st.lists(st.integers(0, 2**BITS - 1), min_size=1, max_size=5)


@given(masks, st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]))
@settings(max_examples=150)
def test_agreement_is_the_sum_over_all_differences(masks, agrees):
    expected = sum(
        (1 - agrees) ** difference.bit_count() * agrees ** (BITS - difference.bit_count())
        for difference in range(2**BITS)
        if any(difference & mask == 0 for mask in masks)
    )
    assert agreement(masks, BITS, agrees) == pytest.approx(expected, abs=1e-12)


@given(masks)
@settings(max_examples=150)
def test_guarantee_is_the_largest_distance_at_which_no_difference_is_missed(masks):
    missed = [
        difference.bit_count()
        for difference in range(2**BITS)
        if all(difference & mask for mask in masks)
    ]
    assert guarantee(masks, BITS) == min(missed, default=BITS + 1) - 1
    assert MaskPlan.of(masks, BITS).guarantee == guarantee(masks, BITS)


@pytest.mark.parametrize(("k", "m"), [(0, 1), (0, 3), (1, 2), (3, 4), (3, 6), (4, 9), (6, 8)])
@pytest.mark.parametrize("bits", [9, 64, 65, 256])
def test_blocks_promise_what_their_masks_keep(k, m, bits):
    plan = plan_of(f"blocks:{k}/{m}", bits)
    assert isinstance(plan, MaskPlan)
    assert plan.tables == comb(m, k)
    assert plan.guarantee == k == guarantee(plan.masks, bits)
    assert all(mask >> bits == 0 for mask in plan.masks)
    # The chance that at least m - k of the blocks agree.
    widths = [stop - start for start, stop in cut(bits, m)]
    p = bit_agreement(0.97)
    expected = 0.0
    for flawed in range(k + 1):
        for chosen in combinations(range(m), flawed):
            expected += prod(
                1 - p**w if block in chosen else p**w for block, w in enumerate(widths)
            )
    assert plan.recall(0.97) == pytest.approx(expected, rel=1e-9)


def test_blocks_cover_every_bit_once():
    for bits in (1, 7, 64, 100):
        for blocks in range(1, bits + 1):
            edges = cut(bits, blocks)
            assert edges[0][0] == 0
            assert edges[-1][1] == bits
            assert all(a[1] == b[0] for a, b in pairwise(edges))
            widths = {stop - start for start, stop in edges}
            assert max(widths) - min(widths) <= 1 <= min(widths)


def test_the_plans_of_the_literature():
    four_tables = plan_of("blocks:3", 64)
    assert isinstance(four_tables, MaskPlan)
    assert [f"{mask:016x}" for mask in four_tables.masks] == [
        "ffff000000000000",
        "0000ffff00000000",
        "00000000ffff0000",
        "000000000000ffff",
    ]
    assert plan_of("blocks:3/6", 64).tables == 20
    bands = plan_of("bands:3x18", 54)
    assert (bands.tables, bands.guarantee) == (3, 2)
    p = bit_agreement(0.9)
    assert bands.recall(0.9) == pytest.approx(1 - (1 - p**18) ** 3)
    # 58,102 documents and bands of 10 bits: real text agrees more often than random bits.
    assert plan_of("bands:2x10", 20).expected_candidates(58_102) == pytest.approx(3.3e6, rel=0.01)


@pytest.mark.parametrize("name", ["bands:3x18", "bands:16x4", "blocks:3", "blocks:3/6", "prefix:9"])
def test_measured_recall_is_that_of_the_formula(name):
    rng = np.random.default_rng(5)
    count, similarity = 2000, 0.9
    differing = rng.random((count, 64)) >= bit_agreement(similarity)
    flips = np.packbits(differing, axis=1).view(">u8").astype(np.uint64).ravel()
    left = rng.integers(0, 2**64, count, np.uint64)
    plan = plan_of(name, 64)
    table = nd.find_pairs(left, left ^ flips, candidates=plan)
    found = np.count_nonzero(table["a"].to_numpy() == table["b"].to_numpy())
    expected = plan.recall(similarity)
    spread = np.sqrt(expected * (1 - expected) / count)
    assert abs(found / count - expected) < 4 * spread


@pytest.mark.parametrize("name", ["bands:4x6", "blocks:7", "blocks:3/5", "prefix:8"])
def test_random_fingerprints_give_the_expected_candidates(name):
    rows = np.random.default_rng(11).integers(0, 2**64, 1500, np.uint64)
    plan = plan_of(name, 64)
    found = nd.find_pairs(rows, candidates=name).num_rows
    expected = plan.expected_candidates(1500)
    assert abs(found - expected) < 5 * np.sqrt(expected) + 3


def test_probe_tells_the_binomial_tail():
    plan = plan_of("probe:2", 64)
    assert isinstance(plan, ProbePlan)
    assert plan.probes == 1 + 64 + 2016
    p = bit_agreement(0.99)
    tail = sum(comb(64, d) * (1 - p) ** d * p ** (64 - d) for d in range(3))
    assert plan.recall(0.99) == pytest.approx(tail)
    assert plan.recall(1.0) == 1.0
    assert plan.recall(-1.0) == 0.0
    assert 0 < plan_of("probe:1", 900).expected_candidates(10**6) < 1e-200


def test_every_plan_describes_itself():
    for name in ("all", "blocks:3", "bands:3x18", "prefix:9", "probe:1", "rotate:4:2"):
        plan = plan_of(name, 64)
        assert str(plan) == name
        assert plan.describe(10**6).startswith(f"{name} on 64 bits")
        assert "candidates and need" in plan.describe(10**6)
        assert "promise" in type(plan).__doc__ or "not" in plan.promise
        assert plan.memory(10**6) >= 0
    assert "no other" in plan_of("length:0.2", 64).describe(10**6)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "is unknown; choose auto, all"),
        ("blocks", "is unknown"),
        ("blocks:-1", "is unknown"),
        ("blocks:३", "is unknown"),
        ("bands:3", "is unknown"),
        ("all\n", "is unknown"),
        ("blocks:16", "needs from 17 to 16 blocks for fingerprints of 16 bits"),
        ("blocks:3/2", "needs from 4 to 16 blocks"),
        ("bands:3x18", "needs 54 bits, but these fingerprints have 16"),
        ("bands:0x3", "from 1 to 10,000"),
        ("blocks:7/16", "has 11,440 tables"),
        ("prefix:17", "more than the 16 bits"),
        ("probe:17", "more than the 16 bits"),
        ("rotate:0", "from 1 to 16 rotations"),
        ("rotate:17", "from 1 to 16 rotations"),
        ("rotate:2:0", "a window of at least 1"),
    ],
)
def test_names_that_cannot_work(name, message):
    with pytest.raises(nd.SettingError, match=message):
        plan_of(name, 16)


def test_a_probe_of_too_many_patterns_names_the_way_out():
    with pytest.raises(nd.SettingError, match=r"would look up .* take candidates='blocks:6'"):
        plan_of("probe:6", 64)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([256], "mask 0x100 does not fit fingerprints of 8 bits"),
        ([-1], "mask -0x1 does not fit"),
        ([], "this list has 0 tables"),
        ([1.5], r"a mask is an int, not 1\.5"),
        (3, "neither a plan, its name, nor a list of masks"),
        (plan_of("all", 9), "is for 9 bits, but these fingerprints have 8"),
    ],
)
def test_masks_that_cannot_work(given, message):
    with pytest.raises(nd.SettingError, match=message):
        plan_of(given, 8)


def test_similarity_is_a_cosine():
    with pytest.raises(nd.SettingError, match="from -1 to 1"):
        plan_of("bands:2x4", 8).recall(1.1)


def test_masks_too_tangled_for_the_recall_are_refused():
    rng = np.random.default_rng(3)
    tangled = [sum(1 << int(bit) for bit in rng.choice(62, 4, False)) for _ in range(60)]
    with pytest.raises(nd.SettingError, match="overlap too much"):
        MaskPlan.of(tangled, 62).recall(0.9)
