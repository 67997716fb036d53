"""The energy decreases, and convergence is reported only when it is reached."""

import numpy as np
import pytest

from neardup.sphere.exact import unit
from neardup.sphere.settle import BALANCED, repulsion, settle

CUBE = unit(np.array([[1.0, 1, 1], [1, 1, -1], [1, -1, 1], [-1, 1, 1]]))


@pytest.fixture
def scattered():
    return unit(np.random.default_rng(2).standard_normal((9, 4)))


def test_the_diagonals_of_a_cube_are_at_rest():
    _, imbalance = repulsion(CUBE, 1).pushes()
    assert imbalance < 1e-12
    assert settle(CUBE, 1, 10, print).settled


def test_charges_that_may_not_move_on_are_not_at_rest(scattered):
    steps = []
    rest = settle(scattered, 1, 2, steps.append)
    assert not rest.settled
    assert len(steps) == 2
    assert steps[-1].imbalance > BALANCED


@pytest.mark.parametrize("exponent", [1, 2, 64])
def test_the_slope_is_the_derivative_of_the_energy(scattered, exponent):
    now = repulsion(scattered, exponent)
    slope, _ = now.pushes()
    direction = np.random.default_rng(3).standard_normal(scattered.shape)
    direction -= (direction * scattered).sum(axis=1, keepdims=True) * scattered
    step = 1e-6
    ahead, behind = (
        np.log(repulsion(unit(scattered + way * direction), exponent, now.reference).energy)
        for way in (step, -step)
    )
    wanted = (ahead - behind) / (2 * step * exponent)
    assert (slope * direction).sum() == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("exponent", [1, 2, 4])
def test_the_energy_is_that_of_all_ends(exponent):
    ends = np.concatenate([CUBE, -CUBE])
    apart = np.linalg.norm(ends[:, None] - ends[None], axis=2)
    others = (apart > 1e-9) & (apart < 2 - 1e-9)  # neither the end itself nor its antipode
    mean = (apart[others] ** -exponent).mean() ** (1 / exponent)
    assert repulsion(CUBE, exponent).mean_energy == pytest.approx(mean)


def test_touching_lines_are_driven_apart():
    vectors = unit(np.array([[1.0, 0], [1, 1e-9], [0, 1]]))
    rest = settle(vectors, 1, 200, lambda step: None)
    assert np.degrees(np.arccos(1 - rest.closest)) == pytest.approx(60, abs=1e-5)
