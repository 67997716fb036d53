"""The bits of a document do not depend on other documents."""

import numpy as np
import pytest

from neardup.errors import SettingError
from neardup.sphere import dots, project, spread


@pytest.fixture(scope="module")
def sphere():
    return spread(9, 20)


@pytest.fixture(scope="module")
def sums():
    return np.random.default_rng(3).standard_normal((4000, 9)) * 50


@pytest.mark.parametrize("batch", [1, 7, 1638, 1639, 3999])
def test_batches_change_nothing(sphere, sums, batch):
    parts = [dots(sums[first : first + batch], sphere) for first in range(0, len(sums), batch)]
    assert np.concatenate(parts).tobytes() == dots(sums, sphere).tobytes()


def test_terms_are_added_from_the_first_dimension_to_the_last(sphere, sums):
    for row in sums[:20]:
        for vector, found in zip(sphere.vectors, dots(row[None], sphere)[0], strict=True):
            wanted = 0.0
            for value, part in zip(row, vector, strict=True):
                wanted += value * part
            assert found == wanted


def test_layout_changes_nothing(sphere, sums):
    assert dots(np.asfortranarray(sums), sphere).tobytes() == dots(sums, sphere).tobytes()


def test_bits_are_signs(sphere, sums):
    assert (project(sums, sphere) == (dots(sums, sphere) > 0)).all()
    assert project(sums, sphere).dtype == np.bool_


def test_ties(sphere):
    nothing = np.zeros((1, 9))
    assert not project(nothing, sphere).any()
    assert project(nothing, sphere, ties_up=True).all()


def test_no_rows(sphere):
    assert project(np.empty((0, 9)), sphere).shape == (0, 20)


def test_nearer_sums_share_more_bits():
    sphere = spread(42, 64)
    rng = np.random.default_rng(1)
    first = rng.standard_normal((500, 42))
    other = rng.standard_normal((500, 42))
    near = first + 0.2 * other
    apart = (project(first, sphere) != project(other, sphere)).sum(axis=1)
    close = (project(first, sphere) != project(near, sphere)).sum(axis=1)
    assert apart.mean() == pytest.approx(32, abs=1)
    assert close.mean() == pytest.approx(64 * np.arctan(0.2) / np.pi, abs=0.5)


@pytest.mark.parametrize("shape", [(3, 8), (9,), (2, 9, 1)])
def test_sums_of_another_dimension(sphere, shape):
    with pytest.raises(SettingError, match="dimension 9"):
        dots(np.zeros(shape), sphere)
