"""The index on disk: reopened, shared, and in invalid folders."""

import multiprocessing
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import lmdb
import numpy as np
import pytest
from tests.index.texts import pairs, text

import neardup as nd
from neardup.index.disk import environment, kinds

FORK = multiprocessing.get_context("fork")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.index"


def test_opened_again_it_knows_its_settings(path):
    with nd.Index(path, features="char:4", bits=128, plan="bands:8x16", store_text=True) as index:
        index.add("a", "some text or other", {"url": "x"})
    with nd.Index(path) as index:
        assert str(index.scheme) == "nd1/char:4/set/128"
        assert index.settings.plan.name == "bands:8x16"
        assert index.get("a").text == "some text or other"
        assert index.query("some text or other") == [nd.Match("a", 0, 1.0, {"url": "x"})]
    with nd.Index(path, features="char:4", bits=128, plan="bands:8x16"):
        pass


def test_an_index_by_similarity_knows_its_settings(path):
    chosen = {"threshold": 0.7, "complete": True, "ttl": "30d", "store_text": True}
    with nd.Index(path, **chosen) as index:
        index.check("a", "some text or other", {"url": "x"})
    with nd.Index(path) as index:
        assert (index.settings.threshold, index.settings.complete) == (0.7, True)
        assert index.settings.ttl == 30 * 86400
        assert index.get("a").text == "some text or other"
        assert index.get("a").expires == pytest.approx(index.get("a").seen.first + 30 * 86400)
        assert index.query("some text or other") == [nd.Match("a", 0, 1.0, {"url": "x"})]
    nd.Index(path, **chosen).close()


@pytest.mark.parametrize(
    ("setting", "error", "named"),
    [
        ({"bits": 128}, nd.SchemeMismatchError, ["nd1/word:3/set/64", "nd1/word:3/set/128"]),
        ({"features": "char:4"}, nd.SchemeMismatchError, ["nd1/word:3/set", "nd1/char:4/set"]),
        ({"weights": "count"}, nd.SchemeMismatchError, ["nd1/word:3/count/64"]),
        ({"hash": "md5"}, nd.SchemeMismatchError, ["md5/word:3/set/64"]),
        ({"text": "a+b"}, nd.SchemeMismatchError, ["fields:a+b"]),
        ({"threshold": 0.9}, nd.SettingError, ["threshold=0.8"]),
        ({"complete": True}, nd.SettingError, ["complete=False"]),
        ({"ttl": "1d"}, nd.SettingError, ["ttl=None"]),
        ({"similarity": "inclusion"}, nd.SettingError, ["similarity=jaccard"]),
        ({"plan": "blocks:5"}, nd.SettingError, ["index by similarity", "plan was given"]),
        ({"max_distance": 2}, nd.SettingError, ["by similarity", "max_distance was given"]),
        ({"store_text": True}, nd.SettingError, ["store_text=False"]),
    ],
)
def test_other_settings_are_refused_by_name(path, setting, error, named):
    nd.Index(path).close()
    with pytest.raises(error) as refused:
        nd.Index(path, **setting)
    assert all(name in str(refused.value) for name in [str(path), *named])
    nd.Index(path).close()  # and nothing is left open


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ({"plan": "blocks:5"}, ["blocks:3", "blocks:5"]),
        ({"max_distance": 2}, ["max_distance=3"]),
        ({"threshold": 0.8}, ["index by distance", "threshold was given"]),
        ({"similarity": "containment"}, ["index by distance", "similarity was given"]),
    ],
)
def test_other_settings_of_an_index_by_distance_are_refused(path, setting, named):
    nd.Index(path, max_distance=3).close()
    with pytest.raises(nd.SettingError) as refused:
        nd.Index(path, **setting)
    assert all(name in str(refused.value) for name in [str(path), *named])
    nd.Index(path, max_distance=3).close()


