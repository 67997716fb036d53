"""Hamming joins and stars: near rows, without comparing every pair.

Rows are fingerprints: a uint64 array of shape (n, words). Bit 0 is the most significant bit of the
first word; unused bits of the last word are zero. Equal rows are allowed, and each two of them are
a pair; to avoid these pairs, group equal rows first and join `rows[groups.firsts]`. A join that
finds more than `most_pairs` raises `TooManyPairsError`, with any number of threads. The twin is
`reference.hamming_join`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.frozen import dataclass
from neardup.kernels import _native
from neardup.kernels._native import TooManyPairsError

MOST_BITS = 4096
MOST_ROWS = 2**32 - 1

Rows = NDArray[np.uint64]
Blocks = Sequence[tuple[int, int]]
StarProgress = Callable[[int, int], None]  # documents done, of all


_ANY_NUMBER = 2**64 - 1
_VISITED_AT_ONCE = 8192


@dataclass(frozen=True, eq=False)
class RowGroups:
    """Equal rows: `firsts` has the first row of each group, `group_of` the group of each row.

    `firsts` ascends, so groups are numbered by their first appearance.
    """

    firsts: NDArray[np.int64]
    group_of: NDArray[np.int64]

    @classmethod
    def alone(cls, count: int) -> RowGroups:
        """Groups of one row each."""
        numbers = np.arange(count)
        return cls(numbers, numbers)


@dataclass(frozen=True, eq=False)
class RowPairs:
    """Pairs sorted by (a, b), each once; a < b where a collection is joined with itself."""

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    distance: NDArray[np.uint16]

    def __len__(self) -> int:
        return len(self.a)


@dataclass(frozen=True, eq=False)
class RowStars:
    """For each row the kept one that it is near, `kept_for`, and their distance.

    The rows of `given` are numbered after all others. A row that is kept, or that was not visited,
    has its own number and the distance 0.
    """

    kept_for: NDArray[np.int64]
    distance: NDArray[np.uint16]


@dataclass(frozen=True)
class JoinCosts:
    """Costs in nanoseconds, by which the join decides whether to compare rows or divide them.

    `compare` is one comparison of 64 bits inside a bucket, `move` is moving a row into its bucket,
    `bucket` is opening a bucket. They affect the speed, never the result.
    """

    compare: float = 0.18
    move: float = 3.0
    bucket: float = 6.0

    def __post_init__(self) -> None:
        if not all(0 < cost < 1e9 for cost in (self.compare, self.move, self.bucket)):
            raise SettingError(f"{self} must consist of positive numbers of nanoseconds")


MEASURED_COSTS = JoinCosts()


def checked_rows(rows: Any, name: str, words: int | None = None) -> Rows:
    """Check that rows are a uint64 array of shape (n, words), and make them contiguous."""
    if not isinstance(rows, np.ndarray) or rows.dtype != np.uint64 or rows.ndim != 2:
        raise SettingError(f"{name} must be a uint64 array of shape (n, words)")
    if not 1 <= rows.shape[1] <= MOST_BITS // 64:
        raise SettingError(f"{name} has {rows.shape[1]} words per row, not 1 to {MOST_BITS // 64}")
    if words is not None and rows.shape[1] != words:
        raise SettingError(f"{name} has {rows.shape[1]} words per row, not {words}")
    return np.ascontiguousarray(rows)


def checked_sides(
    left: Any, right: Any, left_name: str = "left", right_name: str = "right"
) -> tuple[Rows, Rows | None]:
    """Check that both sides of a join have the same width and at most 2^32 - 1 rows together."""
    left = checked_rows(left, left_name)
    if right is not None:
        right = checked_rows(right, right_name, left.shape[1])
    count = len(left) + (0 if right is None else len(right))
    if count > MOST_ROWS:
        raise SettingError(f"a join takes at most {MOST_ROWS} rows, not {count}")
    return left, right


def checked_masks(masks: Any, words: int) -> Rows:
    """Check that masks are as wide as the rows."""
    return checked_rows(masks, "masks", words)


def checked_distance(distance: Any, name: str) -> int:
    """Check a number of differing bits, and cap it at the width of the widest row."""
    if isinstance(distance, bool) or not isinstance(distance, int | np.integer) or distance < 0:
        raise SettingError(f"{name}={distance!r} must be a whole number, at least 0")
    return min(int(distance), MOST_BITS)


def checked_bits(bits: Any, words: int) -> int:
    """Check that rows of `bits` bits take exactly `words` words."""
    if (
        isinstance(bits, bool)
        or not isinstance(bits, int)
        or not 64 * (words - 1) < bits <= 64 * words
    ):
        raise SettingError(f"bits={bits!r} does not fit rows of {words} words")
    return bits


def checked_blocks(blocks: Blocks | None, bits: int, distance: int) -> NDArray[np.int64] | None:
    """Check that blocks do not overlap and are enough to find every pair: distance + 1.

    A pair within the distance agrees on one of the first distance + 1 blocks, so further blocks
    are dropped.
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
            f"{len(cuts)} blocks cannot guarantee every pair within {distance} bits; "
            f"give at least {distance + 1}"
        )
    return np.ascontiguousarray(cuts[: distance + 1])


