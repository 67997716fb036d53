"""Full and read-only disks, and paths at which no index can be created."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.index.texts import pairs, text

import neardup as nd

NEARDUP = str(Path(sys.executable).with_name("neardup"))


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 2 MB; skips the test if none can be mounted."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
    if not shutil.which("mount") or subprocess.run(command, check=False).returncode:
        pytest.skip("this user may not mount a small disk")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_disk_is_told_and_nothing_is_lost(small_disk):
    path = small_disk / "x.index"
    filler = small_disk / "filler"
    filler.write_bytes(bytes(1 << 20))
    with nd.Index(path, store_text=True) as index:
        done = 0
        with pytest.raises(nd.NeardupError, match=r"the disk that holds it is full .*free some"):
            while True:
                index.add_many(pairs(done, done + 200))
                done += 200
        assert done
        assert list(index.ids()) == list(range(done))
    with nd.Index(path) as index:
        assert list(index.ids()) == list(range(done))
        filler.unlink()
        index.add_many(pairs(done, done + 200))
        assert [match.id for match in index.query(text(done + 7))] == [done + 7]


@pytest.mark.parametrize("kind", [{}, {"complete": True}, {"max_distance": 3}])
def test_what_was_checked_before_the_disk_was_full_is_kept(small_disk, kind):
    path = small_disk / "x.index"
    filler = small_disk / "filler"
    filler.write_bytes(bytes((3 << 20) // 2))
    with nd.Index(path, **kind) as index:
        done = 0
        with pytest.raises(nd.NeardupError, match=r"the disk that holds it is full .*free some"):
            while True:
                batch = [(number, text(number)) for number in range(done, done + 50)]
                assert all(verdict.added for verdict in index.check_many(batch))
                done += 50
        assert done
        assert [
            index.check("again", text(number), add="never").match.id for number in (0, done - 1)
        ] == [
            0,
            done - 1,
        ]
        assert index.query(text(done)) == []
        with pytest.raises(nd.NeardupError):
            index.backup(small_disk / "copy")
        assert sorted(os.listdir(small_disk)) == ["filler", "x.index"]
        filler.unlink()
        assert index.check(done, text(done)).added
        assert index.backup(small_disk / "copy") == done + 1
    for folder in (path, small_disk / "copy"):
        with nd.Index(folder) as index:
            assert list(index.ids()) == list(range(done + 1))
            assert index._store.verify() == done + 1


def test_the_commands_tell_of_a_full_disk(small_disk):
    (small_disk / "filler").write_bytes(bytes(2 << 20))
    path = small_disk / "x.index"
    done = subprocess.run(
        [NEARDUP, "index", "create", str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "full" in done.stderr or "No space left" in done.stderr
    assert "Traceback" not in done.stderr
    assert not path.exists()
    (small_disk / "filler").unlink()
    nd.Index(path).close()


def test_a_disk_that_is_read_only_can_be_read(small_disk):
    path = small_disk / "x.index"
    with nd.Index(path) as index:
        index.add(1, text(1))
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with nd.Index(path, readonly=True) as index:
        assert [match.id for match in index.query(text(1))] == [1]
    with pytest.raises(nd.NeardupError, match="Read-only file system"):
        nd.Index(path)


def test_what_is_added_to_a_folder_that_is_gone_is_refused(tmp_path):
    path = tmp_path / "x.index"
    index = nd.Index(path)
    index.add(1, text(1))
    path.rename(tmp_path / "elsewhere")
    with pytest.raises(nd.NeardupError, match="was removed or replaced while it was open"):
        index.add(2, text(2))
    shutil.copytree(tmp_path / "elsewhere", path)
    with pytest.raises(nd.NeardupError, match="was removed or replaced while it was open"):
        index.delete(1)
    index.close()
    with nd.Index(path) as index:
        assert list(index.ids()) == [1]


@pytest.mark.parametrize("name", ["nul\0byte", "x" * 300, "file/below"])
def test_paths_that_can_be_no_index_are_refused(tmp_path, name):
    (tmp_path / "file").write_text("x")
    for create in (True, False):
        with pytest.raises(nd.NeardupError):
            nd.Index(tmp_path / name, create=create)


def test_a_path_may_have_any_bytes(tmp_path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\x1b[31m\n.index"))
    with nd.Index(path) as index:
        index.add(1, text(1))
    with nd.Index(path, readonly=True) as index:
        assert list(index.ids()) == [1]


def test_a_lock_file_that_is_no_file_is_told(tmp_path):
    path = tmp_path / "x.index"
    nd.Index(path).close()
    (path / "lock.mdb").unlink()
    nd.Index(path).close()  # is created again
    (path / "lock.mdb").unlink()
    (path / "lock.mdb").mkdir()
    with pytest.raises(nd.NeardupError, match=str(path)):
        nd.Index(path)
    assert (path / "data.mdb").exists()


def test_an_empty_file_is_no_index(tmp_path):
    (tmp_path / "data.mdb").touch()
    for readonly in (True, False):
        with pytest.raises(nd.NeardupError, match="holds no index"):
            nd.Index(tmp_path, readonly=readonly, create=False)


@pytest.mark.parametrize("left", [(), ("lock.mdb",), ("lock.mdb", "writer.lock")])
def test_an_interrupted_creation_can_be_repeated(tmp_path, left):
    path = tmp_path / "x.index"
    path.mkdir()
    for name in left:
        (path / name).touch()
    with nd.Index(path) as index:
        index.add("a", "one")
    with nd.Index(path) as index:
        assert "a" in index


def test_a_folder_with_other_files_is_no_place_for_an_index(tmp_path):
    for name in ("lock.mdb", "notes.txt"):
        (tmp_path / name).touch()
    with pytest.raises(nd.NeardupError, match="is a folder, but not an index"):
        nd.Index(tmp_path)


NO_ADDRESSES = """
import resource, sys
import neardup as nd
from neardup.index.disk import environment
from tests.index.texts import pairs, text
environment.FIRST_MAP, environment._GROWTH = 1 << 18, 1 << 13
with nd.Index(sys.argv[1], store_text=True) as index:
    index.add_many(pairs(0, 100))
    with open("/proc/self/statm") as file:
        taken = int(file.read().split()[0]) * 4096
    resource.setrlimit(resource.RLIMIT_AS, (taken + (256 << 20), resource.RLIM_INFINITY))
    done = 100
    try:
        while True:
            index.add_many(pairs(done, done + 100))
            done += 100
    except nd.NeardupError as error:
        assert "bytes of address space to grow" in str(error), error
    assert [match.id for match in index.query(text(done - 1))] == [done - 1]
    assert list(index.ids()) == list(range(done))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is set from what /proc tells")
def test_too_little_address_space_is_reported_and_the_index_stays_usable(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", NO_ADDRESSES, str(tmp_path / "x.index")],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[3],
    )
    assert done.returncode == 0, done.stderr
