"""Identical fingerprints, put together before anything is compared."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from neardup.candidates.rows import Rows, Side
from neardup.kernels.join import RowGroups, group_rows


@dataclass(frozen=True, eq=False)
class GroupedSide:
    """A collection whose equal rows are one: `distinct` has each once, by first appearance."""

    side: Side
    groups: RowGroups
    distinct: Rows

    @classmethod
    def of(cls, side: Side, by_words: bool, threads: int) -> GroupedSide:
        """Put equal rows together; with `by_words`, only those of equal word counts."""
        rows = side.rows
        groups = group_rows(rows.array, threads=threads)
        if by_words and rows.words is not None:
            keys = np.column_stack([groups.group_of, rows.words]).astype(np.uint64)
            groups = group_rows(keys, threads=threads)
        distinct = rows if len(groups.firsts) == len(rows) else rows.take(groups.firsts)
        return cls(side, groups, distinct)

    @property
    def all_distinct(self) -> bool:
        """Whether no two rows are equal, so that groups and rows are the same numbers."""
        return len(self.distinct) == len(self.side.rows)

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
        firsts = self.groups.firsts
        alone = np.arange(len(firsts))
        return GroupedSide(
            Side(self.distinct, self.side.places[firsts]), RowGroups(alone, alone), self.distinct
        )

    def repeated(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of documents equal to an earlier one, and of those earlier ones."""
        firsts = self.groups.firsts[self.groups.group_of]
        (later,) = np.nonzero(firsts != np.arange(len(firsts)))
        return self.side.places[later], self.side.places[firsts[later]]