def checked_order(order: Any, count: int) -> NDArray[np.int64]:
    """Check that an order has numbers of rows, each at most once."""
    numbers = np.asarray(order)
    if numbers.ndim != 1 or not (numbers.size == 0 or np.issubdtype(numbers.dtype, np.integer)):
        raise SettingError("order must be a list of whole numbers of rows")
    if np.any(numbers < 0) or np.any(numbers >= count):
        raise SettingError(f"order must have numbers from 0 to {count - 1}, one for each row")
    places = np.ascontiguousarray(numbers, np.int64)
    visited = np.zeros(count, np.bool_)
    visited[places] = True
    if np.count_nonzero(visited) != len(places):
        raise SettingError("order must not have a row twice")
    return places


def checked_star_masks(masks: Any, bits: int, words: int) -> Rows | None:
    """Check that masks are as wide as the rows, have no bit beyond them, and are not none."""
    if masks is None:
        return None
    checked = checked_masks(masks, words)
    if not len(checked):
        raise SettingError("masks must have at least one row; leave them out to compare all rows")
    if np.any(checked[:, -1] & np.uint64((1 << (64 * words - bits)) - 1)):
        raise SettingError(f"masks must have no bit beyond the {bits} bits of the rows")
    return checked


def checked_stops(stops: Any, count: int) -> NDArray[np.int64]:
    """Check that windows end after their row and within the rows, and that ends do not decrease."""
    ends = np.ascontiguousarray(stops, np.int64)
    if ends.shape != (count,):
        raise SettingError(f"stops must have one end for each of the {count} rows")
    if np.any(ends <= np.arange(count)) or np.any(ends > count) or np.any(np.diff(ends) < 0):
        raise SettingError("stops must not decrease, and must end each window after its row")
    return ends


__all__ = [
    "JoinCosts",
    "RowGroups",
    "RowPairs",
    "RowStars",
    "TooManyPairsError",
    "count_masks",
    "equal_rows",
    "expand_pairs",
    "group_rows",
    "hamming_stars",
    "join_all",
    "join_masks",
    "join_windows",
    "join_within",
]


def group_rows(rows: Rows, *, threads: int = 1) -> RowGroups:
    """Group equal rows, numbered by their first appearance."""
    return equal_rows(rows, threads=threads) or RowGroups.alone(len(rows))


def equal_rows(rows: Rows, *, threads: int = 1) -> RowGroups | None:
    """The groups of `group_rows`, or None, which takes no memory, where no two rows are equal."""
    groups = _native.group_rows(checked_rows(rows, "rows"), threads=threads)
    return None if groups is None else RowGroups(*groups)


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

    `blocks` are the ranges of bits to divide by first, at least distance + 1. By default they are
    chosen by `costs`, or all rows are compared where that is cheaper.
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
    """Every pair of rows that agree on all bits of at least one mask, within `max_distance`."""
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
    """The number of pairs that `join_masks` would find, without storing them."""
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
    """Every pair of rows within `max_distance` bits (default: every pair), by comparing all."""
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
    """Every pair i < j < stops[i] within `max_distance` bits (default: every such pair)."""
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


def hamming_stars(
    rows: Rows,
    order: NDArray[np.int64],
    given: Rows | None = None,
    *,
    bits: int,
    distance: int,
    masks: Rows | None = None,
    within: bool = True,
    threads: int = 1,
    progress: StarProgress | None = None,
    isa: str = "auto",
) -> RowStars:
    """Visit rows in `order`; remove each that is near a kept one, and keep the others.

    Rows are near if they differ in at most `distance` bits. `kept_for` is the nearest kept row, of
    equally near ones the one that was kept first. Rows of `given` are all kept, and come first.
    Without `within`, rows are compared with those of `given` only.

    `masks` are tables in which near rows are looked up: rows must also agree on all bits of at
    least one mask. So the masks of a plan that is complete up to `distance` change the speed only.
    Without masks, rows are compared with all kept ones.

    Linear in the number of rows that are removed, in any order, with any number of threads.
    """
    rows, given = checked_sides(rows, given, "rows", "given")
    words = rows.shape[1]
    bits, distance = checked_bits(bits, words), checked_distance(distance, "distance")
    order, masks = checked_order(order, len(rows)), checked_star_masks(masks, bits, words)
    stars = _native.HammingStars(
        np.empty((0, words), np.uint64) if masks is None else masks,
        bits=bits,
        distance=distance,
        isa=isa,
    )
    if given is not None:
        for first in range(0, len(given), _VISITED_AT_ONCE):
            part = given[first : first + _VISITED_AT_ONCE]
            stars.keep(part, len(rows) + first, threads=threads)
    found = RowStars(np.arange(len(rows), dtype=np.int64), np.zeros(len(rows), np.uint16))
    for first in range(0, len(order), _VISITED_AT_ONCE):
        places = order[first : first + _VISITED_AT_ONCE]
        found.kept_for[places], found.distance[places] = stars.visit(
            rows[places], places, keeps=within, threads=threads
        )
        if progress is not None:
            progress(first + len(places), len(order))
    return found


def expand_pairs(pairs: RowPairs, groups: RowGroups, right: RowGroups | None = None) -> RowPairs:
    """Turn pairs of groups into pairs of their members, sorted by (a, b).

    Within one collection, the members of a group are also pairs, at distance 0. Between two
    collections, `groups` belongs to the left one and `right` to the right one.
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
