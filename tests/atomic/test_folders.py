"""Folders are replaced as a whole, and only if they are ours."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from neardup.atomic import FolderKind, folders, replacing_folder
from neardup.errors import NeardupError

KIND = FolderKind("about.json", frozenset({"kind"}), (r"about\.json", r"rows-\d+\.csv"))


def write(path, content, **options):
    options.setdefault("overwrite", False)
    with replacing_folder(path, KIND, **options) as folder:
        (folder / "about.json").write_text(json.dumps({"kind": "test"}))
        (folder / "rows-1.csv").write_text(content)


def rows(path):
    return (path / "rows-1.csv").read_text()


def test_only_a_folder_of_ours_is_overwritten(tmp_path):
    out = tmp_path / "out"
    write(out, "first")
    with pytest.raises(NeardupError, match=r"there already.*--overwrite"):
        write(out, "second")
    write(out, "second", overwrite=True)
    assert rows(out) == "second"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("name", ["notes.txt", ".hidden", "rows-x.csv"])
def test_anything_else_in_it_is_named(tmp_path, name):
    out = tmp_path / "out"
    write(out, "first")
    (out / name).write_text("mine")
    with pytest.raises(NeardupError, match=f"out holds {name}, which this command does not write"):
        write(out, "second", overwrite=True)
    assert rows(out) == "first"
    assert (out / name).read_text() == "mine"


def test_folders_and_links_by_our_names_are_not_ours(tmp_path):
    for number, make in enumerate((Path.mkdir, lambda path: path.symlink_to(tmp_path / "away"))):
        out = tmp_path / f"out{number}"
        write(out, "first")
        make(out / "rows-2.csv")
        with pytest.raises(NeardupError, match=r"holds rows-2\.csv"):
            write(out, "second", overwrite=True)


@pytest.mark.parametrize("content", ["[]", "{}", "{", "", "[" * 100_000])
def test_without_our_marker_it_is_not_ours(tmp_path, content):
    out = tmp_path / "out"
    out.mkdir()
    (out / "about.json").write_text(content)
    with pytest.raises(NeardupError, match=r"no about\.json of this command"):
        write(out, "second", overwrite=True)
    assert (out / "about.json").read_text() == content


@pytest.mark.parametrize("overwrite", [False, True])
def test_an_empty_folder_is_filled_and_keeps_its_permissions(tmp_path, overwrite):
    out = tmp_path / "out"
    out.mkdir()
    out.chmod(0o750)
    write(out, "first", overwrite=overwrite)
    assert rows(out) == "first"
    assert stat.S_IMODE(out.stat().st_mode) == 0o750


def test_a_link_to_a_folder_is_followed(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    link.symlink_to(real)
    write(link, "first")
    write(link, "second", overwrite=True)
    assert link.is_symlink()
    assert rows(real) == "second"
    assert sorted(os.listdir(tmp_path)) == ["link", "real"]


def test_the_folder_one_is_in_is_refused(tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    with pytest.raises(NeardupError, match="the current folder"):
        write(".", "first")


def test_what_came_to_the_folder_during_the_run_is_kept(tmp_path):
    out = tmp_path / "out"
    write(out, "first")
    late = replacing_folder(out, KIND, overwrite=True)
    (late.__enter__() / "about.json").write_text('{"kind": "test"}')
    (out / "notes.txt").write_text("mine")
    with pytest.warns(UserWarning, match="files that neardup did not write were added to"):
        late.__exit__(None, None, None)
    (kept,) = tmp_path.glob("out.kept-*")
    assert os.listdir(kept) == ["notes.txt"]
    assert os.listdir(out) == ["about.json"]


def test_where_folders_cannot_change_places_one_is_moved_aside(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "exchange", lambda one, other: False)
    write(tmp_path / "out", "first")
    write(tmp_path / "out", "second", overwrite=True)
    assert rows(tmp_path / "out") == "second"
    assert os.listdir(tmp_path) == ["out"]


WRITES = """
import os, signal, sys
from pathlib import Path
from neardup.atomic import folders
from tests.atomic.test_folders import write
rename = Path.rename
def dies_between(self, target):
    rename(self, target)
    if target.name == "old":
        os.kill(os.getpid(), signal.SIGKILL)
Path.rename = dies_between
folders.exchange = lambda one, other: False
write(Path(sys.argv[1]), "second", overwrite=True)
"""


def test_a_process_killed_between_two_renames_loses_nothing(tmp_path):
    out = tmp_path / "out"
    write(out, "first")
    root = Path(__file__).parents[2]
    killed = subprocess.run([sys.executable, "-c", WRITES, out], cwd=root, check=False)
    assert killed.returncode == -9
    assert not out.exists()
    with pytest.raises(NeardupError, match="there already"):
        write(out, "third")
    assert rows(out) == "first"
    assert os.listdir(tmp_path) == ["out"]


CARRYING = FolderKind(KIND.marker, KIND.keys, KIND.files, carried=("notes.jsonl",))


def overwrite(path):
    with replacing_folder(path, CARRYING, overwrite=True) as folder:
        (folder / "about.json").write_text(json.dumps({"kind": "test"}))
        (folder / "rows-1.csv").write_text("new")
        yield folder


@pytest.mark.parametrize("can_exchange", [True, False])
@pytest.mark.parametrize("can_link", [True, False])
def test_carried_files_stay(tmp_path, monkeypatch, can_exchange, can_link):
    out = tmp_path / "out"
    write(out, "first")
    (out / "notes.jsonl").write_text("one\n")
    if not can_exchange:
        monkeypatch.setattr(folders, "exchange", lambda one, other: False)
    if not can_link:

        def refuse(*_):
            raise PermissionError(1, "no links here")

        monkeypatch.setattr(os, "link", refuse)
    with (out / "notes.jsonl").open("a") as writer:
        for _ in overwrite(out):
            writer.write("two\n")
            writer.flush()
        assert (out / "notes.jsonl").read_text() == "one\ntwo\n"
        assert rows(out) == "new"
        if can_link:  # whoever has the file open writes on
            writer.write("three\n")
            writer.flush()
            assert (out / "notes.jsonl").read_text() == "one\ntwo\nthree\n"
    assert os.listdir(tmp_path) == ["out"]


def test_a_carried_file_that_is_made_late_is_not_lost(tmp_path, monkeypatch):
    out = tmp_path / "out"
    write(out, "first")
    swap = folders.exchange  # type: ignore[attr-defined]

    def late(new, target):
        (target / "notes.jsonl").write_text("late\n")
        return swap(new, target)

    monkeypatch.setattr(folders, "exchange", late)
    for _ in overwrite(out):
        pass
    assert (out / "notes.jsonl").read_text() == "late\n"
    assert rows(out) == "new"