@pytest.mark.parametrize("weights", ["tfidf", "idf"])
def test_weights_by_rarity_bring_their_table_along(path, weights):
    table = nd.idf(["the cat", "the dog", "a bird"])
    with nd.Index(path, features="word:1", weights=weights, idf=table) as index:
        index.add(1, "the cat")
    with nd.Index(path) as index:
        assert index.scheme.idf == table.content
        assert [match.id for match in index.query("the cat")] == [1]
    with pytest.raises(nd.SettingError, match="idf"):
        nd.MemoryIndex(features="word:1", weights=weights)
    with pytest.raises(nd.SettingError, match="idf"):
        nd.Index(path.with_name("y"), features="word:1", weights=weights)
    assert not path.with_name("y").exists()


def test_a_python_function_must_be_brought_again(path):
    def hashed(key):
        return int.from_bytes(key[:4].ljust(4, b"x"), "big")

    with nd.Index(path, features="word:1", bits=32, hash=hashed) as index:
        index.add(1, "one two three")
    with pytest.raises(nd.SettingError, match="pass it as hash"):
        nd.Index(path)
    with nd.Index(path, hash=hashed) as index:
        assert [match.id for match in index.query("one two three")] == [1]


def test_what_is_no_index_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "note.txt").write_text("x")
    foreign = tmp_path / "foreign"
    with lmdb.open(str(foreign)) as other, other.begin(write=True) as transaction:
        transaction.put(b"key", b"value")
    for place, why in [
        (tmp_path / "file", "is a file"),
        (folder, "not an index"),
        (foreign, "another program"),
        (tmp_path / "none" / "deep", "cannot create"),
    ]:
        with pytest.raises(nd.NeardupError, match=why) as refused:
            nd.Index(place)
        assert str(place) in str(refused.value)
    with pytest.raises(nd.NeardupError, match="there is no index"):
        nd.Index(tmp_path / "missing", create=False)
    assert not (tmp_path / "missing").exists()
    assert (folder / "note.txt").read_text() == "x"


def test_a_newer_format_is_refused_by_name(path):
    nd.Index(path).close()
    with lmdb.open(str(path)) as other, other.begin(write=True) as transaction:
        transaction.put(b"aformat", b"neardup index 3")
    with pytest.raises(nd.NeardupError, match=r"neardup index 3.*neardup index 2"):
        nd.Index(path)


FINE, REFUSED = 0, 3


def _open_and_ask(path):
    try:
        # Nobody pulls the plug here, and waiting for the disk would take most of the time.
        with nd.Index(path, create=False, sync=False) as index:
            index.query(text(3))
            list(index.query_many([text(n) for n in range(0, 900, 90)]))
            for id in index.ids():
                index.get(id)
            index.check("new", text(5000))
            index.compact()
    except nd.NeardupError:
        sys.exit(REFUSED)


def damage(data, where):
    chance = random.Random(where)
    size = data.stat().st_size
    if where == "empty":
        os.truncate(data, 0)
    elif where == "noise":
        data.write_bytes(chance.randbytes(50_000))
    elif isinstance(where, float):
        os.truncate(data, int(size * where))
    else:
        with data.open("r+b") as file:
            file.seek(chance.randrange(size - 4096) if where > 1 else 4096 * where)
            file.write(chance.randbytes(4096))


