import errno
import os
import socket
import stat
import threading
from pathlib import Path

import pytest

from neardup.atomic import replacing, require_writable
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


def test_a_link_is_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    real, link = tmp_path / "elsewhere" / "real.txt", tmp_path / "link.txt"
    link.symlink_to(real)
    for text in ("made", "replaced"):
        with replacing(link) as unfinished:
            unfinished.write_text(text)
        assert link.is_symlink()
        assert real.read_text() == text
    assert os.listdir(tmp_path / "elsewhere") == ["real.txt"]


def test_a_file_keeps_its_permissions(tmp_path):
    target = tmp_path / "out.txt"
    target.write_text("old")
    target.chmod(0o640)
    with replacing(target) as unfinished:
        unfinished.write_text("new")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_pipe_gets_everything_or_nothing(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    with replacing(pipe) as unfinished:
        unfinished.write_bytes(b"all of it" * 100_000)
        reader.start()
    reader.join()
    assert got == [b"all of it" * 100_000]
    with pytest.raises(ZeroDivisionError), replacing(pipe) as unfinished:
        unfinished.write_bytes(b"half")
        1 / 0  # noqa: B018
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no /dev/full")
def test_a_full_device_is_named_and_stays(tmp_path):
    full = tmp_path / "full"
    full.symlink_to("/dev/full")  # not by name: an earlier bug replaced the device when run as root
    with (
        pytest.raises(NeardupError, match=r"cannot write .*full: No space left"),
        replacing(full) as unfinished,
    ):
        unfinished.write_text("something")
    assert full.is_symlink()
    assert full.is_char_device()


def test_a_socket_is_refused(tmp_path):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.fspath(tmp_path / "socket"))
        with pytest.raises(NeardupError, match="it is a socket"):
            require_writable(tmp_path / "socket")


def test_what_the_disk_refuses_is_told_of_the_output(tmp_path):
    with (
        pytest.raises(NeardupError, match=r"cannot write .*out.txt: No space left on device"),
        replacing(tmp_path / "out.txt"),
    ):
        raise OSError(errno.ENOSPC, "as Arrow says it")


def test_a_long_name(tmp_path):
    target = tmp_path / ("ä" * 127)
    with replacing(target) as unfinished:
        unfinished.write_text("whole")
    assert os.listdir(tmp_path) == [target.name]
