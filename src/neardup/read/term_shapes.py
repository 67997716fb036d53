"""Term shapes: the Arrow types a column of terms can have, taken apart into flat arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.read.column_types import is_text, undictionaried


@dataclass(frozen=True, eq=False)
class Lists:
    """A list column taken apart: row i has the values from `offsets[i]` to `offsets[i + 1]`.

    `valid` is None where no row is null. `second` holds the weights of terms that bring them.
    """

    offsets: npt.NDArray[np.signedinteger]
    valid: npt.NDArray[np.bool_] | None
    values: pa.Array
    second: pa.Array | None = None


def is_terms(kind: pa.DataType) -> bool:
    """Whether a type is one of the shapes: a list of strings, a map, or a list of structs."""
    if pa.types.is_map(kind):
        return is_text(undictionaried(kind.key_type)) and is_number(kind.item_type)
    if not is_list(kind):
        return False
    return is_text(undictionaried(kind.value_type)) or _fields(kind.value_type) is not None


def brings_weights(kind: pa.DataType) -> bool:
    """Whether a column of terms holds their weights too."""
    return bool(pa.types.is_map(kind) or pa.types.is_struct(kind.value_type))


def is_weights(kind: pa.DataType) -> bool:
    """Whether a type can be the weights beside a list of terms."""
    return is_list(kind) and is_number(kind.value_type)


def is_list(kind: pa.DataType) -> bool:
    """Whether a type is a list of any layout that can be read."""
    types = pa.types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def is_number(kind: pa.DataType) -> bool:
    """Whether a type can be made a weight."""
    kind = undictionaried(kind)
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def taken_apart(column: pa.Array) -> Lists:
    """Take any of the shapes apart, copying only where it must."""
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
    # Flattened, the fields of a struct that is null are null too.
    parts = values.flatten()
    return Lists(offsets, valid, parts[fields[0]], parts[fields[1]])


def _fields(kind: pa.DataType) -> tuple[int, int] | None:
    """Find the term and the weight of a struct: by name, else the first that can be each."""
    if not pa.types.is_struct(kind):
        return None
    fields = [kind.field(i) for i in range(kind.num_fields)]
    texts = [i for i, field in enumerate(fields) if is_text(undictionaried(field.type))]
    numbers = [i for i, field in enumerate(fields) if is_number(field.type)]
    if not texts or not numbers:
        return None
    # Sorting is stable: a name that fits comes first, else the order of the fields holds.
    term = min(texts, key=lambda i: fields[i].name != "term")
    weight = min(numbers, key=lambda i: fields[i].name != "weight")
    return term, weight
