"""`find_pairs`: every pair of near fingerprints, as an Arrow table."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, SupportsIndex, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup import kernels
from neardup.errors import SettingError
from neardup.kernels.hamming_join import RowPairs, TooManyPairsError, expand_pairs
from neardup.pairs.by_fingerprints.length import LengthPlan
from neardup.pairs.by_fingerprints.passes import PAIR_BYTES, PAIRS_AT_ONCE, Passes, Progress
from neardup.pairs.by_fingerprints.plan import Plan
from neardup.pairs.by_fingerprints.planner import Choice, choose, plan_of
from neardup.pairs.by_fingerprints.rows import GroupedSide, sides_of
from neardup.settings import AUTO, bytes_of, suggests_settings

log = logging.getLogger("neardup")

SCHEMA = pa.schema(
    [
        pa.field("a", pa.int64(), nullable=False),
        pa.field("b", pa.int64(), nullable=False),
        pa.field("distance", pa.uint16(), nullable=False),
    ]
)
GROUP_SCHEMA = pa.schema(
    [
        pa.field("member", pa.int64(), nullable=False),
        pa.field("representative", pa.int64(), nullable=False),
    ]
)
STREAM_MEMORY = 1_000_000_000


@dataclass(frozen=True, eq=False)
class PairGroups:
    """Pairs between the first documents of each kind, and the documents identical to those.

    `pairs` has a, b, distance. `groups` has one row for each document that is identical to an
    earlier one: the member, and its representative. Where two collections were searched, `groups`
    are those of the left and `right_groups` those of the right.
    """

    pairs: pa.Table
    groups: pa.Table
    right_groups: pa.Table | None = None


@overload
def find_pairs(
    left: Any,
    right: Any | None = ...,
    max_distance: int | None = ...,
    candidates: Any = ...,
    *,
    threads: int | None = ...,
    group: Literal[False] = ...,
    stream: Literal[False] = ...,
    memory: str | int | None = ...,
) -> pa.Table: ...
@overload
def find_pairs(
    left: Any,
    right: Any | None = ...,
    max_distance: int | None = ...,
    candidates: Any = ...,
    *,
    threads: int | None = ...,
    group: Literal[True],
    stream: Literal[False] = ...,
    memory: str | int | None = ...,
) -> PairGroups: ...
@overload
def find_pairs(
    left: Any,
    right: Any | None = ...,
    max_distance: int | None = ...,
    candidates: Any = ...,
    *,
    threads: int | None = ...,
    group: Literal[False] = ...,
    stream: Literal[True],
    memory: str | int | None = ...,
) -> Iterator[pa.RecordBatch]: ...


@suggests_settings
def find_pairs(
    left: Any,
    right: Any | None = None,
    max_distance: int | None = None,
    candidates: Any = AUTO,
    *,
    threads: int | None = None,
    group: bool = False,
    stream: bool = False,
    memory: str | int | None = None,
) -> pa.Table | PairGroups | Iterator[pa.RecordBatch]:
    """Find the pairs of near fingerprints: places `a` and `b` and their distance, by (a, b).

    Empty documents are near nothing.

    Args:
        left: `Fingerprints`, or a uint64 array of shape (n,) or (n, words), 64 bits a word.
        right: A second collection of the same scheme: then `a` is a place in left and `b` one in
            right. Default: none; pairs are within left, with a < b.
        max_distance: Maximum number of differing bits. Default: every candidate is returned.
        candidates: How to search: `auto` (the cheapest way that finds every pair within
            `max_distance`), a plan such as `blocks:3`, or a list of masks.
        threads: Number of threads. Default: one per core.
        group: Return identical fingerprints as groups, and pairs between their first ones only.
        stream: Return an iterator of record batches instead of a table.
        memory: Memory that the search may use beside the fingerprints, for example "2GB"; it then
            works in passes. Default: no limit.

    >>> import numpy as np
    >>> find_pairs(np.array([7, 8, 5, 7], np.uint64), max_distance=1).to_pydict()
    {'a': [0, 0, 2], 'b': [2, 3, 3], 'distance': [1, 0, 1]}
    """
    if group and stream:
        raise SettingError("group and stream cannot be combined: groups are already small")
    search = Search.of(left, right, max_distance, candidates, threads=threads, memory=memory)
    log.info(search.explanation)
    if group:
        return search.groups()
    if stream:
        return search.batches()
    return search.table()


@dataclass(frozen=True, eq=False)
class Search:
    """A search that is prepared: the collections grouped, the plan chosen."""

    left: GroupedSide
    right: GroupedSide | None
    max_distance: int | None
    plan: Plan
    explanation: str
    threads: int
    memory: int | None

    @classmethod
    def of(
        cls,
        left: Any,
        right: Any | None,
        max_distance: int | None,
        candidates: Any,
        *,
        threads: int | None = None,
        memory: str | int | None = None,
    ) -> Search:
        """Check everything, put equal fingerprints together, choose the plan."""
        workers = kernels.thread_count(threads)
        budget = None if memory is None else bytes_of(memory)
        max_distance = _distance_of(max_distance)
        first, second = sides_of(left, right)
        bits = first.rows.bits
        is_auto = isinstance(candidates, str) and candidates == AUTO
        named = None if is_auto else plan_of(candidates, bits)
        if named is not None:
            named.require_distance(max_distance)
        by_words = named is not None and named.needs_words
        one = GroupedSide.of(first, by_words, workers)
        two = None if second is None else GroupedSide.of(second, by_words, workers)
        if named is None:
            choice = _choose(one, two, max_distance, bits)
            plan, why = choice.plan, choice.reason
        else:
            plan, why = named, named.describe()
        if isinstance(plan, LengthPlan):
            why = f"{why}; {_comparisons(plan, one, two):,} comparisons"
        return cls(one, two, max_distance, plan, why, workers, budget)

    def table(self) -> pa.Table:
        """All pairs."""
        found = self._found_at_once()
        if found is not None:
            return pa.Table.from_batches([_batch(found)], SCHEMA)
        return pa.Table.from_batches(self.batches(), SCHEMA)

    def portions(self, progress: Progress | None = None) -> Iterator[pa.RecordBatch]:
        """All pairs in the order of the table: at once if they fit the memory, else in passes."""
        found = self._found_at_once()
        if found is None:
            yield from self.batches(progress)
        else:
            yield from pa.Table.from_batches([_batch(found)], SCHEMA).to_batches(PAIRS_AT_ONCE)

    def batches(self, progress: Progress | None = None) -> Iterator[pa.RecordBatch]:
        """All pairs in the order of the table, a portion at a time, in passes over `a`."""
        memory = STREAM_MEMORY if self.memory is None else self.memory
        passes = Passes(
            self.plan, self.left, self.right, self.max_distance, self.threads, memory, progress
        )
        return map(_batch, passes)

    def groups(self) -> PairGroups:
        """Pairs between the first fingerprints of each kind, and who is identical to them."""
        return PairGroups(
            self.of_representatives().table(),
            _group_table(self.left),
            None if self.right is None else _group_table(self.right),
        )

    def of_representatives(self) -> Search:
        """The same search, among the first fingerprints of each kind only."""
        right = None if self.right is None else self.right.representatives()
        return replace(self, left=self.left.representatives(), right=right)

    def _found_at_once(self) -> RowPairs | None:
        """All pairs by a single join, which is the fastest way; None where memory forbids it."""
        other = None if self.right is None else self.right.distinct
        most = None if self.memory is None else self.memory // 2 // PAIR_BYTES
        rows = len(self.left.distinct) + (0 if other is None else len(other))
        if self.memory is not None and self.plan.memory(rows) > self.memory // 2:
            return None
        try:
            pairs = self.plan.join(
                self.left.distinct,
                other,
                max_distance=self.max_distance,
                threads=self.threads,
                most_pairs=most,
            )
        except TooManyPairsError:
            return None
        if most is not None and self._count_members(pairs) > most:
            return None
        return self._members(pairs)

    def _count_members(self, pairs: RowPairs) -> int:
        """How many pairs of documents the pairs of groups stand for."""
        sizes, others = self.left.sizes, (self.right or self.left).sizes
        between = int((sizes[pairs.a] * others[pairs.b]).sum())
        return between + (int((sizes * (sizes - 1) // 2).sum()) if self.right is None else 0)

    def _members(self, pairs: RowPairs) -> RowPairs:
        """Pairs of groups as pairs of documents' places."""
        right = self.left if self.right is None else self.right
        if not (self.left.all_distinct and right.all_distinct):
            other = None if self.right is None else self.right.groups
            pairs = expand_pairs(pairs, self.left.groups, other)
        a = _placed(pairs.a, self.left)
        return RowPairs(a, _placed(pairs.b, right), pairs.distance)


