"""Listed pairs, stored by document: for each, all others it is paired with.

The pairs are gathered in temporary files, so that memory does not grow with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neardup.frozen import dataclass

Places = NDArray[np.int64]

PAIR = np.dtype([("a", "<i8"), ("b", "<i8"), ("similarity", "<f8"), ("distance", "<u2")])
_END = np.dtype([("other", "<i8"), ("similarity", "<f8"), ("distance", "<u2")])
_AT_ONCE = 1 << 18


class PairFile:
    """Pairs by places in a temporary file, in the order in which they came."""

    def __init__(
        self,
        path: Path,
        batches: Iterable[tuple[Places, Places, NDArray[np.float64], NDArray[np.uint16]]],
    ) -> None:
        self._path = path
        self.count = 0
        with path.open("wb") as file:
            for a, b, similarity, distance in batches:
                some = np.empty(len(a), PAIR)
                some["a"], some["b"] = a, b
                some["similarity"], some["distance"] = similarity, distance
                file.write(some.tobytes())
                self.count += len(a)

    def __len__(self) -> int:
        return self.count

    def batches(self) -> Iterator[NDArray[np.void]]:
        """All pairs, some at a time."""
        with self._path.open("rb") as file:
            while data := file.read(_AT_ONCE * PAIR.itemsize):
                yield np.frombuffer(data, PAIR)

    def degrees(self, documents: int) -> Places:
        """The number of pairs of each document."""
        found = np.zeros(documents, np.int64)
        for some in self.batches():
            found += np.bincount(some["a"], minlength=documents)
            found += np.bincount(some["b"], minlength=documents)
        return found


def stored_links(pairs: PairFile, documents: int, path: Path) -> Iterator[tuple[int, bytes]]:
    """The place of each document with pairs, and its pairs as `unpacked` reads them.

    `path` names a temporary file.
    """
    if not len(pairs):
        return
    degrees = pairs.degrees(documents)
    begins = np.concatenate([np.zeros(1, np.int64), np.cumsum(degrees)])
    ends = np.memmap(path, _END, "w+", shape=(2 * len(pairs),))
    free = begins[:-1].copy()
    for some in pairs.batches():
        at = np.concatenate((some["a"], some["b"]))
        order = np.argsort(at, kind="stable")
        at = at[order]
        firsts = np.flatnonzero(np.concatenate(([True], at[1:] != at[:-1])))
        counts = np.diff(np.append(firsts, len(at)))
        within = np.arange(len(at)) - np.repeat(firsts, counts)
        slots = free[at] + within
        ends["other"][slots] = np.concatenate((some["b"], some["a"]))[order]
        ends["similarity"][slots] = np.tile(some["similarity"], 2)[order]
        ends["distance"][slots] = np.tile(some["distance"], 2)[order]
        free[at[firsts]] += counts
    for place in np.flatnonzero(degrees).tolist():
        yield place, ends[begins[place] : begins[place + 1]].tobytes()


@dataclass(frozen=True, eq=False)
class Ends:
    """The pairs of one document: the others, with similarity and distance."""

    other: Places
    similarity: NDArray[np.float64]
    distance: NDArray[np.uint16]

    def best_first(self) -> Ends:
        """The most similar first, ties in the order of the places."""
        order = np.lexsort((self.other, -self.similarity))
        return Ends(self.other[order], self.similarity[order], self.distance[order])


def unpacked(data: bytes) -> Ends:
    """The pairs of a document, as they were stored."""
    some = np.frombuffer(data, _END)
    return Ends(some["other"], some["similarity"], some["distance"])
