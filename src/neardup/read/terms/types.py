"""The Arrow types of term columns, and the faults of their rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.kernels import is_utf8
from neardup.read.columns import is_string, is_text, undictionaried
from neardup.read.limits import invalid_texts

WEIGHTS = "weights"


@dataclass(frozen=True, eq=False)
class Lists:
    """The parts of a list column: row i has the values from `offsets[i]` to `offsets[i + 1]`.

    `valid` is None if no row is null. `second` is the weights, if the column contains them.
    """

    offsets: npt.NDArray[np.signedinteger]
    valid: npt.NDArray[np.bool_] | None
    values: pa.Array
    second: pa.Array | None = None


def is_terms(kind: pa.DataType) -> bool:
    """Whether a type can be terms: a list of strings, a map to numbers, or a list of structs."""
    if pa.types.is_map(kind):
        return is_text(undictionaried(kind.key_type)) and is_number(kind.item_type)
    if not is_list(kind):
        return False
    return is_text(undictionaried(kind.value_type)) or _fields(kind.value_type) is not None


def brings_weights(kind: pa.DataType) -> bool:
    """Whether a column of terms contains their weights."""
    return bool(pa.types.is_map(kind) or pa.types.is_struct(kind.value_type))


def is_weights(kind: pa.DataType) -> bool:
    """Whether a type can be a column of weights: a list of numbers."""
    return is_list(kind) and is_number(kind.value_type)


def is_list(kind: pa.DataType) -> bool:
    """Whether a type is a list, large list or fixed-size list."""
    types = pa.types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def is_number(kind: pa.DataType) -> bool:
    """Whether a type can be converted to a weight."""
    kind = undictionaried(kind)
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def taken_apart(column: pa.Array) -> Lists:
    """Split a column of any of these types into its parts, without copying if possible."""
    kind = column.type
    if pa.types.is_fixed_size_list(kind):
        column = column.cast(pa.list_(kind.value_type))
    offsets = column.offsets.to_numpy()
    start, count = int(offsets[0]), int(offsets[-1] - offsets[0])
    valid = column.is_valid().to_numpy(zero_copy_only=False) if column.null_count else None
    offsets = offsets - offsets[0]
    if pa.types.is_map(kind):
        keys, items = column.keys.slice(start, count), column.items.slice(start, count)
        return Lists(offsets, valid, keys, items)
    values = column.values.slice(start, count)
    fields = _fields(kind.value_type)
    if fields is None:
        return Lists(offsets, valid, values)
    # flatten() makes the fields of a null struct null.
    parts = values.flatten()
    return Lists(offsets, valid, parts[fields[0]], parts[fields[1]])


def _fields(kind: pa.DataType) -> tuple[int, int] | None:
    """The positions of term and weight in a struct: by name, else the first that fits."""
    if not pa.types.is_struct(kind):
        return None
    fields = [kind.field(i) for i in range(kind.num_fields)]
    texts = [i for i, field in enumerate(fields) if is_text(undictionaried(field.type))]
    numbers = [i for i, field in enumerate(fields) if is_number(field.type)]
    if not texts or not numbers:
        return None
    # min() takes the first of equals: the field with the name, else the first.
    term = min(texts, key=lambda i: fields[i].name != "term")
    weight = min(numbers, key=lambda i: fields[i].name != "weight")
    return term, weight


def column_faults(name: str, column: pa.Array) -> dict[int, str]:
    """The faults of rows of an id column: null or invalid."""
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
    """For each row with any of the positions: the row, the first position, its number from 1."""
    rows = np.searchsorted(lists.offsets, positions, side="right") - 1
    rows, firsts = np.unique(rows, return_index=True)
    items = positions[firsts]
    numbers = items - lists.offsets[rows] + 1
    return list(zip(rows.tolist(), items.tolist(), numbers.tolist(), strict=True))


def weight_faults(name: str, lists: Lists, amounts: npt.NDArray[np.float64]) -> dict[int, str]:
    """The faults of rows without weights, or with a weight that is not finite."""
    source = lists.values if lists.second is None else lists.second
    found = {}
    for row, item, number in _first_in_rows(lists, np.flatnonzero(~np.isfinite(amounts))):
        amount = amounts[item]
        what = "infinite" if np.isinf(amount) else "NaN" if source[item].is_valid else "null"
        found[row] = f"{name!r}: weight {number} is {what}"
    return found | _null_rows(name, lists)


def length_faults(name: str, terms: Lists, weights: Lists) -> dict[int, str]:
    """The faults of rows with different numbers of terms and weights."""
    counts, others = np.diff(terms.offsets), np.diff(weights.offsets)
    unlike = counts != others
    if weights.valid is not None:
        unlike &= weights.valid
    return {
        int(row): f"{name!r} and {WEIGHTS!r} differ in length, {counts[row]} and {others[row]}"
        for row in np.flatnonzero(unlike)
    }


def term_faults(name: str, terms: Lists, values: pa.Array) -> dict[int, str]:
    """The faults of rows without terms, or with a term that is null or invalid."""
    found = {}
    # A dictionary that was kept is valid.
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