def _distance_of(max_distance: int | None) -> int | None:
    """A number of differing bits, or a sentence about what is none."""
    if max_distance is None:
        return None
    whole = isinstance(max_distance, SupportsIndex) and not isinstance(max_distance, bool)
    if not whole or max_distance < 0:
        raise SettingError(
            f"max_distance={max_distance!r} must be a whole number of differing bits, 0 or more"
        )
    return int(max_distance)


def _choose(
    left: GroupedSide, right: GroupedSide | None, max_distance: int | None, bits: int
) -> Choice:
    n = len(left.distinct)
    if right is None:
        return choose(n, max_distance, bits)
    m = len(right.distinct)
    return choose(n + m, max_distance, bits, pairs=float(n * m))


def _comparisons(plan: LengthPlan, left: GroupedSide, right: GroupedSide | None) -> int:
    """What the windows of a length plan amount to."""
    others = None if right is None else plan.words_of(right.distinct)
    return plan.comparisons(plan.words_of(left.distinct), others)


def _placed(rows: NDArray[np.int64], grouped: GroupedSide) -> NDArray[np.int64]:
    return rows if grouped.side.all_there else grouped.side.places[rows]


def group_batch(grouped: GroupedSide) -> pa.RecordBatch:
    """The documents that are identical to an earlier one, and those earlier ones."""
    return _arrow(GROUP_SCHEMA, grouped.repeated())


def _batch(pairs: RowPairs) -> pa.RecordBatch:
    return _arrow(SCHEMA, (pairs.a, pairs.b, pairs.distance))


def _arrow(schema: pa.Schema, columns: tuple[NDArray[Any], ...]) -> pa.RecordBatch:
    # From buffers, because pa.array would import pandas, where it is installed, to look at them.
    arrays = [
        pa.Array.from_buffers(
            field.type, len(column), [None, pa.py_buffer(np.ascontiguousarray(column))]
        )
        for field, column in zip(schema, columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _group_table(grouped: GroupedSide) -> pa.Table:
    return pa.Table.from_batches([group_batch(grouped)], GROUP_SCHEMA)
