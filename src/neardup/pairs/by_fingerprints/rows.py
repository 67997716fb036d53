"""Fingerprints as a join takes them: no empty ones, equal rows grouped, pairs in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.fingerprints import Fingerprints
from neardup.fingerprints.fingerprints import unsigned
from neardup.kernels.hamming_join import RowGroups, RowPairs, TooManyPairsError, equal_rows

_WORD_BITS = 64


@dataclass(frozen=True, eq=False)
class Rows:
    """Fingerprints as a C-contiguous uint64 array (n, words), and word counts where known."""

    array: NDArray[np.uint64]
    bits: int
    words: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.array)

    def take(self, places: NDArray[np.int64] | slice) -> Rows:
        """Fewer rows, in the order of `places`."""
        words = None if self.words is None else self.words[places]
        return Rows(np.ascontiguousarray(self.array[places]), self.bits, words)


@dataclass(frozen=True, eq=False)
class FingerprintSide:
    """One collection: the rows that can be near anything, and their places among all.

    `chosen` are the places, or None where no document was left out. Numbers that count from 0 are
    made only when asked for: for 10^8 fingerprints they would take as long as a pass over these.
    """

    rows: Rows
    chosen: NDArray[np.int64] | None

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """The place of each row among all documents."""
        return np.arange(len(self.rows)) if self.chosen is None else self.chosen

    @property
    def all_there(self) -> bool:
        """Whether no document was left out, so that rows and places are the same numbers."""
        if self.chosen is None or len(self.chosen) == 0:
            return True
        return int(self.chosen[-1]) == len(self.chosen) - 1


def sides_of(left: Any, right: Any | None) -> tuple[FingerprintSide, FingerprintSide | None]:
    """Take `Fingerprints` of one scheme, or uint64 arrays of one width; empty ones left out."""
    first = side_of(left, "left")
    if right is None:
        return first, None
    if isinstance(left, Fingerprints) and isinstance(right, Fingerprints):
        left.scheme.require_same(right.scheme)
    elif isinstance(left, Fingerprints) or isinstance(right, Fingerprints):
        raise SettingError(
            "left and right must both be Fingerprints or both be arrays: an array does not say "
            "by which scheme it was made"
        )
    second = side_of(right, "right")
    if first.rows.bits != second.rows.bits:
        raise SettingError(
            f"left has fingerprints of {first.rows.bits} bits and right of {second.rows.bits}; "
            "both must be of one width"
        )
    return first, second


def side_of(fingerprints: Any, name: str) -> FingerprintSide:
    """One collection as rows."""
    if isinstance(fingerprints, Fingerprints):
        array, words, places = fingerprints.array, fingerprints.words, None
        if fingerprints.empty.any():
            places = np.flatnonzero(~fingerprints.empty)
            array, words = array[places], words[places]
        return FingerprintSide(Rows(np.ascontiguousarray(array), fingerprints.bits, words), places)
    array = unsigned(fingerprints)
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] == 0):
        raise SettingError(
            f"{name} has shape {array.shape}; fingerprints come as Fingerprints or as an array "
            "of shape (n,) or (n, words)"
        )
    array = np.ascontiguousarray(array.reshape(len(array), -1 if array.size else _columns(array)))
    rows = Rows(array.astype(np.uint64, copy=False), _WORD_BITS * array.shape[1])
    return FingerprintSide(rows, None)


def _columns(array: NDArray[Any]) -> int:
    """The words of a row where there is no row to look at."""
    return 1 if array.ndim == 1 else int(array.shape[1])


@dataclass(frozen=True, eq=False)
class GroupedSide:
    """A collection whose equal rows are one: `distinct` has each once, by first appearance.

    `equal` has the groups of equal rows, None where no two are equal.
    """

    side: FingerprintSide
    equal: RowGroups | None
    distinct: Rows

    @classmethod
    def of(cls, side: FingerprintSide, by_words: bool, threads: int) -> GroupedSide:
        """Put equal rows together; with `by_words`, only those of equal word counts."""
        rows = side.rows
        equal = equal_rows(rows.array, threads=threads)
        if equal is not None and by_words and rows.words is not None:
            keys = np.column_stack([equal.group_of, rows.words]).astype(np.uint64)
            equal = equal_rows(keys, threads=threads)
        return cls(side, equal, rows if equal is None else rows.take(equal.firsts))

    @cached_property
    def groups(self) -> RowGroups:
        """The group of each row, also of those that are equal to no other."""
        return self.equal or RowGroups.alone(len(self.side.rows))

    @property
    def all_distinct(self) -> bool:
        """Whether no two rows are equal, so that groups and rows are the same numbers."""
        return self.equal is None

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of rows in each group."""
        return np.bincount(self.groups.group_of, minlength=len(self.distinct))

    @cached_property
    def members(self) -> NDArray[np.int64]:
        """The rows, group after group, ascending within each."""
        return np.argsort(self.groups.group_of, kind="stable")

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where each group begins among `members`."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def lasts(self) -> NDArray[np.int64]:
        """The last row of each group."""
        ends = self.starts + self.sizes
        return np.asarray(self.members[ends - 1])

    def groups_between(self, start: int, stop: int) -> NDArray[np.int64]:
        """The groups to which some rows belong, each once, ascending."""
        there = np.zeros(len(self.distinct), np.bool_)
        there[self.groups.group_of[start:stop]] = True
        return np.flatnonzero(there)

    def representatives(self) -> GroupedSide:
        """Only the first row of each group."""
        if self.equal is None:
            return self
        places = self.side.places[self.equal.firsts]
        return GroupedSide(FingerprintSide(self.distinct, places), None, self.distinct)

    def repeated(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of documents equal to an earlier one, and of those earlier ones."""
        if self.equal is None:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        firsts = self.equal.firsts[self.equal.group_of]
        (later,) = np.nonzero(firsts != np.arange(len(firsts)))
        return self.side.places[later], self.side.places[firsts[later]]


def no_pairs() -> RowPairs:
    """None at all."""
    return RowPairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.uint16))


def require_fewer(found: Sequence[RowPairs], most_pairs: int | None) -> None:
    """Raise `TooManyPairsError` where there are more pairs than may be held."""
    if most_pairs is not None and sum(map(len, found)) > most_pairs:
        raise TooManyPairsError(f"a search finds more than {most_pairs:,} pairs")


def pairs_in_order(found: Sequence[RowPairs]) -> RowPairs:
    """All pairs by (a, b), one that was found more than once kept once."""
    if not found:
        return no_pairs()
    a = np.concatenate([pairs.a for pairs in found])
    b = np.concatenate([pairs.b for pairs in found])
    distance = np.concatenate([pairs.distance for pairs in found])
    if not len(a):
        return no_pairs()
    # Positions are below 2^32, so a pair is one 64-bit key, which sorts faster than two columns.
    keys = a.astype(np.uint64) << np.uint64(32) | b.astype(np.uint64)
    _, places = np.unique(keys, return_index=True)
    return RowPairs(a[places], b[places], distance[places])
