"""Outputs that are, contain or lie inside an input are refused, by any name."""

import os
import sys

import pytest

from neardup.atomic import require_apart
from neardup.errors import NeardupError


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "w" / "deep").mkdir(parents=True)
    (tmp_path / "w" / "deep" / "a.jsonl").write_text("{}")
    (tmp_path / "out").mkdir()
    if sys.platform != "win32":
        (tmp_path / "link").symlink_to("w")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("output", "name", "message"),
    [
        ("w", "w", "is also an input"),
        ("w/", "w", "is also an input"),
        ("link", "w", "is also an input"),
        ("w/../w", "link/", "is also an input"),
        ("w/deep/a.jsonl", "link/deep/a.jsonl", "is also an input"),
        ("w/deep/a.jsonl", "w/**/*.jsonl", "is also an input"),
        ("none", "none", "is also an input"),
        (".", "w/deep/a.jsonl", "contains the input"),
        ("link", "w/deep/a.jsonl", "contains the input"),
        ("w", "w/deep/*.jsonl", "contains the input"),
        ("w/out", "w", "lies inside the input"),
        ("w/deep/out", "link", "lies inside the input"),
        ("w/deep", "w", "contains|lies inside the input"),
        ("w", "{url}/w/deep/a.jsonl", "contains the input"),
    ],
)
def test_refused(place, output, name, message):
    if "link" in output + name and sys.platform == "win32":
        pytest.skip("Windows allows links to few users")
    with pytest.raises(NeardupError, match=message):
        require_apart(output, [name.format(url=place.as_uri())])


@pytest.mark.parametrize(
    ("output", "name"),
    [
        ("w/out", "w/deep/a.jsonl"),
        ("w/deep/out", "w/deep/*.jsonl"),
        ("out", "w"),
        ("w2", "w"),
        ("out", "-"),
        ("out", "https://example.org/out"),
        ("out", "s3://out/out"),
    ],
)
def test_allowed(place, output, name):
    before = sorted(place.rglob("*"))
    require_apart(output, [name])
    assert sorted(place.rglob("*")) == before


def test_a_hard_link_is_the_same_file(place):
    os.link("w/deep/a.jsonl", "other.jsonl")
    with pytest.raises(NeardupError, match="is also an input"):
        require_apart("other.jsonl", ["w/deep/a.jsonl"])


def test_links_inside_a_folder_are_followed_as_the_reader_does(place):
    (place / "w" / "more").symlink_to(place / "out")
    with pytest.raises(NeardupError, match="lies inside the input"):
        require_apart("out", ["w"])
    with pytest.raises(NeardupError, match="lies inside the input"):
        require_apart("out/new", ["w"])
    (place / "w" / "more").unlink()
    (place / "out" / "kept.jsonl").write_text("{}")
    (place / "w" / "kept.jsonl").symlink_to(place / "out" / "kept.jsonl")
    with pytest.raises(NeardupError, match=r"contains .*kept\.jsonl, an input"):
        require_apart("out", ["w"])


def test_links_in_a_circle_end(place):
    (place / "w" / "deep" / "up").symlink_to(place / "w")
    require_apart("out", ["w"])
    with pytest.raises(NeardupError, match="lies inside the input"):
        require_apart("w/deep/up/out", ["w"])
