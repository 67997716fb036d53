"""The twin of the Hamming joins: compares every pair, row by row, in plain NumPy.

`neardup.kernels.hamming_join` must find exactly the same pairs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from neardup.kernels.hamming_join import (
    MEASURED_COSTS,
    Blocks,
    JoinCosts,
    RowGroups,
    RowPairs,
    Rows,
    RowStars,
    StarProgress,
    checked_bits,
    checked_blocks,
    checked_distance,
    checked_masks,
    checked_order,
    checked_rows,
    checked_sides,
    checked_star_masks,
    checked_stops,
)

__all__ = [
    "JoinCosts",
    "RowGroups",
    "RowPairs",
    "RowStars",
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

# Maps the differences (XOR) between one row and others to flags: which of them are pairs.
Wanted = Callable[[Rows], NDArray[np.bool_]]


def group_rows(rows: Rows, *, threads: int = 1) -> RowGroups:
    """Group equal rows, numbered by their first appearance."""
    rows = checked_rows(rows, "rows")
    number: dict[bytes, int] = {}
    firsts, group_of = [], []
    for place, row in enumerate(rows):
        key = row.tobytes()
        if key not in number:
            number[key] = len(number)
            firsts.append(place)
        group_of.append(number[key])
    return RowGroups(np.array(firsts, np.int64), np.array(group_of, np.int64))


def equal_rows(rows: Rows, *, threads: int = 1) -> RowGroups | None:
    """The groups of `group_rows`, or None where no two rows are equal."""
    groups = group_rows(rows, threads=threads)
    return None if len(groups.firsts) == len(rows) else groups


def join_within(
    left: Rows,
    right: Rows | None = None,
    *,
    bits: int,
    distance: int,
    blocks: Blocks | None = None,
    costs: JoinCosts = MEASURED_COSTS,
    threads: int = 1,
) -> RowPairs:
    """Every pair of rows that differ in at most `distance` bits."""
    left, right = checked_sides(left, right)
    distance = checked_distance(distance, "distance")
    checked_blocks(blocks, checked_bits(bits, left.shape[1]), distance)
    return join_all(left, right, max_distance=distance)


def join_masks(
    left: Rows,
    right: Rows | None = None,
    *,
    masks: Rows,
    max_distance: int | None = None,
    threads: int = 1,
) -> RowPairs:
    """Every pair of rows that agree on all bits of at least one mask, within `max_distance`."""
    left, right = checked_sides(left, right)
    masks = checked_masks(masks, left.shape[1])
    most = _most(max_distance)

    def wanted(differences: Rows) -> NDArray[np.bool_]:
        agree = np.zeros(len(differences), np.bool_)
        for mask in masks:
            agree |= ~np.any(differences & mask, axis=1)
        return agree & (_bit_counts(differences) <= most)

    return _pairs(left, right, wanted)


def count_masks(
    left: Rows,
    right: Rows | None = None,
    *,
    masks: Rows,
    max_distance: int | None = None,
    threads: int = 1,
) -> int:
    """The number of pairs that `join_masks` finds."""
    return len(join_masks(left, right, masks=masks, max_distance=max_distance))


def join_all(
    left: Rows, right: Rows | None = None, *, max_distance: int | None = None, threads: int = 1
) -> RowPairs:
    """Every pair of rows within `max_distance` bits (default: every pair)."""
    left, right = checked_sides(left, right)
    most = _most(max_distance)
    return _pairs(left, right, lambda differences: _bit_counts(differences) <= most)


def join_windows(
    rows: Rows, stops: NDArray[np.int64], *, max_distance: int | None = None, threads: int = 1
) -> RowPairs:
    """Every pair i < j < stops[i] within `max_distance` bits."""
    rows = checked_rows(rows, "rows")
    ends = checked_stops(stops, len(rows))
    pairs = join_all(rows, max_distance=max_distance)
    inside = pairs.b < ends[pairs.a]
    return RowPairs(pairs.a[inside], pairs.b[inside], pairs.distance[inside])


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
) -> RowStars:
    """Visit rows in `order`; remove each that is near a kept one, and keep the others."""
    rows, given = checked_sides(rows, given, "rows", "given")
    words = rows.shape[1]
    bits, distance = checked_bits(bits, words), checked_distance(distance, "distance")
    order, masks = checked_order(order, len(rows)), checked_star_masks(masks, bits, words)
    everything = rows if given is None else np.concatenate([rows, given])
    kept = list(range(len(rows), len(everything)))
    kept_for, distances = np.arange(len(rows)), np.zeros(len(rows), np.uint16)
    for done, place in enumerate(order.tolist(), 1):
        near = []
        for turn, other in enumerate(kept):
            difference = everything[place] ^ everything[other]
            bits_apart = int(_bit_counts(difference[None])[0])
            agree = masks is None or any(not np.any(difference & mask) for mask in masks)
            if agree and bits_apart <= distance:
                near.append((bits_apart, turn, other))
        if near:
            distances[place], _, kept_for[place] = min(near)
        elif within:
            kept.append(place)
        if progress is not None:
            progress(done, len(order))
    return RowStars(kept_for, distances)


def expand_pairs(pairs: RowPairs, groups: RowGroups, right: RowGroups | None = None) -> RowPairs:
    """Turn pairs of groups into pairs of their members, sorted by (a, b).

    Within one collection, the members of a group are also pairs, at distance 0. Between two
    collections, `groups` belongs to the left one and `right` to the right one.
    """
    members = _members(groups)
    others = members if right is None else _members(right)
    found = [
        (a, b, distance)
        for group, other, distance in zip(
            pairs.a.tolist(), pairs.b.tolist(), pairs.distance.tolist(), strict=True
        )
        for a in members[group]
        for b in others[other]
    ]
    if right is None:
        found = [(min(a, b), max(a, b), distance) for a, b, distance in found]
        found += [(a, b, 0) for group in members for a in group for b in group if a < b]
    return _row_pairs(sorted(found))


def _pairs(left: Rows, right: Rows | None, wanted: Wanted) -> RowPairs:
    found: list[tuple[int, int, int]] = []
    for a, row in enumerate(left):
        first = a + 1 if right is None else 0
        differences = (left if right is None else right)[first:] ^ row
        near = np.flatnonzero(wanted(differences))
        counts = _bit_counts(differences[near])
        found += zip([a] * len(near), (first + near).tolist(), counts.tolist(), strict=True)
    return _row_pairs(found)


def _row_pairs(found: list[tuple[int, int, int]]) -> RowPairs:
    columns = np.array(found, np.int64).reshape(-1, 3)
    return RowPairs(columns[:, 0].copy(), columns[:, 1].copy(), columns[:, 2].astype(np.uint16))


def _members(groups: RowGroups) -> list[list[int]]:
    members: list[list[int]] = [[] for _ in groups.firsts]
    for place, group in enumerate(groups.group_of.tolist()):
        members[group].append(place)
    return members


def _most(max_distance: int | None) -> int:
    return 2**16 - 1 if max_distance is None else checked_distance(max_distance, "max_distance")


def _bit_counts(differences: Rows) -> NDArray[np.int64]:
    as_bytes = np.ascontiguousarray(differences).view(np.uint8)
    return np.asarray(np.unpackbits(as_bytes, axis=1).sum(axis=1, dtype=np.int64))
