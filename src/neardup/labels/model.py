"""Labelled pairs, by ids and by places."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow._compute import SetLookupOptions, call_function

from neardup.frozen import dataclass
from neardup.kernels.columns import chosen, converted

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PlacedLabels:
    """Labels by the places of their documents, `a` before `b`.

    `unknown` is the number of labels that were left out because the collection lacks one of their
    ids, and `example` is such an id.
    """

    a: Places
    b: Places
    same: NDArray[np.bool_]
    unknown: int = 0
    example: str | None = None

    def __len__(self) -> int:
        return len(self.a)


@dataclass(frozen=True, eq=False)
class Labels:
    """Pairs of documents that are the same, or different; each pair once.

    `a` and `b` are ids as strings, `source` is the file, for messages. `notes` says in sentences
    what was left out.
    """

    a: pa.Array
    b: pa.Array
    same: NDArray[np.bool_]
    source: str
    notes: tuple[str, ...] = ()

    @property
    def has_different(self) -> bool:
        """Whether any pair is labelled different."""
        return not self.same.all()

    def __len__(self) -> int:
        return len(self.same)

    def at(self, ids: pa.Array) -> PlacedLabels:
        """The labels in a collection with these ids: strings, or whole numbers.

        The ids are compared as strings: an id 5 and an id "5" are the same document. For a
        collection without ids, they are the numbers of its rows, from 0.
        """
        known = converted(ids, pa.large_string())
        a, b = _looked_up(self.a, known), _looked_up(self.b, known)
        found = (a >= 0) & (b >= 0)
        lost = np.flatnonzero(~found)
        example = None
        if len(lost):
            side = self.a if a[lost[0]] < 0 else self.b
            example = str(side[int(lost[0])].as_py())
        a, b = a[found], b[found]
        return PlacedLabels(
            np.minimum(a, b), np.maximum(a, b), self.same[found], len(lost), example
        )

    def only(self, flags: NDArray[np.bool_]) -> Labels:
        """Some of the labels."""
        return Labels(
            chosen(self.a, flags), chosen(self.b, flags), self.same[flags], self.source, self.notes
        )


def _looked_up(ids: pa.Array, known: pa.Array) -> Places:
    found = call_function("index_in", [ids], SetLookupOptions(value_set=known, skip_nulls=True))
    return np.asarray(found.fill_null(-1).to_numpy(zero_copy_only=False)).astype(np.int64)
