"""Passages of the same words: grouped by their keys, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from neardup.frozen import dataclass
from neardup.kernels.hamming_join import group_rows
from neardup.parts.spill import Spill

Places = NDArray[np.int64]

PARTITIONS = 64
_KEYED = np.dtype([("high", "u8"), ("low", "u8"), ("passage", "i8"), ("bytes", "u4")])
# An occurrence of a passage; `like` is the passage that stands for all of the same words.
OCCURRENCE = np.dtype([("like", "i8"), ("passage", "i8"), ("bytes", "u4")])

# The preferred one of several passages: takes groups and passages, returns the first of each group.
Preferred = Callable[[Places, Places], Places]


class Flags:
    """A flag for each passage, a bit each."""

    def __init__(self, count: int) -> None:
        self._bits = np.zeros(count // 8 + 1, np.uint8)

    def set(self, places: Places) -> None:
        """Set some flags."""
        np.bitwise_or.at(self._bits, places // 8, np.left_shift(1, places % 8).astype(np.uint8))

    def between(self, first: int, last: int) -> NDArray[np.bool_]:
        """The flags of a range."""
        begin = first // 8
        bits = np.unpackbits(self._bits[begin : last // 8 + 1], bitorder="little")
        return bits[first - 8 * begin : last - 8 * begin].view(np.bool_)


@dataclass(frozen=True, eq=False)
class Copies:
    """The occurrences of passages that occur more than once, and one passage of each kind."""

    repeated: Spill
    distinct: Flags


class KeyedPassages:
    """Collects the keys of passages, which are numbered in the order of the input."""

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._spill = Spill(_KEYED, PARTITIONS, memory)

    def add(self, passages: Places, keys: NDArray[np.uint64], sizes: Places) -> None:
        """Add passages with their keys and their bytes."""
        records = np.zeros(len(passages), _KEYED)
        records["high"], records["low"] = keys[:, 0], keys[:, 1]
        records["passage"], records["bytes"] = passages, sizes
        self._spill.add(records, (records["high"] >> np.uint64(58)).astype(np.int64))

    def copies(self, passages: int, preferred: Preferred | None, threads: int) -> Copies:
        """Group the passages, of which there are so many; `preferred` stands for its group.

        Without a preference, the first does.
        """
        repeated, distinct = Spill(OCCURRENCE, PARTITIONS, self._memory), Flags(passages)
        for number in range(len(self._spill)):
            records = self._spill.partition(number)
            keys = np.column_stack((records["high"], records["low"]))
            groups = group_rows(np.ascontiguousarray(keys), threads=threads)
            if preferred is None:
                likes = records["passage"][groups.firsts]
            else:
                likes = preferred(groups.group_of, records["passage"])
            distinct.set(likes)
            several = (np.bincount(groups.group_of) > 1)[groups.group_of]
            found = np.zeros(int(several.sum()), OCCURRENCE)
            found["like"] = likes[groups.group_of[several]]
            found["passage"], found["bytes"] = (
                records["passage"][several],
                records["bytes"][several],
            )
            repeated.add(found, np.full(len(found), number))
        return Copies(repeated, distinct)