@pytest.mark.parametrize("kind", [{}, {"complete": True}, {"max_distance": 3, "store_text": True}])
def test_damage_is_told_and_never_a_crash(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(kinds, "MOST_IN_TAIL", 100)
    good = tmp_path / "good"
    with nd.Index(good, **kind) as index:
        index.add_many(pairs(0, 1000))
        index.add_many(pairs(2000, 2030))
        index.delete(7)
    for where in ["empty", "noise", 0.01, 0.3, 0.6, 0.9, 0.99, *range(40)]:
        path = tmp_path / "x.index"
        shutil.copytree(good, path)
        damage(path / "data.mdb", where)
        asking = FORK.Process(target=_open_and_ask, args=(path,))
        asking.start()
        asking.join()
        assert asking.exitcode in (FINE, REFUSED), where  # not ended by a signal or a traceback
        if where in ("noise", 0.01, 0.3, 0.6):
            assert asking.exitcode == REFUSED, where
        shutil.rmtree(path)


def test_the_map_grows_by_itself(path, monkeypatch):
    monkeypatch.setattr(environment, "FIRST_MAP", 1 << 17)
    monkeypatch.setattr(kinds, "MOST_IN_TAIL", 64)
    with nd.Index(path, store_text=True, sync=False) as index:
        other = nd.Index(path, readonly=True)  # the same process, the same map
        for first in range(0, 3000, 300):
            index.add_many(pairs(first, first + 300))
            index.add(f"single {first}", text(f"single {first}"))
            assert [match.id for match in other.query(text(first + 7))] == [first + 7]
            assert [match.id for match in other.query(text("single 0"))] == ["single 0"]
        other.close()
        assert len(index) == 3010
    assert (path / "data.mdb").stat().st_size > 4 << 17


def test_another_process_grows_the_map(path, monkeypatch):
    monkeypatch.setattr(environment, "FIRST_MAP", 1 << 17)
    with nd.Index(path, store_text=True) as index:
        index.add_many(pairs(0, 10))
        run = "import neardup as nd, sys; from tests.index.texts import pairs\n"
        run += "with nd.Index(sys.argv[1]) as index: index.add_many(pairs(10, 2000))"
        root = Path(__file__).parents[3]
        subprocess.run([sys.executable, "-c", run, str(path)], check=True, cwd=root)
        assert len(index) == 2000
        assert [match.id for match in index.query(text(1500))] == [1500]
        index.add_many(pairs(2000, 2100))
        assert len(index) == 2100


def test_large_segments_stay_right_while_they_come_and_go(path, monkeypatch):
    monkeypatch.setattr(kinds, "MOST_IN_TAIL", 3000)
    rng = np.random.default_rng(3)
    known = {}
    with nd.Index(path, max_distance=3, sync=False) as index:
        for step in range(12):
            ids = rng.integers(0, 30_000, 4000)
            rows = rng.integers(0, 2**64, 4000, dtype=np.uint64)
            ids, first = np.unique(ids, return_index=True)
            index.add_many(nd.Fingerprints(rows[first], index.scheme, ids=ids))
            known.update(zip(ids.tolist(), rows[first].tolist(), strict=True))
            gone = [int(id) for id in rng.choice(list(known), 500, replace=False)]
            assert index.delete_many(gone) == 500
            for id in gone:
                del known[id]
            if step == 8:
                index.compact()
            asked = nd.Fingerprints(np.array(list(known.values()), np.uint64), index.scheme)
            found = [{match.id for match in matches} for matches in index.query_many(asked, 0)]
            assert all(id in matches for id, matches in zip(known, found, strict=True))
            assert len(index) == len(known)
            assert set(index.ids()) == set(known)


def _add_batches(path, first, last):
    with nd.Index(path, sync=False) as index:
        for number in range(first, last):
            index.add_many([(f"{number} {part}", text(number)) for part in range(10)])


def test_readers_see_whole_commits_while_a_writer_writes(path, monkeypatch):
    monkeypatch.setattr(kinds, "MOST_IN_TAIL", 32)
    nd.Index(path).close()
    writer = FORK.Process(target=_add_batches, args=(path, 0, 60))
    writer.start()
    states = []

    def read():
        with nd.Index(path, readonly=True) as index:
            while writer.is_alive():
                count = len(index)
                states.append(count)
                if count:
                    last = count // 10 - 1
                    assert len(index.query(text(last), limit=None)) == 10
                    assert len(index.query(text(0), limit=None)) == 10

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.join()
    assert writer.exitcode == 0
    assert all(count % 10 == 0 for count in states)
    with nd.Index(path) as index:
        assert len(index) == 600


def test_a_second_writer_waits_for_its_turn(path):
    nd.Index(path).close()
    writers = [
        FORK.Process(target=_add_batches, args=(path, first, first + 30)) for first in (0, 100)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]
    with nd.Index(path) as index:
        assert len(index) == 600
        assert len(index.query(text(129), limit=None)) == 10


def test_threads_share_an_index(path):
    with nd.Index(path, sync=False) as index:
        failed = []

        def work(first):
            try:
                for number in range(first, first + 20):
                    index.add(number, text(number))
                    assert [match.id for match in index.query(text(number))] == [number]
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=work, args=(first,)) for first in (0, 100, 200)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed
        assert len(index) == 60


