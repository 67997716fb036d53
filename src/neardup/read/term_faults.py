"""Term faults: which rows of a table cannot be used, and why; items are counted from 1."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.kernels import is_utf8
from neardup.read.column_types import is_string
from neardup.read.term_shapes import Lists
from neardup.read.utf8 import invalid_texts

WEIGHTS = "weights"


def column_faults(name: str, column: pa.Array) -> dict[int, str]:
    """Find the rows of an id column that are null or invalid."""
    found = {}
    if is_string(column.type):
        found = {row: f"{name!r}: {fault}" for row, fault in invalid_texts(column).items()}
    if column.null_count:
        nulls = np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))
        found |= {int(row): f"{name!r} is null" for row in nulls}
    return found


def _null_rows(name: str, lists: Lists) -> dict[int, str]:
    if lists.valid is None:
        return {}
    return {int(row): f"{name!r} is null" for row in np.flatnonzero(~lists.valid)}


def _first_in_rows(lists: Lists, positions: npt.NDArray[np.intp]) -> list[tuple[int, int, int]]:
    """For each row that has one of the positions: row, the first, its number in the row from 1."""
    rows = np.searchsorted(lists.offsets, positions, side="right") - 1
    rows, firsts = np.unique(rows, return_index=True)
    items = positions[firsts]
    numbers = items - lists.offsets[rows] + 1
    return list(zip(rows.tolist(), items.tolist(), numbers.tolist(), strict=True))


def weight_faults(name: str, lists: Lists, amounts: npt.NDArray[np.float64]) -> dict[int, str]:
    """Find the rows without weights, or with one that is no finite number."""
    source = lists.values if lists.second is None else lists.second
    found = {}
    for row, item, number in _first_in_rows(lists, np.flatnonzero(~np.isfinite(amounts))):
        amount = amounts[item]
        what = "infinite" if np.isinf(amount) else "NaN" if source[item].is_valid else "null"
        found[row] = f"{name!r}: weight {number} is {what}"
    return found | _null_rows(name, lists)


def length_faults(name: str, terms: Lists, weights: Lists) -> dict[int, str]:
    """Find the rows that have more weights than terms, or fewer."""
    counts, others = np.diff(terms.offsets), np.diff(weights.offsets)
    unlike = counts != others
    if weights.valid is not None:
        unlike &= weights.valid
    return {
        int(row): f"{name!r} and {WEIGHTS!r} differ in length, {counts[row]} and {others[row]}"
        for row in np.flatnonzero(unlike)
    }


def term_faults(name: str, terms: Lists, values: pa.Array) -> dict[int, str]:
    """Find the rows without terms, or with a term that is null or invalid."""
    found = {}
    # A dictionary that is left is sound.
    if is_string(values.type) and not is_utf8(values):
        invalid = invalid_texts(values)
        positions = np.fromiter(invalid, np.intp, len(invalid))
        for row, item, number in _first_in_rows(terms, positions):
            found[row] = f"{name!r}: term {number}: {invalid[item]}"
    if values.null_count:
        nulls = np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))
        for row, _, number in _first_in_rows(terms, nulls):
            found[row] = f"{name!r}: term {number} is null"
    return found | _null_rows(name, terms)
