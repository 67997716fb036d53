"""Products do not depend on the order of their terms."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from neardup.sphere.exact import (
    LARGEST_SIZE,
    power_of_two_above,
    product,
    resolution,
    row_totals,
    total,
    unit,
)


@given(st.integers(1, 12), st.sampled_from([1, 2, 3, 16, 17, 64, 1000, 4096]), st.integers(0, 99))
def test_any_order_of_the_terms_gives_the_same_bits(rows, size, seed):
    rng = np.random.default_rng(seed)
    left = unit(rng.standard_normal((rows, size)))
    order = rng.permutation(size)
    straight = product(left, left.T)
    shuffled = product(left[:, order].copy(), left[:, order].copy().T)
    assert straight.tobytes() == shuffled.tobytes()
    assert straight == pytest.approx(left @ left.T, abs=size * resolution(size))


@given(st.sampled_from([2, 64, 4096]), st.integers(0, 99))
def test_weights_that_sum_to_one(size, seed):
    rng = np.random.default_rng(seed)
    weights = rng.random((3, size))
    weights /= weights.sum(axis=1, keepdims=True)
    vectors = np.ones((size, 2))  # the largest possible partial sums
    vectors[:, 1] = rng.choice([-1.0, 1.0], size)
    order = rng.permutation(size)
    straight = product(weights, vectors)
    assert straight.tobytes() == product(weights[:, order].copy(), vectors[order]).tobytes()


def test_the_worst_case_is_exact():
    size = LARGEST_SIZE
    nearly = np.nextafter(1 / size, 1)
    left, right = np.full((1, size), nearly), np.full((size, 1), 1.0)
    exact = Fraction(nearly) * size
    assert product(left, right)[0, 0] == pytest.approx(float(exact), abs=size * resolution(size))


def test_sums_run_from_left_to_right():
    values = np.array([1.0, 1e16, -1e16, 1.0])
    assert total(values) == 1.0
    assert row_totals(values[None])[0] == 1.0


@pytest.mark.parametrize(("value", "above"), [(1.0, 2.0), (0.75, 1.0), (3.0, 4.0), (1e-300, None)])
def test_power_of_two_above(value, above):
    power = power_of_two_above(value)
    assert value < power <= 2 * value
    assert above is None or power == above
