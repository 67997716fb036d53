"""Ids, word counts and places of rows by document number, and numbers by id."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.index.entries import Id, is_text

Words = NDArray[np.uint32]
Places = NDArray[np.uint32]
_BITS = 14
_SIZE = 1 << _BITS


Numbers = NDArray[np.uint64]
ListedIds = range | list[Id]
_GONE = object()
# Shorter ranges are kept as lists: many short ranges would slow down every lookup.
_SHORTEST = 1024


class RowChunks:
    """Places of rows and word counts by number (0, 1, 2 …), in chunks that are never moved.

    Chunks have a fixed size. In a full chunk, word counts take as few bytes as the largest one
    needs, and none if all are equal.
    """

    def __init__(self) -> None:
        self._places: list[Places] = []
        self._words: list[NDArray[np.unsignedinteger]] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        chunks = (*self._places, *self._words)
        return sum(chunk.nbytes if chunk.strides[0] else chunk.itemsize for chunk in chunks)

    def append(self, places: Places, words: Words) -> None:
        """Add documents with the next numbers."""
        done = 0
        while done < len(places):
            at = self._count % _SIZE
            if at == 0:
                self._places.append(np.empty(_SIZE, np.uint32))
                self._words.append(np.empty(_SIZE, np.uint32))
            size = min(_SIZE - at, len(places) - done)
            self._places[-1][at : at + size] = places[done : done + size]
            self._words[-1][at : at + size] = words[done : done + size]
            done += size
            self._count += size
            if self._count % _SIZE == 0:
                self._words[-1] = _packed(self._words[-1])

    def places(self, numbers: NDArray[np.int64]) -> Places:
        chunks = self._places
        found = (chunks[number >> _BITS][number % _SIZE] for number in numbers.tolist())
        return np.fromiter(found, np.uint32, len(numbers))

    def words(self, numbers: NDArray[np.int64]) -> Words:
        chunks = self._words
        found = (chunks[number >> _BITS][number % _SIZE] for number in numbers.tolist())
        return np.fromiter(found, np.uint32, len(numbers))


def _packed(words: NDArray[np.unsignedinteger]) -> NDArray[np.unsignedinteger]:
    most = words.max()
    narrow = words.astype(np.min_scalar_type(most))
    if words.min() == most:
        return np.broadcast_to(narrow[:1].copy(), words.shape)
    return narrow


class IdBook:
    """Ids by number (0, 1, 2 …), in insertion order.

    Consecutive integers, typical of bulk loads, are kept as ranges, which take no memory. Other
    ids are kept in lists and a dict, at about 100 bytes each.
    """

    def __init__(self) -> None:
        self.end = 0  # the next number
        self._firsts: list[int] = []  # the first number of each span
        self._spans: list[range | list[Any]] = []
        self._numbers: dict[Id, int] = {}  # of the ids in lists
        self._ranges: list[tuple[int, int, int]] = []  # ids from, up to, and the first's number
        self._gone: set[int] = set()  # numbers in ranges
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def number_of(self, id: Id) -> int | None:
        """The number of an id, or None."""
        found = self._numbers.get(id)
        if found is not None or not self._ranges or isinstance(id, str):
            return found
        first, end, number = self._ranges[bisect_right(self._ranges, id, key=_first) - 1]
        number += id - first
        return number if first <= id < end and number not in self._gone else None

    def id_of(self, number: int) -> Any:
        """The id of an existing number."""
        at = bisect_right(self._firsts, number) - 1
        return self._spans[at][number - self._firsts[at]]

    def ids_of(self, numbers: Sequence[int]) -> list[Id]:
        """The ids of existing numbers."""
        if len(self._spans) == 1:
            return list(map(self._spans[0].__getitem__, numbers))
        return list(map(self.id_of, numbers))

    def known(self, ids: ListedIds) -> list[tuple[int, int]]:
        """The place in `ids` and the number of each id that exists; `ids` are distinct."""
        if not self._in_ranges(ids) and (not self._numbers or self._numbers.keys().isdisjoint(ids)):
            return []
        found = enumerate(map(self.number_of, ids))
        return [(place, number) for place, number in found if number is not None]

    def append(self, ids: ListedIds) -> None:
        """Give new ids the next numbers."""
        if isinstance(ids, range) and not self._in_ranges(ids):
            self._append_range(ids)
        else:
            self._append_list(list(ids))
        self.end += len(ids)
        self._count += len(ids)

    def remove(self, number: int) -> None:
        """Forget an id; its number is not reused."""
        at = bisect_right(self._firsts, number) - 1
        span, place = self._spans[at], number - self._firsts[at]
        if isinstance(span, range):
            self._gone.add(number)
        else:
            del self._numbers[span[place]]
            span[place] = _GONE
        self._count -= 1

    def numbers(self) -> Numbers:
        """The numbers of all ids, ascending."""
        alive = np.zeros(self.end, np.bool_)
        alive[np.fromiter(self._numbers.values(), np.int64, len(self._numbers))] = True
        for first, span in zip(self._firsts, self._spans, strict=True):
            if isinstance(span, range):
                alive[first : first + len(span)] = True
        alive[np.fromiter(self._gone, np.int64, len(self._gone))] = False
        return np.flatnonzero(alive).astype(np.uint64)

    def _in_ranges(self, ids: ListedIds) -> bool:
        """Whether some of these ids may be in ranges, or were; no id is in two ranges."""
        if not self._ranges or not ids:
            return False
        lowest, highest = (ids[0], ids[-1]) if isinstance(ids, range) else (min(ids), max(ids))
        if isinstance(lowest, str):
            return False
        at = bisect_right(self._ranges, highest, key=_first) - 1
        return at >= 0 and self._ranges[at][1] > lowest

    def _append_list(self, ids: list[Id]) -> None:
        if self._spans and isinstance(self._spans[-1], list):
            self._spans[-1] += ids
        else:
            self._firsts.append(self.end)
            self._spans.append(ids)
        self._numbers.update(zip(ids, range(self.end, self.end + len(ids)), strict=True))

    def _append_range(self, run: range) -> None:
        last = self._spans[-1] if self._spans else None
        if isinstance(last, range) and last.stop == run.start:
            self._spans[-1] = range(last.start, run.stop)
            at = bisect_right(self._ranges, last.start, key=_first) - 1
            self._ranges[at] = last.start, run.stop, self._firsts[-1]
        else:
            self._firsts.append(self.end)
            self._spans.append(run)
            insort(self._ranges, (run.start, run.stop, self.end))


def _first(ids: tuple[int, int, int]) -> int:
    return ids[0]


def listed(ids: pa.Array) -> ListedIds:
    """Ids as a range if they are consecutive integers and enough of them, else as a list."""
    if not is_text(ids) and len(ids) >= _SHORTEST:
        values = ids.to_numpy()
        first, last = int(values[0]), int(values[-1])
        # A difference may be 1 after an overflow, but not with these ends.
        if last - first == len(ids) - 1 and (values[1:] - values[:-1] == 1).all():
            return range(first, last + 1)
    one_by_one: list[Id] = ids.to_pylist()
    return one_by_one
