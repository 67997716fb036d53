"""JSON lines as columns, without an object for each value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.kernels import _native

Kind = Literal["null", "boolean", "whole", "fraction", "string", "other"]
MustBe = Literal["string", "whole", "any", "missing"]


@dataclass(frozen=True, eq=False)
class JsonColumn:
    """The values that some objects have for one key, as the native code spells them.

    A column of kind `other` holds arrays, objects, large numbers, or values of several kinds; its
    `data` are the values in JSON with a comma behind each. Missing values are null.
    """

    kind: Kind
    rows: int
    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    def strings(self) -> pa.Array:
        """The values of any kind but `null` and `other` as they are spelt; uncopied."""
        buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self.data)]
        return pa.Array.from_buffers(pa.large_string(), self.rows, buffers)


class JsonLines:
    """Gathers columns from blocks of JSON lines, as long as these are alike and nothing is odd.

    `wanted` maps the keys to what their values must be: a kind, `any`, or `missing` for a key that
    no object may have. With `every`, all other keys become columns as well.
    """

    def __init__(self, wanted: Mapping[str, MustBe], *, every: bool, isa: str = "auto") -> None:
        self._native = _native.JsonLines(list(wanted.items()), every=every, isa=isa)

    def __len__(self) -> int:
        """How many objects were added since the columns were taken."""
        return len(self._native)

    def add(self, block: bytes) -> int:
        """Add a block of lines and count them, or say 0, which is that others should read it.

        A block that is sound but not like those before is refused too. It may be added once the
        columns have been taken.
        """
        return self._native.add(np.frombuffer(block, np.uint8))

    def take(self) -> dict[str, JsonColumn]:
        """Hand over the columns, in the order of `wanted` and then of the input, and begin anew."""
        rows = len(self)
        return {
            name: JsonColumn(kind, rows, data, offsets)
            for name, kind, data, offsets in self._native.take()
        }
