"""The local engine: stages of one process, overlapped."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

from neardup.errors import NeardupError

Item = TypeVar("Item")
_PATIENCE = 2.0  # seconds


class Prefetched(Generic[Item]):
    """Iterate over `items`, computing up to `ahead` of them in a thread of their own.

    An error there is raised here, in its turn. Closing the iterator early waits a moment until
    the thread has ended, after the item it is at.
    """

    def __init__(self, items: Iterable[Item], ahead: int = 2) -> None:
        self._items = items
        self._ready: queue.Queue[tuple[str, Item | BaseException | None]] = queue.Queue(ahead)
        self._stopped = threading.Event()

    def __iter__(self) -> Iterator[Item]:
        thread = threading.Thread(target=self._produce, name="neardup-read", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            raise NeardupError(
                "the system gives no thread to read with; raise its limit on processes (ulimit -u) "
                "or end others"
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
            # A thread that is still in native code when Python ends would abort the process. But
            # one that waits for a pipe may wait for ever.
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
        """Wait for room in the queue, unless nobody takes from it any more."""
        while not self._stopped.is_set():
            try:
                self._ready.put((state, value), timeout=0.1)
            except queue.Full:
                continue
            return True
        return False
