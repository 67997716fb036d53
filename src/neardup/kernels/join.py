"""Joins: every pair of near rows, without looking at every pair; `join_reference` is the twin.

Rows are fingerprints as words: a uint64 array of shape (n, words), bit 0 the most significant of
the first word, those beyond the last bit zero. Repeated rows are allowed, and make as many pairs
as there are; to keep them few, group equal rows first and join `rows[groups.firsts]`. A join that
would find more than `most_pairs` raises `TooManyPairsError`, in any number of threads.
"""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
from numpy.typing import NDArray

from neardup.kernels import _native
from neardup.kernels._native import TooManyPairsError
from neardup.kernels.join_rows import (
    MEASURED_COSTS,
    Blocks,
    JoinCosts,
    RowGroups,
    RowPairs,
    Rows,
    checked_bits,
    checked_blocks,
    checked_distance,
    checked_masks,
    checked_rows,
    checked_sides,
    checked_stops,
)

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
