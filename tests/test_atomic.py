import os
import stat

import pytest

from neardup.atomic import replacing
from neardup.errors import NeardupError


def test_the_file_appears_when_it_is_complete(tmp_path):
    target = tmp_path / "out.txt"
    with replacing(target) as unfinished:
        unfinished.write_text("whole")
        assert not target.exists()
    assert target.read_text() == "whole"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_an_error_leaves_what_was_there(tmp_path):
    target = tmp_path / "out.txt"
    target.write_text("old")
    with pytest.raises(ZeroDivisionError), replacing(target) as unfinished:
        unfinished.write_text("half")
        1 / 0  # noqa: B018
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_the_file_has_ordinary_rights(tmp_path):
    ordinary, ours = tmp_path / "ordinary", tmp_path / "ours"
    ordinary.write_text("")
    with replacing(ours) as unfinished:
        unfinished.write_text("")
    assert stat.S_IMODE(ours.stat().st_mode) == stat.S_IMODE(ordinary.stat().st_mode)


def test_a_place_that_is_not_there_is_named(tmp_path):
    missing = replacing(tmp_path / "nowhere" / "out.txt")
    with pytest.raises(NeardupError, match=r"cannot write .*there is no folder .*nowhere"), missing:
        pytest.fail("there is nowhere to write")


def test_a_folder_is_refused_before_any_work(tmp_path):
    with pytest.raises(NeardupError, match="it is a folder"), replacing(tmp_path):
        pytest.fail("a folder cannot be replaced")
