"""Proven optimal angles and bounds."""

import math

import numpy as np
import pytest

from neardup.sphere import angle_bound, best_angle


def test_eight_lines_have_the_root_of_the_published_polynomial():
    cosine = math.cos(math.radians(best_angle(3, 8)))
    coefficients = [1537, 677, -584, -80, 146, -78, -80, -8, 5, 1]
    assert np.polyval(coefficients, cosine) == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize("count", range(4, 9))
def test_no_optimum_in_space_exceeds_the_general_bounds(count):
    simplex = math.sqrt((count - 3) / (3 * (count - 1)))
    assert math.cos(math.radians(best_angle(3, count))) >= simplex - 1e-12


def test_fejes_toths_bound_is_met_by_octahedron_and_icosahedron():
    def bound(count):
        third = math.pi / 6 * count / (count - 1)
        return math.degrees(math.acos((1 / math.tan(third) ** 2 - 1) / 2))

    assert bound(3) == pytest.approx(best_angle(3, 3))
    assert bound(6) == pytest.approx(best_angle(3, 6))
    assert angle_bound(3, 50) == pytest.approx(bound(50))
    assert all(bound(count) >= best_angle(3, count) - 1e-9 for count in range(3, 9))


def test_the_orthoplex_bound_takes_over_for_many_lines():
    assert angle_bound(4, 10) > angle_bound(4, 11) == pytest.approx(60)
    assert best_angle(4, 11) is None
