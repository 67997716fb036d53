"""Keep policies: which documents of a cluster are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.errors import InputError, SettingError
from neardup.frozen import dataclass

Places = NDArray[np.int64]
_PLAIN = ("first", "longest", "shortest", "none")
_BY_COLUMN = ("max", "min")
_EACH = "each"


@dataclass(frozen=True)
class KeepPolicy:
    """`first`, `longest`, `shortest`, `max:COL` or `min:COL`; ties go to the first in the input.

    `none` keeps no document of a cluster, `each:N` the first N of each.

    >>> KeepPolicy.parse("max:date").column
    'date'
    """

    kind: str = "first"
    column: str | None = None  # compared by max and min
    most: int = 1  # kept documents of a cluster

    @classmethod
    def parse(cls, policy: str | KeepPolicy) -> KeepPolicy:
        """Read a policy; `SettingError` lists the choices if it is unknown."""
        if isinstance(policy, KeepPolicy):
            return policy
        kind, colon, column = str(policy).partition(":")
        if kind in _PLAIN and not colon:
            return cls(kind, most=0 if kind == "none" else 1)
        if kind == _EACH and column.isascii() and column.isdecimal() and int(column) >= 1:
            return cls(kind, most=int(column))
        if kind in _BY_COLUMN and column:
            return cls(kind, column)
        raise SettingError(
            f"keep={policy!r} is unknown; choose {', '.join(_PLAIN)}, max:COL or min:COL, where "
            "COL is a column of the input, or each:N, where N is at least 1"
        )

    @property
    def needs_lengths(self) -> bool:
        """Whether the policy compares the lengths of documents."""
        return self.kind in ("longest", "shortest")

    def order(self, count: int, lengths: Places | None = None, values: Any = None) -> Places:
        """The places of `count` documents, the preferred one first.

        `lengths` and `values` have one entry for each document, and are needed only if the policy
        compares them. `values` is an Arrow array and is sorted as Arrow does: strings by their
        UTF-8 bytes. Nulls and NaN come last.

        >>> KeepPolicy.parse("longest").order(3, np.array([10, 30, 20])).tolist()
        [1, 2, 0]
        """
        if self.column is not None:
            return _order_of_values(values, count, self)
        if not self.needs_lengths:
            return np.arange(count, dtype=np.int64)
        known = _of_every_document(lengths, count, self)
        return np.argsort(-known if self.kind == "longest" else known, kind="stable")

    def __str__(self) -> str:
        if self.kind == _EACH:
            return f"{_EACH}:{self.most}"
        return self.kind if self.column is None else f"{self.kind}:{self.column}"


def _of_every_document(lengths: Places | None, count: int, policy: KeepPolicy) -> Places:
    if lengths is None or len(lengths) != count:
        raise ValueError(f"keep={policy} needs the lengths of all {count} documents")
    return np.asarray(lengths, np.int64)


def _order_of_values(values: Any, count: int, policy: KeepPolicy) -> Places:
    if values is None or len(values) != count:
        raise ValueError(f"keep={policy} needs the values of all {count} documents")
    import pyarrow.compute as pc  # takes as long to import as NumPy

    order = "descending" if policy.kind == "max" else "ascending"
    try:
        # A stable sort: ties stay in input order.
        indices = pc.array_sort_indices(_sortable(values), order=order, null_placement="at_end")
    except pa.ArrowNotImplementedError:
        raise InputError(
            f"keep={policy}: the column {policy.column!r} holds {values.type}, which has no "
            "order; name one with numbers, texts or dates"
        ) from None
    return np.asarray(indices.to_numpy()).astype(np.int64)


def _sortable(values: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """The values as a type that Arrow can sort, with NaN as null."""
    import pyarrow.compute as pc

    kind = values.type
    if pa.types.is_struct(kind):  # Arrow would sort by its fields, which is not meant
        raise pa.ArrowNotImplementedError(str(kind))
    if pa.types.is_dictionary(kind):
        return _sortable(values.cast(kind.value_type))
    if pa.types.is_float16(kind):
        return _sortable(values.cast(pa.float32()))
    if pa.types.is_floating(kind):
        return pc.if_else(pc.is_nan(values), pa.scalar(None, kind), values)
    return values
