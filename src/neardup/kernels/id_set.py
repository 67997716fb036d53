"""Sets of ids, to find ids that occur twice."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.kernels import _native
from neardup.kernels.columns import string_buffers


class IdSet:
    """A set of ids, at 16 bytes per id."""

    def __init__(self) -> None:
        self._native = _native.IdSet()

    def __len__(self) -> int:
        return len(self._native)

    def add(self, ids: pa.Array, places: NDArray[np.int64]) -> tuple[int, int] | None:
        """Add string or integer ids; stop at the first that is in the set already.

        Returns its position in `ids` and the place of the earlier one, or None if all are new.
        """
        data, offsets = string_buffers(ids)
        return self._native.add(data, offsets, np.ascontiguousarray(places, np.int64))
