"""Inputs and results of the index tables: numbered rows, and the matches of queries."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.kernels.hamming_join import Rows, checked_bits, checked_masks, checked_rows

# The tables use the topmost bit themselves.
MOST_NUMBER = 2**63 - 1
# Per segment, and in the memory tables.
MOST_DOCUMENTS = 2**32 - 1

Numbers = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Matches:
    """The matches of queries: query i has those from `offsets[i]` up to `offsets[i + 1]`.

    Matches are sorted by distance, then by number.
    """

    offsets: NDArray[np.int64]
    numbers: Numbers
    distances: NDArray[np.uint16]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[tuple[Numbers, NDArray[np.uint16]]]:
        for first, last in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True):
            yield self.numbers[first:last], self.distances[first:last]

    def without(self, numbers: Collection[int]) -> Matches:
        """The matches without those of some documents."""
        kept = ~np.isin(self.numbers, np.array(sorted(numbers), np.uint64))
        before = np.concatenate(([0], np.cumsum(kept)))
        return Matches(before[self.offsets], self.numbers[kept], self.distances[kept])


def checked_plan(masks: Any, bits: Any) -> tuple[Rows, int]:
    """Check the masks of a plan for fingerprints of `bits` bits; none may use a bit beyond them."""
    masks = checked_masks(masks, masks.shape[-1] if isinstance(masks, np.ndarray) else 1)
    bits = checked_bits(bits, masks.shape[1])
    if np.any(masks[:, -1] & np.uint64(2 ** (-bits % 64) - 1)):
        raise SettingError(f"a mask has bits beyond the {bits} of the fingerprints")
    return masks, bits


def checked_fingerprints(rows: Any, bits: int) -> Rows:
    """Check rows of `bits` bits; the bits beyond must be zero."""
    fingerprints = checked_rows(rows, "rows", -(-bits // 64))
    if np.any(fingerprints[:, -1] & np.uint64(2 ** (-bits % 64) - 1)):
        raise SettingError(f"a row has bits beyond the {bits} of the fingerprints")
    return fingerprints


def checked_numbers(numbers: Any, count: int) -> Numbers:
    """Check the numbers of `count` documents."""
    if not isinstance(numbers, np.ndarray) or numbers.dtype != np.uint64 or numbers.ndim != 1:
        raise SettingError("numbers must be a uint64 array of one dimension")
    if len(numbers) != count:
        raise SettingError(f"{count} rows need {count} numbers, not {len(numbers)}")
    if np.any(numbers > MOST_NUMBER):
        raise SettingError(f"numbers must be at most {MOST_NUMBER}")
    return np.ascontiguousarray(numbers)


def checked_dead(dead: Any) -> Numbers:
    """Check the ascending numbers of removed documents; None is no number."""
    if dead is None:
        return np.empty(0, np.uint64)
    if not isinstance(dead, np.ndarray) or dead.dtype != np.uint64 or dead.ndim != 1:
        raise SettingError("dead must be a uint64 array of one dimension")
    if np.any(dead[1:] < dead[:-1]):
        raise SettingError("dead must be in ascending order")
    return np.ascontiguousarray(dead)


def checked_limit(limit: Any) -> int | None:
    """Check the largest number of matches per query; None is no limit."""
    if limit is None:
        return None
    if isinstance(limit, bool) or not isinstance(limit, int | np.integer) or limit < 0:
        raise SettingError(f"limit={limit!r} must be a whole number, at least 0, or None")
    return int(limit)
