import threading

import pytest

from neardup.engines.local import Background, Prefetched
from neardup.errors import NeardupError


def test_items_come_in_order_and_complete():
    assert list(Prefetched(range(1000), ahead=3)) == list(range(1000))


def test_nothing_comes_of_nothing():
    assert list(Prefetched([])) == []


def test_an_error_comes_after_the_items_before_it():
    def items():
        yield 1
        yield 2
        raise OSError("the disk is gone")

    seen = []
    with pytest.raises(OSError, match="the disk is gone"):
        for item in Prefetched(items()):
            seen.append(item)
    assert seen == [1, 2]


def test_no_more_is_computed_than_asked_for():
    made = []
    room = threading.Event()

    def items():
        for i in range(100):
            made.append(i)
            if len(made) == 4:  # one taken, two in the queue, one waiting for room
                room.set()
            yield i

    iterator = iter(Prefetched(items(), ahead=2))
    assert next(iterator) == 0
    assert room.wait(5)
    threading.Event().wait(0.3)
    assert len(made) == 4
    iterator.close()


def test_leaving_early_ends_the_thread():
    iterator = iter(Prefetched(iter(int, 1), ahead=1))  # endless
    next(iterator)
    thread = next(t for t in threading.enumerate() if t.name == "neardup-read")
    iterator.close()
    assert not thread.is_alive()


def test_a_system_without_threads_is_a_sentence():
    usual = threading.stack_size(1 << 46)  # more than the address space
    try:
        with pytest.raises(NeardupError, match="cannot start a thread to read"):
            list(Prefetched([1]))
    finally:
        threading.stack_size(usual)


def test_background_work_is_done_in_order_and_completely():
    done = []
    with Background(done.append, "count", ahead=3) as background:
        for item in range(1000):
            background.put(item)
    assert done == list(range(1000))


def test_an_error_of_background_work_is_raised_and_ends_the_work():
    done = []

    def work(item):
        if item == 3:
            raise OSError("the disk is full")
        done.append(item)

    with pytest.raises(OSError, match="the disk is full"), Background(work, "write") as background:
        for item in range(100_000):
            background.put(item)
    assert done == [0, 1, 2]


def test_an_error_of_the_last_background_work_is_raised():
    def work(item):
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"), Background(work, "write") as background:
        background.put(1)


def test_leaving_background_work_by_an_error_skips_what_waits():
    done, entered, go_on = [], threading.Event(), threading.Event()

    def work(item):
        entered.set()
        go_on.wait(5)
        done.append(item)

    def leave():
        with Background(work, "write", ahead=4) as background:
            for item in range(3):
                background.put(item)
            assert entered.wait(5)
            threading.Timer(0.5, go_on.set).start()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        leave()
    assert done == [0]
    assert not any(thread.name == "neardup-write" for thread in threading.enumerate())


def test_a_system_without_threads_for_background_work_is_a_sentence():
    usual = threading.stack_size(1 << 46)
    try:
        with (
            pytest.raises(NeardupError, match="cannot start a thread to write the rows"),
            Background(print, "write the rows"),
        ):
            raise AssertionError
    finally:
        threading.stack_size(usual)
