import math
import random
from statistics import fmean

import numpy as np
import pytest

from neardup.hashes.measurement import Load, normal_score


def test_counts_and_what_follows():
    load = Load.of([0, 5, 10, 1, 2**200], slots=5)
    assert load.counts.tolist() == [3, 2, 0, 0, 0]  # 2^200 = 1 (mod 5)
    assert (load.words, load.slots, load.distinct, load.collisions) == (5, 5, 2, 3)
    assert load.longest_chain == 3
    assert load.chi_square == pytest.approx(4 + 1 + 1 + 1 + 1)
    assert load.degrees_of_freedom == 4


def test_negative_values_have_a_slot():
    assert Load.of([-1], slots=3).counts.tolist() == [0, 0, 1]


# Upper 5 %, 1 % and 0.1 % points of the chi-square distribution, from any table.
@pytest.mark.parametrize(
    ("degrees", "points"),
    [(10, (18.307, 23.209, 29.588)), (100, (124.342, 135.807, 149.449))],
)
def test_normal_score_meets_the_tables(degrees, points):
    for point, probability in zip(points, (0.05, 0.01, 0.001), strict=True):
        tail = math.erfc(normal_score(point, degrees) / math.sqrt(2)) / 2
        assert tail == pytest.approx(probability, rel=0.08)


def test_a_random_load_is_as_expected():
    draw = random.Random(3)
    loads = [Load.of([draw.randrange(257) for _ in range(1000)], 257) for _ in range(200)]
    assert fmean(load.distinct for load in loads) == pytest.approx(
        loads[0].expected_distinct, abs=1
    )
    assert abs(fmean(load.z_score for load in loads)) < 0.3
    assert abs(fmean(load.p_value for load in loads) - 0.5) < 0.1
    assert max(load.z_score for load in loads) < 4


def test_uneven_and_too_even_loads():
    assert Load.of([7] * 100, 257).z_score > 20
    assert Load.of([7] * 100, 257).p_value < 1e-50
    assert Load.of(range(257), 257).z_score < -20
    assert Load.of(range(257), 257).chi_square == 0


@pytest.mark.parametrize("slots", [2, 7, 56, 257, 1000])
@pytest.mark.parametrize("groups", [1, 8, 57, 1000])
def test_groups_lose_no_word(slots, groups):
    load = Load.of([x * x for x in range(500)], slots)
    grouped = load.grouped(groups)
    assert len(grouped) == min(groups, slots)
    sizes = np.diff(np.linspace(0, slots, len(grouped) + 1).round())
    assert (grouped * sizes).sum() == pytest.approx(slots)


def test_json_has_the_chains():
    found = Load.of([0, 5, 10, 1], slots=5).to_dict()
    assert found["chains"] == [3, 1, 0, 1]
    assert found["distinct"] == 2


def test_expected_chains_are_those_of_random_loads():
    load = Load.of(range(40), slots=10)
    expected = load.expected_chains(40)
    assert expected.sum() == pytest.approx(10)
    assert expected @ np.arange(41) == pytest.approx(40)
    assert 10 - expected[0] == pytest.approx(load.expected_distinct)
    assert load.expected_chains(45).tolist()[41:] == [0] * 5
