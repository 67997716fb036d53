"""Ids: one kind in a run, and no two the same."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import kernels
from neardup.errors import InputError
from neardup.kernels.columns import column_of

_KINDS = {"string": "strings", "int64": "whole numbers", "none": "none"}


class IdLedger:
    """Settles the ids of every batch of a run, and remembers where each file began."""

    def __init__(self) -> None:
        self._kind: str | None = None
        self._first_file = ""
        self._seen = kernels.IdSet()
        self._names: list[str] = []
        self._first_places: list[int] = []

    def begin(self, files: Sequence[str], place: int) -> None:
        """Note that rows begin at this place: those of a file, or one of each file."""
        self._names += files
        self._first_places += range(place, place + len(files))

    def settle(self, ids: pa.Array | None, places: npt.NDArray[np.int64]) -> pa.Array:
        """Return the ids of the rows at these places: their own, or else the places."""
        if not len(places):
            return pa.nulls(0, pa.string() if self._kind == "string" else pa.int64())
        kind = "none" if ids is None else "int64" if pa.types.is_int64(ids.type) else "string"
        self._require_kind(kind, int(places[0]))
        if ids is None:
            return column_of(places)
        ids = ids if kind == "int64" else ids.cast(pa.string())
        repeated = self._seen.add(ids, places)
        if repeated is not None:
            position, earlier = repeated
            raise InputError(
                f"the id {ids[position].as_py()!r} stands twice, in {self._where(earlier)} and in "
                f"{self._where(int(places[position]))}; use --id row to number rows instead"
            )
        return ids

    def _require_kind(self, kind: str, place: int) -> None:
        file = self._names[bisect_right(self._first_places, place) - 1]
        if self._kind is None:
            self._kind, self._first_file = kind, file
        elif self._kind != kind:
            raise InputError(
                f"the ids of {self._first_file} are {_KINDS[self._kind]} and those of {file} are "
                f"{_KINDS[kind]}; make them alike, or use --id row to number rows instead"
            )

    def _where(self, place: int) -> str:
        file = bisect_right(self._first_places, place) - 1
        return f"{self._names[file]} row {place - self._first_places[file]}"
