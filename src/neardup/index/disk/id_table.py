"""Id tables: the document numbers of a segment by the hashes of their ids.

head     magic, documents, the first number, checksum of everything after the head
hashes   uint64, ascending
numbers  uint32, relative to the first number
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from neardup.index.disk.damage import DamageError
from neardup.kernels.index_tables import MOST_NUMBER

MAGIC = b"NDi1"
_HEAD = struct.Struct("<4sIQII")

Numbers = NDArray[np.uint64]
Hashes = NDArray[np.uint64]


def packed(hashes: Hashes, numbers: Numbers) -> bytes:
    """The bytes of a table."""
    order = np.argsort(hashes, kind="stable")
    first = numbers.min() if len(numbers) else np.uint64(0)
    relative = (numbers[order] - first).astype(np.uint32)
    body = hashes[order].tobytes() + relative.tobytes()
    return _HEAD.pack(MAGIC, len(numbers), int(first), crc32(body), 0) + body


class IdTable:
    """A view of a stored table."""

    def __init__(self, data: memoryview | bytes) -> None:
        if len(data) < _HEAD.size:
            raise DamageError("a table of ids is cut off")
        magic, count, first, self._sum, _ = _HEAD.unpack_from(data)
        if magic != MAGIC or len(data) != _HEAD.size + 12 * count or first > MOST_NUMBER:
            raise _damage()
        self._data = data
        self.hashes: Hashes = np.frombuffer(data, np.uint64, count, _HEAD.size)
        # For lookups of one hash, NumPy takes several times as long as this.
        self._plain = memoryview(data)[_HEAD.size : _HEAD.size + 8 * count].cast("Q")
        self._relative = np.frombuffer(data, np.uint32, count, _HEAD.size + 8 * count)
        self._first = np.uint64(first)

    @property
    def nbytes(self) -> int:
        return len(self._data)

    def find(self, hash: int) -> list[int]:
        """The numbers of the documents whose ids have this hash."""
        place = bisect_left(self._plain, hash)
        found = []
        while place < len(self._plain) and self._plain[place] == hash:
            found.append(int(self._first) + int(self._relative[place]))
            place += 1
        return found

    def find_many(self, hashes: Hashes) -> tuple[NDArray[np.int64], Numbers]:
        """The places in `hashes` of those found, and the numbers of their documents."""
        begin = self.hashes.searchsorted(hashes)
        # Almost always one step; a hash that several ids share takes several.
        places, numbers = [], []
        step = 0
        here = np.arange(len(hashes))
        while len(here):
            at = begin[here] + step
            here, at = here[at < len(self.hashes)], at[at < len(self.hashes)]
            same = self.hashes[at] == hashes[here]
            here, at = here[same], at[same]
            places.append(here)
            numbers.append(self._relative[at].astype(np.uint64) + self._first)
            step += 1
        if not places:
            return np.zeros(0, np.int64), np.zeros(0, np.uint64)
        return np.concatenate(places), np.concatenate(numbers)

    def numbers(self) -> Numbers:
        """The numbers of all documents, ordered by the hashes of their ids."""
        return self._relative.astype(np.uint64) + self._first

    def check(self) -> None:
        """Raise a `DamageError` unless the checksum is right."""
        if crc32(self._data[_HEAD.size :]) != self._sum:
            raise _damage()


def _damage() -> DamageError:
    return DamageError("a table of ids is not as it was written")


def merged(tables: Sequence[IdTable], dead: Numbers) -> tuple[Hashes, Numbers]:
    """Hashes and numbers of the documents in several tables, without the dead."""
    hashes = np.concatenate([np.zeros(0, np.uint64), *(table.hashes for table in tables)])
    numbers = np.concatenate([np.zeros(0, np.uint64), *(table.numbers() for table in tables)])
    alive = ~in_sorted(numbers, dead)
    return hashes[alive], numbers[alive]


def in_sorted(numbers: Numbers, ascending: Numbers) -> NDArray[np.bool_]:
    """Which of the numbers occur in `ascending`, which is sorted."""
    if not len(ascending):
        return np.zeros(len(numbers), np.bool_)
    places = np.minimum(ascending.searchsorted(numbers), len(ascending) - 1)
    return np.asarray(ascending[places] == numbers)
