"""What the joins take and give: rows of 64-bit words, groups of equal rows, pairs of near ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SettingError

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
