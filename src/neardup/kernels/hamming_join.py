"""Hamming joins: every pair of near rows, without looking at every pair.

Rows are fingerprints as words: a uint64 array of shape (n, words), bit 0 the most significant of
the first word, those beyond the last bit zero. Repeated rows are allowed, and make as many pairs
as there are; to keep them few, group equal rows first and join `rows[groups.firsts]`. A join that
would find more than `most_pairs` raises `TooManyPairsError`, in any number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.kernels import _native
from neardup.kernels._native import TooManyPairsError

MOST_BITS = 4096
MOST_ROWS = 2**32 - 1

Rows = NDArray[np.uint64]
Blocks = Sequence[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class RowGroups:
    """Equal rows: `firsts` has the first row of each group, `group_of` the group of each row.

    `firsts` ascends, so groups are numbered by their first appearance.
    """

    firsts: NDArray[np.int64]
    group_of: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RowPairs:
    """Pairs sorted by (a, b), each once; a < b where a collection is joined with itself."""

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    distance: NDArray[np.uint16]

    def __len__(self) -> int:
        return len(self.a)


@dataclass(frozen=True)
class JoinCosts:
    """What the join weighs when it chooses between comparing and dividing, in nanoseconds.

    `compare` is one comparison of 64 bits inside a bucket, `move` a row's way into its bucket,
    `bucket` the opening of one bucket. They steer the speed alone, never the result.
    """

    compare: float = 0.18
    move: float = 3.0
    bucket: float = 6.0

    def __post_init__(self) -> None:
        if not all(0 < cost < 1e9 for cost in (self.compare, self.move, self.bucket)):
            raise SettingError(f"{self} must consist of positive numbers of nanoseconds")


MEASURED_COSTS = JoinCosts()


def checked_rows(rows: Any, name: str, words: int | None = None) -> Rows:
    """The rows as they are, or a sentence about what is wrong with them."""
    if not isinstance(rows, np.ndarray) or rows.dtype != np.uint64 or rows.ndim != 2:
        raise SettingError(f"{name} must be a uint64 array of shape (n, words)")
    if not 1 <= rows.shape[1] <= MOST_BITS // 64:
        raise SettingError(f"{name} has {rows.shape[1]} words a row; 1 to {MOST_BITS // 64} can be")
    if words is not None and rows.shape[1] != words:
        raise SettingError(f"{name} has {rows.shape[1]} words a row, where {words} are needed")
    return np.ascontiguousarray(rows)


def checked_sides(left: Any, right: Any) -> tuple[Rows, Rows | None]:
    """Both sides of a join, of one width and few enough to count in 32 bits."""
    left = checked_rows(left, "left")
    if right is not None:
        right = checked_rows(right, "right", left.shape[1])
    count = len(left) + (0 if right is None else len(right))
    if count > MOST_ROWS:
        raise SettingError(f"{count} rows are too many for one join; {MOST_ROWS} can be")
    return left, right


def checked_masks(masks: Any, words: int) -> Rows:
    """The masks of a plan, of the width of its rows."""
    return checked_rows(masks, "masks", words)


def checked_distance(distance: Any, name: str) -> int:
    """A number of differing bits; none can be larger than the widest row."""
    if isinstance(distance, bool) or not isinstance(distance, int | np.integer) or distance < 0:
        raise SettingError(f"{name}={distance!r} must be a whole number, at least 0")
    return min(int(distance), MOST_BITS)


def checked_bits(bits: Any, words: int) -> int:
    """A width in bits that needs just these words."""
    if (
        isinstance(bits, bool)
        or not isinstance(bits, int)
        or not 64 * (words - 1) < bits <= 64 * words
    ):
        raise SettingError(f"bits={bits!r} does not fit rows of {words} words")
    return bits


def checked_blocks(blocks: Blocks | None, bits: int, distance: int) -> NDArray[np.int64] | None:
    """Cut points that make the join complete: apart from each other, and one more than `distance`.

    A pair within the distance has its first equal block among the first distance + 1, so
    more blocks than these would find nothing more.
    """
    if blocks is None:
        return None
    cuts = np.array(blocks, np.int64).reshape(-1, 2)
    starts, stops = cuts[np.argsort(cuts[:, 0], kind="stable")].T
    if np.any(starts >= stops) or np.any(cuts < 0) or np.any(cuts > bits):
        raise SettingError(f"blocks={blocks!r} must be ranges within the {bits} bits, none empty")
    if np.any(starts[1:] < stops[:-1]):
        raise SettingError(f"blocks={blocks!r} must not overlap")
    if len(cuts) <= distance:
        raise SettingError(
            f"{len(cuts)} blocks cannot promise every pair within {distance} bits; "
            f"give at least {distance + 1}"
        )
    return np.ascontiguousarray(cuts[: distance + 1])


def checked_stops(stops: Any, count: int) -> NDArray[np.int64]:
    """Where each row's window ends: after itself, within the rows, never before the last one."""
    ends = np.ascontiguousarray(stops, np.int64)
    if ends.shape != (count,):
        raise SettingError(f"stops must have one end for each of the {count} rows")
    if np.any(ends <= np.arange(count)) or np.any(ends > count) or np.any(np.diff(ends) < 0):
        raise SettingError("stops must not decrease, and end each window behind its row")
    return ends


