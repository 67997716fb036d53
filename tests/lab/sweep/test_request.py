import numpy as np
import pytest

from neardup.errors import SettingError
from neardup.hashes import hash_family
from neardup.lab.sweep.request import cut_from, first_bits, named_plan, shape_of, swept_plans
from neardup.pairs.by_fingerprints import plan_of


def test_grid_and_named_plans_each_once():
    plans = swept_plans([2, 3], [10, 18], ["bands:3x18", "blocks:3", "rotate:4"], 32)
    assert [(plan.name, plan.bits) for plan in plans] == [
        ("bands:2x10", 20),
        ("bands:3x10", 30),
        ("bands:2x18", 36),
        ("bands:3x18", 54),
        ("blocks:3", 32),
        ("rotate:4", 32),
    ]
    assert [shape_of(plan) for plan in plans[3:5]] == [(3, 18), (None, None)]


def test_a_plan_is_taken_as_it_is():
    mine = plan_of([0b1100, 0b0011], 4)
    assert swept_plans(None, None, [mine]) == [mine]


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ((2, None, None), "give bands .* and band_bits .* together"),
        ((None, 10, None), "give bands .* and band_bits .* together"),
        ((None, None, None), "nothing to sweep"),
        (([], [], []), "nothing to sweep"),
        (([0], [10], None), "bands=0 must be a whole number"),
        (([2], [True], None), "band_bits=True must be a whole number"),
        (([2], ["x"], None), "band_bits='x' must be a whole number"),
        ((None, None, ["no:such"]), "no:such"),
        ((None, None, ["blocks:99"]), "blocks:99"),
    ],
)
def test_what_cannot_be_swept(chosen, words):
    with pytest.raises(SettingError, match=words):
        swept_plans(*chosen)


def test_bits_of_a_named_plan():
    assert named_plan("bands:20x16").bits == 320
    assert named_plan("blocks:3").bits == 64
    with pytest.raises(SettingError, match="needs 320 bits"):
        named_plan("bands:20x16", 64)


@pytest.mark.parametrize("family", ["nd1", "md5", "xxh3", "dek", "string64"])
@pytest.mark.parametrize("widths", [[1, 63, 64], [20, 54], [64, 65, 100], [128]])
def test_cut_fingerprints_are_those_of_their_width(family, widths):
    hashes = hash_family(family)
    if hashes.bits is not None and max(widths) > hashes.bits:
        pytest.skip(f"{family} has no {max(widths)} bits")
    words = ["alpha", "beta", "gamma", "文档", "x" * 40]
    for width, wider in cut_from(hashes, widths).items():
        cut = first_bits(hashes.digest(words, wider), width)
        assert np.array_equal(cut, hashes.digest(words, width))


def test_the_widest_serves_for_all_where_it_can():
    assert set(cut_from(hash_family("md5"), [20, 54, 72, 128]).values()) == {128}
    assert set(cut_from(hash_family("nd1"), [20, 54, 4096]).values()) == {4096}
    assert cut_from(hash_family("xxh3"), [20, 64, 65]) == {65: 65, 64: 64, 20: 64}
