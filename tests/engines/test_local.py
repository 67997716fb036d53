import threading

import pytest

from neardup.engines.local import Mapped, Prefetched
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


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_mapped_results_come_in_order_and_complete(threads):
    def slow_at_first(number):
        threading.Event().wait(0.01 / (1 + number % 7))
        return number * number

    made = Mapped(slow_at_first, iter(range(200)), threads, purpose="square")
    assert list(made) == [number * number for number in range(200)]


@pytest.mark.parametrize("threads", [1, 3])
def test_nothing_is_mapped_to_nothing(threads):
    assert list(Mapped(str, [], threads, purpose="print")) == []


def test_one_thread_is_that_of_the_caller():
    names = Mapped(lambda _: threading.current_thread().name, range(3), 1, purpose="name")
    assert set(names) == {threading.current_thread().name}


def test_several_results_are_computed_at_the_same_time():
    both_are_here = threading.Barrier(2)
    assert (
        list(Mapped(lambda _: both_are_here.wait(5) >= 0, range(4), 2, purpose="meet"))
        == [True] * 4
    )


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("where", ["items", "make"])
def test_an_error_comes_after_the_results_before_it(threads, where):
    def items():
        yield from range(20)
        if where == "items":
            raise OSError("the disk is gone")
        yield from range(20, 100_000)

    def make(number):
        if number == 20:
            raise OSError("the disk is gone")
        return number

    seen = []
    with pytest.raises(OSError, match="the disk is gone"):
        for made in Mapped(make, items(), threads, purpose="read"):
            seen.append(made)
    assert seen == list(range(20))
    assert not any(thread.name == "neardup-read" for thread in threading.enumerate())


def test_no_more_is_mapped_than_two_for_each_thread():
    taken = []
    room = threading.Event()

    def items():
        for number in range(100):
            taken.append(number)
            if len(taken) == 5:  # one handed over, four that wait
                room.set()
            yield number

    iterator = iter(Mapped(str, items(), 2, purpose="print"))
    assert next(iterator) == "0"
    assert room.wait(5)
    threading.Event().wait(0.3)
    assert len(taken) == 5
    iterator.close()


def test_no_item_is_taken_while_a_large_one_is_computed():
    inside, taken_inside = threading.Event(), []

    def items():
        for number in range(40):
            if inside.is_set():
                taken_inside.append(number)
            yield number

    def make(number):
        if number % 10 == 3:
            inside.set()
            threading.Event().wait(0.02)
            inside.clear()
        return number

    made = Mapped(make, items(), 4, purpose="make", large=lambda number: number % 10 == 3)
    assert list(made) == list(range(40))
    assert taken_inside == []


def test_leaving_early_ends_the_threads_of_a_map():
    iterator = iter(Mapped(abs, iter(int, 1), 3, purpose="map"))  # endless
    next(iterator)
    threads = [thread for thread in threading.enumerate() if thread.name == "neardup-map"]
    assert len(threads) == 3
    iterator.close()
    assert not any(thread.is_alive() for thread in threads)


def test_a_system_without_threads_for_a_map_is_a_sentence():
    usual = threading.stack_size(1 << 46)
    try:
        with pytest.raises(NeardupError, match="cannot start a thread to write the rows"):
            list(Mapped(abs, [1], 2, purpose="write the rows"))
    finally:
        threading.stack_size(usual)
