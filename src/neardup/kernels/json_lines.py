"""JSON lines → columns, without a Python object per value. The twin is orjson."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.frozen import dataclass
from neardup.kernels import _native

Kind = Literal["null", "boolean", "whole", "fraction", "string", "other"]
MustBe = Literal["string", "whole", "any", "missing"]


@dataclass(frozen=True, eq=False)
class JsonColumn:
    """The values of one key, as text in native memory.

    A column of kind `other` holds arrays, objects, large numbers, or values of several kinds; its
    `data` is the values in JSON, each followed by a comma. Missing values are null.
    """

    kind: Kind
    rows: int
    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    def strings(self) -> pa.Array:
        """The values as strings, not copied; for all kinds except `null` and `other`."""
        buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self.data)]
        return pa.Array.from_buffers(pa.large_string(), self.rows, buffers)


class JsonLines:
    """Collects columns from blocks of JSON lines; refuses blocks with anything unusual.

    `wanted` maps keys to the required kind of their values: a kind, `any`, or `missing` for a key
    that no object may have. With `every`, all other keys become columns as well.
    """

    def __init__(self, wanted: Mapping[str, MustBe], *, every: bool, isa: str = "auto") -> None:
        self._native = _native.JsonLines(list(wanted.items()), every=every, isa=isa)

    def __len__(self) -> int:
        """The number of objects added since the last `take`."""
        return len(self._native)

    def add(self, block: bytes) -> int:
        """Add a block and return the number of its lines; 0 if the block is refused.

        A valid block whose columns differ from those before is refused too, but can be added after
        `take`.
        """
        return self._native.add(np.frombuffer(block, np.uint8))

    def take(self) -> dict[str, JsonColumn]:
        """Return the columns, in the order of `wanted` and then of the input, and start afresh."""
        rows = len(self)
        return {
            name: JsonColumn(kind, rows, data, offsets)
            for name, kind, data, offsets in self._native.take()
        }
