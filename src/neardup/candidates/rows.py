"""What a join works on: fingerprints as rows, the empty ones left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.fingerprints import Fingerprints
from neardup.fingerprints.fingerprints import unsigned

_WORD_BITS = 64


@dataclass(frozen=True, eq=False)
class Rows:
    """Fingerprints as a C-contiguous uint64 array (n, words), and word counts where known."""

    array: NDArray[np.uint64]
    bits: int
    words: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.array)

    def take(self, places: NDArray[np.int64] | slice) -> Rows:
        """Fewer rows, in the order of `places`."""
        words = None if self.words is None else self.words[places]
        return Rows(np.ascontiguousarray(self.array[places]), self.bits, words)


@dataclass(frozen=True, eq=False)
class Side:
    """One collection: the rows that can be near anything, and their places among all."""

    rows: Rows
    places: NDArray[np.int64]

    @property
    def all_there(self) -> bool:
        """Whether no document was left out, so that rows and places are the same numbers."""
        return len(self.places) == 0 or int(self.places[-1]) == len(self.places) - 1


def sides_of(left: Any, right: Any | None) -> tuple[Side, Side | None]:
    """Take `Fingerprints` of one scheme, or uint64 arrays of one width; empty ones left out."""
    first = side_of(left, "left")
    if right is None:
        return first, None
    if isinstance(left, Fingerprints) and isinstance(right, Fingerprints):
        left.scheme.require_same(right.scheme)
    elif isinstance(left, Fingerprints) or isinstance(right, Fingerprints):
        raise SettingError(
            "left and right must both be Fingerprints or both be arrays: an array does not say "
            "by which scheme it was made"
        )
    second = side_of(right, "right")
    if first.rows.bits != second.rows.bits:
        raise SettingError(
            f"left has fingerprints of {first.rows.bits} bits and right of {second.rows.bits}; "
            "both must be of one width"
        )
    return first, second


def side_of(fingerprints: Any, name: str) -> Side:
    """One collection as rows."""
    if isinstance(fingerprints, Fingerprints):
        places = np.flatnonzero(~fingerprints.empty)
        array, words = fingerprints.array, fingerprints.words
        if len(places) < len(array):
            array, words = array[places], words[places]
        return Side(Rows(np.ascontiguousarray(array), fingerprints.bits, words), places)
    array = unsigned(fingerprints)
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] == 0):
        raise SettingError(
            f"{name} has shape {array.shape}; fingerprints come as Fingerprints or as an array "
            "of shape (n,) or (n, words)"
        )
    array = np.ascontiguousarray(array.reshape(len(array), -1 if array.size else _columns(array)))
    rows = Rows(array.astype(np.uint64, copy=False), _WORD_BITS * array.shape[1])
    return Side(rows, np.arange(len(array)))


def _columns(array: NDArray[Any]) -> int:
    """The words of a row where there is no row to look at."""
    return 1 if array.ndim == 1 else int(array.shape[1])
