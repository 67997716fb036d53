"""The choice of joins: no pair that they leave out can reach the threshold."""

import random

import pytest
from hypothesis import given, settings, strategies as st

from neardup.scoring.blocking import chosen_joins


@given(st.integers(0, 10**6), st.sampled_from([0.1, 0.3, 0.5, 0.8, 0.95, 1.0]))
@settings(max_examples=200, deadline=None)
def test_a_pair_that_no_join_finds_is_below_the_threshold(seed, threshold):
    rng = random.Random(seed)
    count = rng.randint(1, 6)
    weights = [rng.choice([0.3, 0.5, 1.0, 2.0]) for _ in range(count)]
    binary = [rng.random() < 0.5 for _ in range(count)]
    every, bounds = sum(weights), []
    for fields in range(1, 1 << count):
        filled = sum(weight for f, weight in enumerate(weights) if fields >> f & 1)
        most = filled - threshold * max(filled, every / 2)
        if most >= 0 and rng.random() < 0.5:
            bounds.append((fields, most))
    if not bounds:
        return
    costs = [
        [rng.random() * 100] if yes else sorted(rng.random() * 1000 for _ in range(20))
        for yes in binary
    ]
    joins = {join.field: join.least for join in chosen_joins(bounds, weights, binary, costs)}
    for fields, _ in bounds:
        # The best that a pair can do which every join misses.
        total = filled = 0.0
        for f, weight in enumerate(weights):
            if fields >> f & 1:
                filled += weight
                if f not in joins:
                    total += weight
                elif not binary[f]:
                    total += weight * max(0.0, joins[f] - 1e-12)
        assert total / max(filled, every / 2) < threshold


def test_the_field_that_brings_the_fewest_together_is_joined():
    bounds = [(0b111, 0.6)]
    joins = chosen_joins(bounds, [1, 1, 1], [True, True, True], [[1000.0], [10.0], [500.0]])
    assert [join.field for join in joins] == [1]


def test_a_field_of_shingles_is_joined_from_as_high_on_as_possible():
    costs = [[1.0] * 20, [10.0**9]]
    (join,) = chosen_joins([(0b11, 0.4)], [2, 1], [False, True], costs)
    assert join.field == 0
    assert join.least == pytest.approx(0.775, abs=0.03)
