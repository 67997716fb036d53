import numpy as np
import pytest

from neardup.errors import SettingError
from neardup.lab.curves import chances, plan_curve
from neardup.pairs.by_fingerprints import plan_of
from neardup.pairs.recall import cosine_of
from neardup.pairs.similarity import cosine, jaccard

PLANS = [
    ("bands:3x18", 54),
    ("bands:20x16", 320),
    ("bands:1x1", 1),
    ("blocks:3", 64),
    ("blocks:3/6", 64),
    ("blocks:2/5", 300),
    ("prefix:16", 64),
    ("probe:2", 64),
    ("rotate:16:4", 64),
    ("all", 64),
]


@pytest.mark.parametrize(("name", "bits"), PLANS)
def test_chances_are_those_that_the_plan_tells(name, bits):
    plan = plan_of(name, bits)
    cosines = np.array([0.0, 0.1, 0.37, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 1.0])
    told = [plan.recall(float(one), 5000) for one in cosines]
    assert chances(plan, cosines, 5000) == pytest.approx(told, abs=0.005)


def test_chances_of_bands_keep_the_digits_of_rare_finds():
    rare = chances(plan_of("bands:1x60", 60), [0.0])
    assert rare == pytest.approx([0.5**60], rel=1e-9)


def test_a_plan_by_word_counts_has_no_chances():
    assert chances(plan_of("length:0.2", 64), [0.5], 10) is None
    with pytest.raises(SettingError, match=r"length:0\.2 has no curve"):
        plan_curve(plan_of("length:0.2", 64), "cosine", 10)


def test_curves_rise_from_0_to_1():
    curve = plan_curve(plan_of("bands:20x16", 320), "jaccard", 10)
    assert (np.diff(curve.chances) >= 0).all()
    assert curve.at(1.0) == 1.0
    assert curve.at(curve.reaches(0.5)) >= 0.5 > curve.at(curve.reaches(0.5) - 0.005)


def test_cosine_of_sets_of_one_size():
    a, b = set(range(10)), set(range(2, 12))
    assert cosine_of(jaccard(a, b), "jaccard") == pytest.approx(
        cosine(dict.fromkeys(a, 1), dict.fromkeys(b, 1))
    )
    assert cosine_of(0.3, "cosine") == 0.3
