import threading

import pytest

from neardup.engines.local import Prefetched
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
