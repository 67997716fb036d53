"""Groups of work, step by step; no thread runs unless the test lets it."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import neardup as nd
from neardup.index.disk.turns import Grouped, WaitedTooLongError, WriterLock

LONG = 30.0


class Runs:
    """Runs groups when the test says so, and remembers them."""

    def __init__(self, failing=()):
        self.groups = []
        self.failing = dict(failing)
        self.begun = threading.Semaphore(0)
        self.go_on = threading.Semaphore(0)
        self.grouped = Grouped(self.run, lambda: "it took too long")

    def run(self, works):
        self.groups.append(works)
        self.begun.release()
        assert self.go_on.acquire(timeout=LONG)
        for work in works:
            if work in self.failing:
                raise self.failing[work]
        return [f"did {work}" for work in works]

    def wait_for_queue(self, size):
        while len(self.grouped._queue) != size:
            time.sleep(0.001)


class Caller(threading.Thread):
    def __init__(self, runs, work, timeout=LONG):
        super().__init__(daemon=True)
        self.runs, self.work, self.timeout = runs, work, timeout
        self.result = self.error = None
        self.start()

    def run(self):
        try:
            self.result = self.runs.grouped.submit(self.work, self.timeout)
        except BaseException as error:
            self.error = error


def queued(runs, works):
    """Callers that wait one after the other, in this order."""
    callers = []
    for place, work in enumerate(works, 1):
        callers.append(Caller(runs, work))
        runs.wait_for_queue(place)
    return callers


def ended(*callers):
    for caller in callers:
        caller.join(LONG)
        assert not caller.is_alive()


def begun(runs):
    assert runs.begun.acquire(timeout=LONG)


def test_work_that_comes_meanwhile_runs_together():
    runs = Runs()
    first = Caller(runs, "a")
    begun(runs)
    others = queued(runs, ["b", "c", "d"])
    runs.go_on.release()
    begun(runs)
    late = Caller(runs, "e")
    runs.wait_for_queue(1)
    runs.go_on.release(2)
    ended(first, *others, late)
    assert runs.groups == [["a"], ["b", "c", "d"], ["e"]]
    assert [each.result for each in (first, *others, late)] == [f"did {work}" for work in "abcde"]
    runs.go_on.release()
    assert runs.grouped.submit("f", LONG) == "did f"


def test_an_error_concerns_its_cause_alone():
    runs = Runs({"c": ValueError("c is wrong")})
    first = Caller(runs, "a")
    begun(runs)
    others = queued(runs, ["b", "c", "d"])
    runs.go_on.release(5)
    ended(first, *others)
    assert runs.groups == [["a"], ["b", "c", "d"], ["b"], ["c"], ["d"]]
    assert [each.result for each in others] == ["did b", None, "did d"]
    assert [str(each.error) for each in others] == ["None", "c is wrong", "None"]


def test_a_group_that_waits_too_long_fails_at_once_for_all():
    runs = Runs({"b": WaitedTooLongError("another program writes")})
    first = Caller(runs, "a")
    begun(runs)
    others = queued(runs, ["b", "c"])
    runs.go_on.release(2)
    ended(first, *others)
    assert runs.groups == [["a"], ["b", "c"]]
    assert [str(each.error) for each in others] == ["another program writes"] * 2


def test_who_waits_too_long_leaves_and_is_not_run():
    runs = Runs()
    first = Caller(runs, "a")
    begun(runs)
    with pytest.raises(nd.NeardupError, match="it took too long"):
        runs.grouped.submit("b", 0.01)
    others = queued(runs, ["c"])
    runs.go_on.release(2)
    ended(first, *others)
    assert runs.groups == [["a"], ["c"]]


def test_an_interrupted_leader_leaves_the_others_to_the_next():
    runs = Runs({"b": KeyboardInterrupt()})
    first = Caller(runs, "a")
    begun(runs)
    others = queued(runs, ["b", "c", "d"])
    runs.go_on.release(3)
    ended(first, *others)
    assert runs.groups == [["a"], ["b", "c", "d"], ["c", "d"]]
    assert isinstance(others[0].error, KeyboardInterrupt)
    assert [each.result for each in others[1:]] == ["did c", "did d"]


def test_what_is_done_is_not_done_again_after_an_interruption():
    runs = Runs({"d": ValueError("wrong")})
    first = Caller(runs, "a")
    begun(runs)
    others = queued(runs, ["b", "c", "d", "e"])
    runs.go_on.release()  # a
    for _ in range(5):  # the group, b, c, d and e
        begun(runs)
        if runs.groups[-1] == ["e"]:
            runs.failing["e"] = KeyboardInterrupt()
        runs.go_on.release()
    begun(runs)
    del runs.failing["e"]
    runs.go_on.release()
    ended(first, *others)
    assert runs.groups == [["a"], ["b", "c", "d", "e"], ["b"], ["c"], ["d"], ["e"], ["e"]]
    assert isinstance(others[0].error, KeyboardInterrupt)  # it led
    assert [others[1].result, str(others[2].error), others[3].result] == [
        "did c",
        "wrong",
        "did e",
    ]


@pytest.mark.parametrize("is_promoted", [False, True])
def test_an_interrupted_waiter_blocks_nobody(monkeypatch, is_promoted):
    runs = Runs()
    first = Caller(runs, "a")
    begun(runs)
    usual = threading.Lock

    class Interrupted:
        """A lock whose second acquisition, the waiting one, is interrupted."""

        def __init__(self):
            self.lock, self.times = usual(), 0

        def acquire(self, timeout=-1):
            self.times += 1
            if self.times == 2:
                if is_promoted:
                    runs.go_on.release()
                    assert self.lock.acquire(timeout=LONG)  # it is to lead
                raise KeyboardInterrupt
            return self.lock.acquire(timeout=timeout)

        def release(self):
            self.lock.release()

    with monkeypatch.context() as patched:
        patched.setattr(threading, "Lock", Interrupted)
        with pytest.raises(KeyboardInterrupt):
            runs.grouped.submit("b", LONG)
    runs.go_on.release(2)
    ended(first)
    assert runs.grouped.submit("c", LONG) == "did c"
    assert runs.groups == [["a"], ["c"]]


HOLD = """
import sys, time
from pathlib import Path
from neardup.index.disk.turns import WriterLock
with WriterLock(Path(sys.argv[1])).held(5.0, time.monotonic() + 5):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock of an index."""
    path = tmp_path / "x.index"
    nd.Index(path).close()
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "held\n"
    yield path, process
    process.kill()
    with process:
        pass  # closes its pipes, and waits for it


def test_who_waits_for_another_program_is_told(holder):
    path, process = holder
    with nd.Index(path, timeout=0.05) as index:
        for change in (
            lambda: index.add(1, "one two three"),
            lambda: index.check(1, "one two three"),
            lambda: index.check_many([(1, "one two three")]),
            lambda: index.delete(1),
            index.expire,
            index.compact,
        ):
            with pytest.raises(nd.NeardupError) as told:
                change()
            assert str(told.value) == (
                f"{path} is being written by another program or thread, which has not finished in "
                "0.05 s; nothing was changed: try again later, or open it with a longer timeout"
            )
        assert len(index) == 0
        assert index.query("one two three") == []  # readers do not wait
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        index.add(1, "one two three")  # the lock of a killed program is free
        assert list(index.ids()) == [1]


def test_who_waits_long_enough_has_its_turn(holder):
    path, process = holder
    with nd.Index(path, timeout=LONG) as index:
        adding = threading.Thread(target=index.add, args=(1, "one two three"))
        adding.start()
        assert index.query("one two three") == []
        process.stdin.close()
        adding.join(LONG)
        assert list(index.ids()) == [1]


def test_a_time_out_of_zero_tries_once(tmp_path):
    nd.Index(tmp_path / "x").close()
    one, other = WriterLock(tmp_path / "x"), WriterLock(tmp_path / "x")
    with one.held(0, 0), pytest.raises(WaitedTooLongError), other.held(0, 0):
        pass
    with other.held(0, 0):
        pass
    one.close()
    other.close()
    for timeout in (-1, "5", True, float("nan")):
        with pytest.raises(nd.SettingError, match="timeout"):
            nd.Index(tmp_path / "x", timeout=timeout)
