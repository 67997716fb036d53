"""The nd1 family: the default, fast and without limit of width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.hashes.family import HashFamily, utf8
from neardup.hashes.nd1_arrays import feature_rows
from neardup.kernels import reference


@dataclass(frozen=True)
class Nd1(HashFamily):
    """What the nd1 scheme gives for a term that is one unit, spaces and capitals kept.

    >>> f"{Nd1().value('cat'):016x}"
    '9a9bd3a7fd1d1856'
    """

    name = "nd1"
    bits = None

    def value(self, term: str) -> int:
        """The feature hash: the first 64 bits."""
        utf8(term)
        return reference.feature_hash([term])

    def _rows(self, terms: Sequence[str], bits: int) -> NDArray[np.uint64]:
        return feature_rows(terms, bits, None)