__all__ = [
    "JoinCosts",
    "RowGroups",
    "RowPairs",
    "TooManyPairsError",
    "count_masks",
    "expand_pairs",
    "group_rows",
    "join_all",
    "join_masks",
    "join_windows",
    "join_within",
]

_ANY_NUMBER = 2**64 - 1


def group_rows(rows: Rows, *, threads: int = 1) -> RowGroups:
    """Group equal rows, numbered by their first appearance."""
    return RowGroups(*_native.group_rows(checked_rows(rows, "rows"), threads=threads))


def join_within(
    left: Rows,
    right: Rows | None = None,
    *,
    bits: int,
    distance: int,
    blocks: Blocks | None = None,
    costs: JoinCosts = MEASURED_COSTS,
    most_pairs: int | None = None,
    threads: int = 1,
    isa: str = "auto",
) -> RowPairs:
    """Every pair of rows that differ in at most `distance` bits, guaranteed.

    `blocks` are ranges of bits to divide by first, at least distance + 1 of them; without, they
    are chosen by `costs`, or everything is compared where that is cheaper.
    """
    left, right = checked_sides(left, right)
    bits, distance = checked_bits(bits, left.shape[1]), checked_distance(distance, "distance")
    return RowPairs(
        *_native.join_within(
            left,
            right,
            bits=bits,
            distance=distance,
            blocks=checked_blocks(blocks, bits, distance),
            costs=astuple(costs),
            most_pairs=_number(most_pairs),
            threads=threads,
            isa=isa,
        )
    )


def join_masks(
    left: Rows,
    right: Rows | None = None,
    *,
    masks: Rows,
    max_distance: int | None = None,
    most_pairs: int | None = None,
    threads: int = 1,
    isa: str = "auto",
) -> RowPairs:
    """Every pair of rows that agree on all bits of at least one mask, within `max_distance`.

    A pair is found by the first mask that agrees, and written only if it is near enough.
    """
    pairs, _ = _join_masks(left, right, masks, max_distance, most_pairs, True, threads, isa)
    return RowPairs(*pairs)


def count_masks(
    left: Rows,
    right: Rows | None = None,
    *,
    masks: Rows,
    max_distance: int | None = None,
    threads: int = 1,
    isa: str = "auto",
) -> int:
    """How many pairs `join_masks` would give, without the memory for them."""
    _, count = _join_masks(left, right, masks, max_distance, None, False, threads, isa)
    return count


def join_all(
    left: Rows,
    right: Rows | None = None,
    *,
    max_distance: int | None = None,
    most_pairs: int | None = None,
    threads: int = 1,
    isa: str = "auto",
) -> RowPairs:
    """Every pair of rows within `max_distance` bits, or every pair there is, by looking at each."""
    left, right = checked_sides(left, right)
    return RowPairs(
        *_native.join_all(
            left,
            right,
            max_distance=_limit(max_distance),
            most_pairs=_number(most_pairs),
            threads=threads,
            isa=isa,
        )
    )


def join_windows(
    rows: Rows,
    stops: NDArray[np.int64],
    *,
    max_distance: int | None = None,
    most_pairs: int | None = None,
    threads: int = 1,
    isa: str = "auto",
) -> RowPairs:
    """Every pair i < j < stops[i] within `max_distance` bits, in the order of the rows given."""
    rows, _ = checked_sides(rows, None)
    ends = checked_stops(stops, len(rows))
    return RowPairs(
        *_native.join_windows(
            rows,
            ends,
            max_distance=_limit(max_distance),
            most_pairs=_number(most_pairs),
            threads=threads,
            isa=isa,
        )
    )


def expand_pairs(pairs: RowPairs, groups: RowGroups, right: RowGroups | None = None) -> RowPairs:
    """Turn pairs of groups into pairs of their members, sorted by (a, b).

    Within one collection the members of a group are pairs too, at distance 0. Between two,
    `groups` are those of the left side and `right` those of the other.
    """
    return RowPairs(
        *_native.expand_pairs(
            np.ascontiguousarray(pairs.a),
            np.ascontiguousarray(pairs.b),
            np.ascontiguousarray(pairs.distance),
            np.ascontiguousarray(groups.group_of),
            len(groups.firsts),
            None if right is None else np.ascontiguousarray(right.group_of),
            0 if right is None else len(right.firsts),
        )
    )


def _join_masks(
    left: Rows,
    right: Rows | None,
    masks: Rows,
    max_distance: int | None,
    most_pairs: int | None,
    keep: bool,
    threads: int,
    isa: str,
) -> tuple[_native.PairArrays, int]:
    left, right = checked_sides(left, right)
    return _native.join_masks(
        left,
        right,
        masks=checked_masks(masks, left.shape[1]),
        max_distance=_limit(max_distance),
        keep=keep,
        costs=astuple(MEASURED_COSTS),
        most_pairs=_number(most_pairs),
        threads=threads,
        isa=isa,
    )


def _limit(max_distance: int | None) -> int | None:
    return None if max_distance is None else checked_distance(max_distance, "max_distance")


def _number(most_pairs: int | None) -> int:
    return _ANY_NUMBER if most_pairs is None else min(max(0, most_pairs), _ANY_NUMBER)
