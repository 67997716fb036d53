import numpy as np
import pytest

from neardup.errors import SettingError
from neardup.lab.curves import Curve, curve_text, draw_curves

STEP = Curve("step", np.repeat([0.0, 1.0], [100, 101]))
SLOPE = Curve("slope", np.linspace(0, 1, 201))


def test_a_curve_answers_both_ways():
    assert SLOPE.at(0.25) == pytest.approx(0.25)
    assert SLOPE.reaches(0.25) == pytest.approx(0.25)
    assert STEP.reaches(0.5) == pytest.approx(0.5)
    assert Curve("flat", np.full(201, 0.3)).reaches(0.5) is None


def test_curves_in_letters():
    lines = curve_text([STEP, SLOPE], "jaccard", 0.8).splitlines()
    assert lines[1].startswith("1.00 ┤")
    assert lines[1].endswith("○")  # the later one covers the earlier in the corner
    assert lines[1].count("●") == 29
    assert lines[21].startswith("0.00 ┤○○●")
    assert lines[2][6 + 48] == "┊"
    assert lines[11].startswith("0.50 ┤")
    assert lines[11][6 + 30] == "○"
    assert lines[23].split() == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0", "jaccard"]
    assert lines[24:] == ["  ● step", "  ○ slope", "  ┊ threshold 0.8"]
    assert max(map(len, lines)) <= 90


def test_pictures_of_every_format_are_the_same_each_time(tmp_path):
    for suffix, begins in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        one, two = tmp_path / f"one.{suffix}", tmp_path / f"two.{suffix}"
        for path in (one, two):
            draw_curves([STEP, SLOPE], "cosine", 0.3, path)
        assert one.read_bytes().startswith(begins)
        assert one.read_bytes() == two.read_bytes()


def test_a_picture_has_a_known_format(tmp_path):
    with pytest.raises(SettingError, match=r"name ending in \.png"):
        draw_curves([STEP], "cosine", None, tmp_path / "curve.gif")
    assert not list(tmp_path.iterdir())
