"""Unfinished outputs of dead processes are removed, those of running processes stay."""

import os
import subprocess
import sys

from neardup.atomic import TemporaryFolder, replacing

BEGINS = """
import os, signal, sys
from neardup.atomic import TemporaryFolder, replacing
with replacing(sys.argv[1]) as unfinished, TemporaryFolder():
    unfinished.write_text("half")
    print("begun", flush=True)
    sys.stdin.read()
"""


def begin(target, temporary):
    process = subprocess.Popen(
        [sys.executable, "-c", BEGINS, target],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    assert process.stdout.readline().rstrip() == b"begun"
    return process


def end(process):
    process.stdin.close()
    process.stdout.close()
    assert process.wait() == 0


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path, monkeypatch):
    target, temporary = tmp_path / "box" / "out.txt", tmp_path / "tmp"
    target.parent.mkdir()
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    with begin(target, temporary) as killed:
        killed.kill()
    assert len(os.listdir(target.parent)) == len(os.listdir(temporary)) == 1
    with replacing(target) as unfinished:
        unfinished.write_text("whole")
    with TemporaryFolder():
        assert len(os.listdir(temporary)) == 1
    assert os.listdir(target.parent) == ["out.txt"]
    assert os.listdir(temporary) == []


def test_what_a_living_process_writes_is_left_alone(tmp_path, monkeypatch):
    target, temporary = tmp_path / "box" / "out.txt", tmp_path / "tmp"
    target.parent.mkdir()
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    living = begin(target, temporary)
    with replacing(target) as unfinished, TemporaryFolder():
        unfinished.write_text("whole")
    assert target.read_text() == "whole"
    end(living)
    assert target.read_text() == "half"


def test_folders_of_a_like_name_are_not_ours(tmp_path):
    target = tmp_path / "out.txt"
    for name in (
        ".out.txt.old",
        ".out.txt.neardup-unfinished",
        ".other.neardup-unfinished-abcdefgh",
    ):
        (tmp_path / name).mkdir()
    with replacing(target) as unfinished:
        unfinished.write_text("whole")
    assert len(os.listdir(tmp_path)) == 4
