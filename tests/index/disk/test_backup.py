"""Backups: consistent while others write, verified, and indexes of their own."""

import multiprocessing
import os
import random
import shutil
import threading
import time
from pathlib import Path

import lmdb
import pytest
from tests.index.texts import edited, pairs, text

import neardup as nd
from neardup.index.disk import environment, kinds

FORK = multiprocessing.get_context("fork")
KINDS = {
    "bands": {"store_text": True, "ttl": "30d"},
    "complete": {"complete": True},
    "counts": {"weights": "count"},
    "distance": {"max_distance": 3, "store_text": True},
}


@pytest.fixture(autouse=True)
def _short_tail(monkeypatch):
    monkeypatch.setattr(kinds, "MOST_IN_TAIL", 20)
    monkeypatch.setattr(kinds, "MOST_WEIGHTED_IN_TAIL", 20)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.index"


def filled(path, kind="bands"):
    index = nd.Index(path, sync=False, **KINDS[kind])
    index.add_many([(number, text(number), {"n": number}) for number in range(100)])
    index.delete_many([7, 8, 95])
    index.add("last", text("last"))
    index.check("seen", text(5))
    return index


def answers(index):
    asked = [text(number) for number in range(100)] + [edited(number) for number in range(100)]
    return (
        list(index.query_many(asked)),
        [index.get(id) for id in index.ids()],
        index.settings,
        index.stats(0).expired,
    )


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_backup_is_an_index_that_answers_the_same(path, tmp_path, kind):
    with filled(path, kind) as index:
        assert index.backup(tmp_path / "copy") == 98
        expected = answers(index)
        index.add("later", text("later"))
    with nd.Index(tmp_path / "copy", create=False, readonly=True) as copy:
        assert answers(copy) == expected
        assert "later" not in copy
    with nd.Index(tmp_path / "copy", create=False) as copy:
        copy.add("own", text("own"))
        copy.compact()
        assert [match.id for match in copy.query(text("own"))] == ["own"]
    with nd.Index(path) as index:
        assert "own" not in index
    assert sorted(os.listdir(tmp_path)) == ["copy", "x.index"]


def test_a_reader_and_the_first_format_are_backed_up(path, tmp_path):
    filled(path).close()
    with nd.Index(path, readonly=True) as index:
        assert index.backup(tmp_path / "copy") == 98
    shutil.copytree(Path(__file__).parents[2] / "fixtures" / "index_version_1", tmp_path / "old")
    with nd.Index(tmp_path / "old", create=False) as old:
        assert old.backup(tmp_path / "old copy") == 1200
    with nd.Index(tmp_path / "old copy", create=False) as copy:
        assert [match.id for match in copy.query(text(700))] == [700]


def test_a_backup_replaces_nothing(path, tmp_path):
    with filled(path) as index:
        taken = tmp_path / "taken"
        taken.mkdir()
        (taken / "note.txt").write_text("x")
        file = tmp_path / "file"
        file.write_text("x")
        index.backup(tmp_path / "first")
        for place, why in [
            (taken, "is there already; name a new folder"),
            (tmp_path / "first", "is there already; name a new folder"),
            (file, "not a folder"),
            (path, "also an input"),
            (path / "inside", "inside"),
            (tmp_path, "contains"),
            (tmp_path / "none" / "deep", "none"),
        ]:
            with pytest.raises(nd.NeardupError, match=why):
                index.backup(place)
        assert (taken / "note.txt").read_text() == file.read_text() == "x"
        assert sorted(os.listdir(tmp_path)) == ["file", "first", "taken", "x.index"]
        assert sorted(os.listdir(path)) == ["data.mdb", "lock.mdb", "writer.lock"]
        (tmp_path / "empty").mkdir()
        assert index.backup(tmp_path / "empty") == 98