def _hang_in_a_view(path, ready):
    index = nd.Index(path)
    with index._store.view():
        ready.set()
        signal.pause()


def test_a_reader_that_died_leaves_no_lock_behind(path):
    nd.Index(path).close()
    ready = FORK.Event()
    reader = FORK.Process(target=_hang_in_a_view, args=(path, ready))
    reader.start()
    assert ready.wait(20)
    os.kill(reader.pid, signal.SIGKILL)
    reader.join()
    with nd.Index(path) as index:
        assert isinstance(index._store.environment, environment.Environment)
        assert str(reader.pid) not in index._store.environment._lmdb.readers()
        index.add(1, "one two three")


def test_the_same_folder_twice_in_a_program(path):
    with nd.Index(path) as one, nd.Index(path) as two:
        one.add(1, text(1))
        assert 1 in two
        two.add(2, text(2))
        assert len(one) == 2
    with nd.Index(path, readonly=True) as reader:
        with pytest.raises(nd.SettingError, match="read-only"):
            reader.add(3, text(3))
        with pytest.raises(nd.SettingError, match="read-only"):
            nd.Index(path)
        assert len(reader) == 2


def test_an_index_that_is_let_go_is_closed(path):
    index = nd.Index(path)
    index.add(1, text(1))
    assert len(environment._open) == 1
    del index
    assert not environment._open
    with nd.Index(path) as index:
        assert 1 in index
    index.close()
    with pytest.raises(nd.NeardupError, match=str(path)):
        index.query(text(1))


FILL_THE_DISK = """
import sys, resource
import neardup as nd
from tests.index.texts import pairs, text
with nd.Index(sys.argv[1], store_text=True) as index:
    index.add_many(pairs(0, 100))
    limit = 1 << 20
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    done = 100
    try:
        while True:
            index.add_many([(number, text(number)) for number in range(done, done + 500)])
            done += 500
    except nd.NeardupError as error:
        assert "file size limit (ulimit -f)" in str(error), error
        assert "nothing was written" in str(error), error
    assert len(index) == done
    assert [match.id for match in index.query(text(done - 1))] == [done - 1]
    assert index.query(text(done)) == []
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    index.add_many(pairs(done, done + 500))
    print(done + 500)
"""


def test_a_full_disk_undoes_what_failed_and_nothing_else(path):
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", FILL_THE_DISK, str(path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=root,
    )
    assert done.returncode == 0, done.stderr
    with nd.Index(path) as index:
        assert len(index) == int(done.stdout)


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_a_giant_bucket_is_not_gone_through(path, kind):
    n = 200_000
    same = np.full(n, 0x123456789ABCDEF0, np.uint64)
    chosen = {"max_distance": 3}
    with nd.MemoryIndex(**chosen) if kind == "memory" else nd.Index(path, **chosen) as index:
        index.add_many(nd.Fingerprints(same, index.scheme, ids=np.arange(n)))
        index.add_many(nd.Fingerprints(same[:1] ^ np.uint64(1), index.scheme, ids=["near"]))
        assert [match.id for match in index.query(int(same[0]), limit=5)] == [0, 1, 2, 3, 4]
        assert index.query(int(same[0]) ^ 1, limit=1) == [nd.Match("near", 0)]
        assert len(index.query(int(same[0]), limit=None)) == n + 1
        assert index.delete_many(range(3)) == 3
        assert [match.id for match in index.query(int(same[0]), limit=2)] == [3, 4]
