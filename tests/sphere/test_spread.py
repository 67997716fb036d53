"""Lines end as far apart as possible, with the same result on every machine."""

import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from neardup.errors import SettingError
from neardup.sphere import angle_bound, best_angle, settling, spread


@pytest.fixture(scope="module")
def wide():
    return spread(42, 64)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 10, 16, 31])
def test_lines_in_the_plane_are_evenly_spaced(count):
    sphere = spread(2, count)
    directions = np.sort(np.degrees(np.arctan2(*sphere.vectors.T)) % 180)
    gaps = np.diff([*directions, directions[0] + 180])
    assert gaps == pytest.approx(180 / count, abs=1e-6)
    assert sphere.converged


@pytest.mark.parametrize("count", range(1, 9))
def test_proven_optima_in_space(count):
    sphere = spread(3, count)
    assert sphere.converged
    assert sphere.smallest_angle() == pytest.approx(best_angle(3, count), abs=1e-4)


@pytest.mark.parametrize(("count", "degrees"), [(3, 90), (4, 70.528779366), (6, 63.434948823)])
def test_the_axes_and_the_diagonals_of_cube_and_icosahedron(count, degrees):
    assert spread(3, count, seed=1).pair_angles() == pytest.approx(degrees, abs=1e-6)


@pytest.mark.parametrize(("dimension", "count"), [(5, 5), (20, 7), (4, 5), (16, 17), (7, 28)])
def test_more_dimensions_reach_the_bound(dimension, count):
    sphere = spread(dimension, count)
    assert sphere.smallest_angle() == pytest.approx(angle_bound(dimension, count), abs=1e-4)


def test_64_lines_in_42_dimensions(wide):
    assert wide.converged
    assert wide.vectors.shape == (64, 42)
    assert np.linalg.norm(wide.vectors, axis=1) == pytest.approx(1, abs=1e-8)
    assert angle_bound(42, 64) - 0.5 < wide.smallest_angle() < angle_bound(42, 64)


def test_these_vectors_are_promised(wide):
    # Stored fingerprints contain this digest: other vectors would need another name.
    assert wide.content_hash == "3cb6eace4dfd859046a6e6c9719c2271"
    assert spread(3, 5).content_hash == "96d83d399419aedb4659aa583608fb28"


@pytest.mark.parametrize(
    "machine",
    [
        {"OPENBLAS_NUM_THREADS": "1"},
        {"OPENBLAS_NUM_THREADS": "3"},
        {"OPENBLAS_CORETYPE": "Prescott"},
        {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX2 FMA3 AVX512F"},
    ],
    ids=lambda machine: next(iter(machine)),
)
def test_every_machine_finds_the_same_vectors(machine, wide):
    done = subprocess.run(
        [
            *(sys.executable, "-W", "ignore", "-c"),
            "from neardup.sphere import spread; print(spread(42, 64).content_hash)",
        ],
        env={**os.environ, **machine},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == wide.content_hash


def test_seeds_give_different_vectors_that_are_as_good():
    spheres = [spread(3, 6, seed) for seed in range(3)]
    assert len({sphere.content_hash for sphere in spheres}) == 3
    assert {round(sphere.smallest_angle(), 4) for sphere in spheres} == {63.4349}


def test_the_energy_falls_at_each_exponent(wide):
    falls = [
        after <= before * (1 + 1e-12)
        for (before, exponent), (after, same) in pairwise(
            zip(wide.energies, wide.exponents, strict=True)
        )
        if exponent == same
    ]
    assert len(falls) > 100
    assert all(falls)
    assert (np.diff(wide.exponents) >= 0).all()
    assert len(wide.angles) == wide.iterations
    assert wide.angles[-1] == pytest.approx(wide.smallest_angle(), abs=1e-6)


@pytest.mark.parametrize(("dimension", "count"), [(2, 7), (3, 16), (3, 110)])
def test_a_sphere_can_be_watched_while_it_settles(dimension, count):
    told = []
    spread(dimension, count, seed=3, progress=told.append)
    way = settling(dimension, count, seed=3)
    first = [one.step for one in told if one.attempt == 1]
    assert list(way.steps) == first[: len(way.steps)]
    assert len(way.places) == len(way.steps) + 1
    for place, angle in zip(way.places, way.smallest_angles(), strict=True):
        assert np.linalg.norm(place, axis=1) == pytest.approx(1)
        cosines = np.abs(place @ place.T)[np.triu_indices(count, 1)]
        assert angle == pytest.approx(np.degrees(np.arccos(cosines.max())), abs=1e-5)


def test_a_single_line_has_settled():
    way = settling(3, 1)
    assert (len(way.places), way.steps, way.smallest_angles()) == (1, (), [90.0])


def test_progress_is_told_step_by_step():
    told = []
    sphere = spread(3, 5, progress=told.append)
    assert {p.attempt for p in told} == set(range(1, sphere.attempts + 1))
    assert told[-1].iteration == sphere.iterations
    assert told[-1].step.exponent == sphere.exponents[-1] == 2**20
    assert told[-1].step.displacement == sphere.displacement


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((1, 5), "dimension=1"),
        ((5000, 5), "dimension=5000"),
        ((3, 0), "count=0"),
        ((3, 2.0), "count=2.0"),
        ((3, 5, -1), "seed=-1"),
        ((3, True), "count=True"),
    ],
)
def test_settings_that_cannot_work(arguments, said):
    with pytest.raises(SettingError, match=said):
        spread(*arguments)