def _spoiled_value(kind):
    """Change one byte of a value, whose pages stay valid."""

    def spoil(folder):
        with lmdb.open(os.fspath(folder)) as copy, copy.begin(write=True) as transaction:
            cursor = transaction.cursor()
            assert cursor.set_range(kind)
            value = bytearray(cursor.value())
            value[len(value) * 3 // 4] ^= 1
            transaction.put(bytes(cursor.key()), bytes(value))
        (folder / "lock.mdb").unlink()

    return spoil


def _cut(folder):
    os.truncate(folder / "data.mdb", os.path.getsize(folder / "data.mdb") // 2)


@pytest.mark.parametrize(
    "spoil", [_cut, *map(_spoiled_value, [b"b", b"d", b"i", b"s", b"t", b"asettings", b"astate"])]
)
@pytest.mark.parametrize("kind", list(KINDS))
def test_a_damaged_copy_is_noticed(path, tmp_path, monkeypatch, kind, spoil):
    usual = environment.Environment.copy

    def copy(self, transaction, folder):
        usual(self, transaction, folder)
        spoil(folder)

    with filled(path, kind) as index:
        with monkeypatch.context() as patched:
            patched.setattr(environment.Environment, "copy", copy)
            with pytest.raises(nd.NeardupError, match=r"damaged .* no backup was") as told:
                index.backup(tmp_path / "copy")
        assert str(path) in str(told.value)
        assert sorted(os.listdir(tmp_path)) == ["x.index"]
        assert index.backup(tmp_path / "copy") == 98  # the index itself is sound


def test_a_copy_with_any_wrong_byte_is_refused_or_right(path, tmp_path, monkeypatch):
    """Bytes that no check covers are those that no page uses."""
    usual = environment.Environment.copy
    chance = random.Random(4)
    refused = accepted = 0

    def copy(self, transaction, folder):
        usual(self, transaction, folder)
        with (folder / "data.mdb").open("r+b") as file:
            file.seek(chance.randrange(os.path.getsize(file.name)))
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 1 << chance.randrange(8)]))

    with filled(path) as index:
        expected = answers(index)
        monkeypatch.setattr(environment.Environment, "copy", copy)
        for _ in range(60):
            try:
                index.backup(tmp_path / "copy")
            except nd.NeardupError as error:
                refused += str(path) in str(error)
                assert not (tmp_path / "copy").exists()
                continue
            accepted += 1
            with nd.Index(tmp_path / "copy", readonly=True) as restored:
                assert answers(restored) == expected
            shutil.rmtree(tmp_path / "copy")
    assert refused + accepted == 60
    assert refused > 20


def _write_batches(path, ready):
    kinds.MOST_IN_TAIL = 20
    with nd.Index(path, sync=False) as index:
        for number in range(120):
            index.add_many([(f"{number} {copy}", text(number)) for copy in range(10)], at_once=True)
            if number >= 10:
                index.delete_many([f"{number - 10} {copy}" for copy in range(10)])
            if number == 12:
                ready.set()


def _require_whole(folder, count):
    """A backup has the ten copies of neighbouring numbers, as a writer leaves them."""
    with nd.Index(folder, readonly=True) as copy:
        ids = list(copy.ids())
        assert len(copy) == len(ids) == count
        assert count in (100, 110)
        first = int(ids[0].split()[0])
        expected = [f"{first + n // 10} {n % 10}" for n in range(count)]
        assert sorted(ids) == sorted(expected)
        for number in range(first, first + count // 10):
            assert len(copy.query(text(number), limit=None)) == 10


def test_backups_are_consistent_while_another_process_writes(path, tmp_path):
    nd.Index(path).close()
    ready = FORK.Event()
    writer = FORK.Process(target=_write_batches, args=(path, ready))
    writer.start()
    assert ready.wait(30)
    made = 0
    with nd.Index(path, readonly=True) as index:
        while writer.is_alive() or not made:
            made += 1
            _require_whole(tmp_path / f"copy {made}", index.backup(tmp_path / f"copy {made}"))
    writer.join()
    assert writer.exitcode == 0


def _back_up_while_the_map_grows(path, folder):
    environment.FIRST_MAP = 1 << 17
    environment._GROWTH = 2
    kinds.MOST_IN_TAIL = 20
    index = nd.Index(path, sync=False, store_text=True)
    ended = threading.Event()

    def write():
        try:
            for first in range(0, 6000, 100):
                index.add_many(pairs(first, first + 100))
        finally:
            ended.set()

    writing = threading.Thread(target=write)
    writing.start()
    made = 0
    while not ended.is_set() or not made:
        assert index.backup(folder / f"copy {made}") % 100 == 0
        shutil.rmtree(folder / f"copy {made}")
        made += 1
    writing.join()
    assert len(index) == 6000
    assert index._store.environment.map_number >= 4


def test_backups_are_made_while_a_thread_enlarges_the_map(path, tmp_path):
    process = FORK.Process(target=_back_up_while_the_map_grows, args=(path, tmp_path))
    process.start()
    process.join()
    assert process.exitcode == 0  # no signal


def test_the_map_stays_while_it_is_copied(path, tmp_path, monkeypatch):
    monkeypatch.setattr(environment, "FIRST_MAP", 1 << 17)
    usual = environment.Environment.copy
    with nd.Index(path, sync=False, store_text=True) as index:
        index.add_many(pairs(0, 10))
        shared = index._store.environment
        assert isinstance(shared, environment.Environment)
        writing = threading.Thread(target=index.add_many, args=(pairs(10, 2000),))

        def copy(self, transaction, folder):
            writing.start()
            while not shared._gate._waiters:  # type: ignore[attr-defined]
                time.sleep(0.001)  # until the map is full, and the writer waits to enlarge it
            assert shared.map_number == 0
            usual(self, transaction, folder)
            assert shared.map_number == 0

        monkeypatch.setattr(environment.Environment, "copy", copy)
        assert index.backup(tmp_path / "copy") == 10
        writing.join()
        assert shared.map_number > 0
        assert len(index) == 2000
