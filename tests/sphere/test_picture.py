"""Pictures are drawn for every dimension, and wrong names are refused early."""

import sys

import pytest

from neardup.errors import NeardupError, SettingError
from neardup.figures import picture_format
from neardup.sphere import spread
from neardup.sphere.picture import draw


@pytest.mark.parametrize(("dimension", "count"), [(2, 5), (3, 16), (3, 1), (6, 9)])
@pytest.mark.parametrize(
    ("suffix", "magic"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_a_picture_of(dimension, count, suffix, magic, tmp_path):
    sphere = spread(dimension, count)
    draw(sphere, tmp_path / f"one.{suffix}")
    draw(sphere, tmp_path / f"two.{suffix}")
    picture = (tmp_path / f"one.{suffix}").read_bytes()
    assert picture.startswith(magic)
    assert len(picture) > 5_000
    assert picture == (tmp_path / f"two.{suffix}").read_bytes()


def test_other_names_are_refused():
    for name in ("charges.jpeg", "charges", ".png"):
        with pytest.raises(SettingError, match=r"\.png, \.svg or \.pdf"):
            picture_format(name)


def test_without_matplotlib_the_error_tells_what_to_install(monkeypatch, tmp_path):
    for name in [*sys.modules]:
        if name.split(".")[0] == "matplotlib":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(NeardupError, match=r"pip install 'neardup\[plots\]'"):
        draw(spread(2, 3), tmp_path / "three.png")
    assert not (tmp_path / "three.png").exists()
