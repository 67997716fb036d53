"""Threads and processes that search, add and check at the same time."""

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor

import lmdb
import pytest
from tests.index.texts import text

import neardup as nd
from neardup.index.disk import environment, kinds

FORK = multiprocessing.get_context("fork")
LONG = 60.0
KINDS = {"bands": {}, "complete": {"complete": True}, "counts": {"weights": "count"}}


@pytest.fixture(autouse=True)
def _short_tail(monkeypatch):
    monkeypatch.setattr(kinds, "MOST_IN_TAIL", 20)
    monkeypatch.setattr(kinds, "MOST_WEIGHTED_IN_TAIL", 20)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.index"


def member(family, number):
    """One of the texts of a family, all of which are near each other."""
    return f"{text(family, 60)} {number}"


def family_of(id):
    return id.split()[0]


def require_one_of_each(index, families):
    kept = list(index.ids())
    assert sorted(map(family_of, kept)) == sorted(map(str, range(families)))
    for family in range(families):
        found = index.query(member(family, "asked"), limit=None)
        assert [family_of(match.id) for match in found] == [str(family)]


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("place", ["memory", "disk"])
def test_of_each_family_one_document_is_added(path, kind, place):
    families, members, threads = 25, 16, 16
    opened = nd.MemoryIndex if place == "memory" else lambda **chosen: nd.Index(path, **chosen)
    with opened(**KINDS[kind]) as index:
        together = threading.Barrier(threads)

        def work(number):
            together.wait(LONG)
            found = {}
            for step in range(families):
                family = (step + number // 4) % families  # several threads at the same one
                id = f"{family} {number}"
                verdict = index.check(id, member(family, number))
                assert verdict.is_new == verdict.added
                found[id] = verdict
            return found

        with ThreadPoolExecutor(threads) as pool:
            verdicts = {
                id: verdict
                for found in pool.map(work, range(members))
                for id, verdict in found.items()
            }
        added = {id for id, verdict in verdicts.items() if verdict.added}
        assert set(index.ids()) == added
        for id, verdict in verdicts.items():
            if not verdict.added:
                assert verdict.match.id in added
                assert family_of(verdict.match.id) == family_of(id)
        require_one_of_each(index, families)
        times = [index.get(id).seen.times for id in added]
        assert sum(times) == families * members
    if place == "disk":
        with nd.Index(path) as index:
            assert set(index.ids()) == added
            require_one_of_each(index, families)
            assert index._store.verify() == families


def _check_families(path, process, families, results):
    kinds.MOST_IN_TAIL = 20
    with nd.Index(path, sync=False) as index, ThreadPoolExecutor(3) as pool:

        def work(thread):
            added = []
            for family in range(families):
                id = f"{family} {process}.{thread}"
                if index.check(id, member(family, f"{process}.{thread}")).added:
                    added.append(id)
            return added

        results.put([id for added in pool.map(work, range(3)) for id in added])


def test_processes_and_threads_add_one_document_of_each_family(path):
    nd.Index(path).close()
    families, results = 40, FORK.Queue()
    writers = [
        FORK.Process(target=_check_families, args=(path, process, families, results))
        for process in range(3)
    ]
    for writer in writers:
        writer.start()
    added = [id for _ in writers for id in results.get(timeout=LONG)]
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    with nd.Index(path) as index:
        assert sorted(index.ids()) == sorted(added)
        require_one_of_each(index, families)
        assert index._store.verify() == families


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("place", ["memory", "disk"])
def test_searches_see_whole_commits_while_a_thread_writes(path, kind, place, monkeypatch):
    monkeypatch.setattr(environment, "FIRST_MAP", 1 << 18)  # so that it grows while they read
    opened = nd.MemoryIndex if place == "memory" else lambda **chosen: nd.Index(path, **chosen)
    with opened(**KINDS[kind]) as index:
        index.add_many([(f"stays {number}", text(number)) for number in range(30)])
        ended = threading.Event()
        counts = {"searches": 0}

        def read(which):
            while not ended.is_set() or not counts["searches"]:
                number = counts["searches"] % 30
                found = index.query(text(number))
                assert [match.id for match in found] == [f"stays {number}"], found
                assert found[0].similarity == 1
                # Ten copies come and go in one commit.
                for asked in (1000 + number, 2000 + number):
                    assert len(index.query(text(asked), limit=None)) in (0, 10)
                both = index.query_many([text(number), text(1000 + number)], limit=None)
                assert [len(both[0]), len(both[1]) % 10] == [1, 0]
                assert len(index) % 10 == 0
                assert f"stays {number}" in index
                counts["searches"] += 1

        def write():
            for number in range(30):
                for first in (1000, 2000):
                    copies = [
                        (f"{first + number} {copy}", text(first + number)) for copy in range(10)
                    ]
                    index.add_many(copies)
                    assert len(index.query(text(first + number), limit=None)) == 10
                assert not index.check("seen", text(number)).added
                assert index.delete_many([f"{1000 + number} {copy}" for copy in range(10)]) == 10
                assert index.query(text(1000 + number)) == []
                if number % 10 == 9:
                    index.compact()

        with ThreadPoolExecutor(5) as pool:
            readers = [pool.submit(read, which) for which in range(4)]
            try:
                pool.submit(write).result()
            finally:
                ended.set()
            for reader in readers:
                reader.result()
        assert len(index) == 330


def test_an_error_in_a_group_concerns_its_cause_alone(path):
    with nd.Index(path) as index:
        index.add("old", text(0))
        begun, go_on = threading.Event(), threading.Event()

        def slow(change):
            begun.set()
            assert go_on.wait(LONG)

        def wrong(change):
            one = index._intake.one_set("wrong", text(9), None)
            change.put_one(one.record, one.sets, one.place)
            raise ZeroDivisionError

        store = index._store
        with ThreadPoolExecutor(4) as pool:
            first = pool.submit(store.change_together, slow)
            assert begun.wait(LONG)
            others = [
                pool.submit(index.check, "new", text(1)),
                pool.submit(store.change_together, wrong),
                pool.submit(index.check, "seen", text(0)),
            ]
            while len(store._grouped._queue) < 3:
                pass
            go_on.set()
            first.result()
            assert others[0].result().added
            assert others[2].result().match.id == "old"
            with pytest.raises(ZeroDivisionError):
                others[1].result()
        assert index.query(text(9)) == []
        assert index.get("old").seen.times == 2
    with nd.Index(path) as index:
        assert list(index.ids()) == ["old", "new"]


class FullOnce:
    """An LMDB environment whose next commit finds the map full."""

    def __init__(self, real):
        self.real, self.times = real, 0

    def __getattr__(self, name):
        return getattr(self.real, name)

    def begin(self, write=False, **how):
        transaction = self.real.begin(write=write, **how)
        if not write or self.times:
            return transaction
        self.times += 1
        return FullAtCommit(transaction)


class FullAtCommit:
    def __init__(self, transaction):
        self.transaction = transaction

    def __enter__(self):
        return self.transaction

    def __exit__(self, kind, *error):
        self.transaction.abort()
        if kind is None:
            raise lmdb.MapFullError("full")


@pytest.mark.parametrize("call", ["check", "check_many", "add", "add_many"])
def test_a_map_that_is_full_at_the_commit_leaves_nothing_twice(path, monkeypatch, call):
    with nd.Index(path) as index:
        index.add("old", text(0))
        shared = index._store.environment
        assert isinstance(shared, environment.Environment)
        monkeypatch.setattr(shared, "_lmdb", FullOnce(shared._lmdb))
        if call.endswith("many"):
            getattr(index, call)([("new", text(1)), ("other", text(2))])
        else:
            getattr(index, call)("new", text(1))
        assert shared._lmdb.times == 1
        assert [match.id for match in index.query(text(1), limit=None)] == ["new"]
        assert [match.id for match in index.query(text(0), limit=None)] == ["old"]
        assert [match.id for match in index.check("x", text(1), limit=None).matches] == ["new"]


def _close_while_others_search(path):
    index = nd.Index(path)
    searched = threading.Semaphore(0)

    def search():
        while True:
            try:
                assert index.query_many([text(number) for number in range(50)])
            except nd.NeardupError:
                return
            searched.release()

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in threads:
        searched.acquire()
    index.close()
    for thread in threads:
        thread.join()


def test_an_index_that_is_closed_while_threads_search_ends_their_searches(path):
    with nd.Index(path, sync=False) as index:
        index.add_many([(number, text(number)) for number in range(3000)])
    for _ in range(5):
        closing = FORK.Process(target=_close_while_others_search, args=(path,))
        closing.start()
        closing.join()
        assert closing.exitcode == 0  # no signal
