"""Keys and values in memory, with the transactions that the store of an index needs.

A stand-in for `disk.environment`: what LMDB does for a folder, this does for a `MemoryIndex` by
similarity, so that both have one store.
"""

from __future__ import annotations

import threading
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from neardup.index.disk.turns import WaitedTooLongError

Found = TypeVar("Found")


class MemoryEnvironment:
    """Values by key. Readers see the last commit before they began, and nobody waits for them.

    A commit that comes while there are readers copies the keys, which are few: most values hold
    many documents.
    """

    def __init__(self) -> None:
        self.path = Path("memory")
        self.map_number = 0
        self._values: dict[bytes, bytes] = {}
        self._keys: list[bytes] = []
        self._writing = threading.Lock()
        self._gate = threading.Lock()
        self._readers = 0

    @contextmanager
    def reading(self) -> Iterator[MemoryTransaction]:
        """The values of the last commit."""
        with self._gate:
            self._readers += 1
            transaction = MemoryTransaction(self._values, self._keys)
        try:
            yield transaction
        finally:
            with self._gate:
                self._readers -= 1

    def write(self, work: Callable[[MemoryTransaction], Found], timeout: float) -> Found:
        """Run `work`; its changes take effect together, or not at all if it fails."""
        if not self._writing.acquire(timeout=timeout):
            raise WaitedTooLongError(
                f"the index in memory is being changed by another thread, which has not finished "
                f"in {timeout:g} s; nothing was changed: try again later"
            )
        try:
            transaction = MemoryTransaction(self._values, self._keys)
            found = work(transaction)
            with self._gate:
                if self._readers:
                    self._values, self._keys = dict(self._values), list(self._keys)
                self._commit(transaction)
            return found
        finally:
            self._writing.release()

    def used_bytes(self) -> int:
        with self._gate:
            return sum(map(len, self._values.values()))

    def flush(self) -> None:
        """Do nothing: there is no disk."""

    def _commit(self, transaction: MemoryTransaction) -> None:
        for key, value in transaction.changes.items():
            if value is None:
                if self._values.pop(key, None) is not None:
                    del self._keys[bisect_left(self._keys, key)]
            else:
                if key not in self._values:
                    insort(self._keys, key)
                self._values[key] = value


class MemoryTransaction:
    """The values, and the changes of this transaction on top; None is a deletion."""

    def __init__(self, values: dict[bytes, bytes], keys: list[bytes]) -> None:
        self._values = values
        self._keys = keys
        self.changes: dict[bytes, bytes | None] = {}
        self._new_keys: list[bytes] = []

    def get(self, key: bytes) -> bytes | None:
        if key in self.changes:
            return self.changes[key]
        return self._values.get(key)

    def put(self, key: bytes, value: bytes) -> None:
        if key not in self._values and self.changes.get(key) is None:
            insort(self._new_keys, key)
        self.changes[key] = bytes(value)

    def delete(self, key: bytes) -> bool:
        if self.get(key) is None:
            return False
        if key not in self._values:
            del self._new_keys[bisect_left(self._new_keys, key)]
        self.changes[key] = None
        return True

    def stat(self) -> dict[str, int]:
        return {"entries": len(self._values) + len(self._new_keys)}

    def next_key(self, least: bytes, *, after: bool) -> bytes | None:
        """The first key that is not below `least`, or that is after it."""
        if after:
            least += b"\0"
        best: bytes | None = None
        for keys in (self._keys, self._new_keys):
            place = bisect_left(keys, least)
            while place < len(keys) and self.get(keys[place]) is None:
                place += 1
            if place < len(keys) and (best is None or keys[place] < best):
                best = keys[place]
        return best

    @contextmanager
    def cursor(self) -> Iterator[MemoryCursor]:
        yield MemoryCursor(self)


class MemoryCursor:
    """A place among the keys."""

    def __init__(self, transaction: MemoryTransaction) -> None:
        self._transaction = transaction
        self._key: bytes | None = None

    def set_range(self, key: bytes) -> bool:
        """Go to the first key that is not below this one."""
        self._key = self._transaction.next_key(key, after=False)
        return self._key is not None

    def next(self) -> bool:
        self._key = self._transaction.next_key(self.key(), after=True)
        return self._key is not None

    def delete(self) -> bool:
        """Delete this key, and go to the next."""
        key = self.key()
        self._transaction.delete(key)
        self._key = self._transaction.next_key(key, after=True)
        return self._key is not None

    def key(self) -> bytes:
        assert self._key is not None
        return self._key

    def value(self) -> memoryview:
        value = self._transaction.get(self.key())
        assert value is not None
        return memoryview(value)
