"""The local engine: stages of one process overlap in threads."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Generic, TypeVar

from neardup.errors import NeardupError

if TYPE_CHECKING:
    from typing_extensions import Self

Item = TypeVar("Item")
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


class Background(Generic[Item]):
    """Call `work` with each item that is put, in order, in another thread; up to `ahead` wait.

    An error in that thread is raised by the next `put`, or on leaving, and no further item is
    worked on. Leaving waits for all items; leaving by an error only for the current one.
    """

    def __init__(self, work: Callable[[Item], None], purpose: str, ahead: int = 2) -> None:
        self._work, self._purpose = work, purpose
        self._waiting: queue.Queue[tuple[Item] | None] = queue.Queue(ahead)
        self._stopped = False
        self._error: BaseException | None = None

    def __enter__(self) -> Self:
        self._thread = _started(self._consume, self._purpose)
        return self

    def put(self, item: Item) -> None:
        """Hand over the next item, waiting for room."""
        if self._error is not None:
            raise self._error
        self._waiting.put((item,))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopped = kind is not None
        self._waiting.put(None)
        self._thread.join()
        if kind is None and self._error is not None:
            raise self._error

    def _consume(self) -> None:
        # It takes items until the end even after an error, so that `put` never waits forever.
        while (taken := self._waiting.get()) is not None:
            if self._stopped or self._error is not None:
                continue
            try:
                self._work(taken[0])
            except BaseException as error:
                self._error = error


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
