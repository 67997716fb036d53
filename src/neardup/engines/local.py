"""The local engine: stages of one process overlap in threads."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable, Generator, Iterable
from typing import Generic, TypeVar

from neardup.errors import NeardupError

Item = TypeVar("Item")
Made = TypeVar("Made")
_PATIENCE = 2.0  # seconds


class Prefetched(Generic[Item]):
    """Iterate over `items`, computing up to `ahead` of them in advance in another thread.

    An error in that thread is raised here, after the items before it. Closing the iterator early
    waits up to 2 seconds for the thread to finish its current item.
    """

    def __init__(self, items: Iterable[Item], ahead: int = 2) -> None:
        self._items = items
        self._ready: queue.Queue[tuple[str, Item | BaseException | None]] = queue.Queue(ahead)
        self._stopped = threading.Event()

    def __iter__(self) -> Generator[Item, None, None]:
        thread = _started(self._produce, "read the input")
        try:
            while True:
                state, value = self._ready.get()
                if state == "item":
                    yield value  # type: ignore[misc]
                elif state == "error":
                    assert isinstance(value, BaseException)
                    raise value
                else:
                    return
        finally:
            self._stopped.set()
            # A thread that is in native code when Python exits would abort the process. But one
            # that waits for a pipe may wait forever.
            thread.join(_PATIENCE)

    def _produce(self) -> None:
        try:
            for item in self._items:
                if not self._offer("item", item):
                    return
        except BaseException as error:
            self._offer("error", error)
        else:
            self._offer("end", None)

    def _offer(self, state: str, value: Item | BaseException | None) -> bool:
        """Put into the queue, waiting for room; False once the consumer has stopped."""
        while not self._stopped.is_set():
            try:
                self._ready.put((state, value), timeout=0.1)
            except queue.Full:
                continue
            return True
        return False


class Mapped(Generic[Item, Made]):
    """Iterate over `make(item)` for each of `items`, in order, computed in several threads.

    Each thread takes the next item while no other does, then computes, so that threads share the
    work of taking items and of computing as it comes. At most two results for each thread are
    computed or wait. An item that is `large` is computed while no other item is taken. With
    one thread, all is done in that of the caller.

    An error in `items` or `make` is raised here, after the results before it. Closing the iterator
    early waits up to 2 seconds for the threads to finish their current items.
    """

    def __init__(
        self,
        make: Callable[[Item], Made],
        items: Iterable[Item],
        threads: int,
        *,
        purpose: str,
        large: Callable[[Item], bool] = lambda _: False,
    ) -> None:
        self._make, self._items, self._large = make, iter(items), large
        self._threads, self._purpose = threads, purpose
        self._turn = threading.Lock()  # to take the next item
        self._taken = 0
        self._ended = False
        self._room = threading.Semaphore(2 * threads)
        self._made: dict[int, tuple[str, Made | BaseException | None]] = {}
        self._more = threading.Condition()

    def __iter__(self) -> Generator[Made, None, None]:
        if self._threads == 1:
            yield from map(self._make, self._items)
            return
        threads: list[threading.Thread] = []
        try:
            for _ in range(self._threads):
                threads.append(_started(self._work, self._purpose))
            for number in itertools.count():
                with self._more:
                    self._more.wait_for(lambda number=number: number in self._made)  # type: ignore[misc]
                    state, value = self._made.pop(number)
                if state == "error":
                    assert isinstance(value, BaseException)
                    raise value
                if state == "end":
                    return
                self._room.release()
                yield value  # type: ignore[misc]
        finally:
            self._ended = True
            self._room.release(len(threads) or 1)
            for thread in threads:
                thread.join(_PATIENCE)

    def _work(self) -> None:
        while self._take_and_make():
            pass

    def _take_and_make(self) -> bool:
        """Compute the next result; False if there are no more items, or none is wanted."""
        self._room.acquire()
        with self._turn:
            if self._ended:
                return False
            number = self._taken
            self._taken += 1
            try:
                item = next(self._items)
                large = self._large(item)
            except StopIteration:
                return self._put(number, "end", None)
            except BaseException as error:
                return self._put(number, "error", error)
            if large:
                return self._compute(number, item)
        return self._compute(number, item)

    def _compute(self, number: int, item: Item) -> bool:
        try:
            made = self._make(item)
        except BaseException as error:
            return self._put(number, "error", error)
        return self._put(number, "item", made)

    def _put(self, number: int, state: str, value: Made | BaseException | None) -> bool:
        """Hand over a result; whether more are wanted."""
        with self._more:
            self._made[number] = (state, value)
            self._more.notify()
        if state != "item":
            self._ended = True
        return not self._ended


def _started(target: Callable[[], None], purpose: str) -> threading.Thread:
    name = f"neardup-{purpose.partition(' ')[0]}"
    thread = threading.Thread(target=target, name=name, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        raise NeardupError(
            f"cannot start a thread to {purpose}; raise the limit on processes (ulimit -u) "
            "or end other processes"
        ) from None
    return thread
