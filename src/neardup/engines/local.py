"""The local engine: stages of one process overlap in threads."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterable
from typing import Generic, TypeVar

from neardup.errors import NeardupError

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
        thread = threading.Thread(target=self._produce, name="neardup-read", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            raise NeardupError(
                "cannot start a thread to read the input; raise the limit on processes (ulimit -u) "
                "or end other processes"
            ) from None
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
