"""Ids: all of the same kind in a run, and unique."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import kernels
from neardup.errors import InputError
from neardup.kernels.columns import column_of, converted
from neardup.read.limits import quoted

IdKind = Literal["string", "int64", "none"]
_KINDS = {"string": "strings", "int64": "whole numbers", "none": "none"}


def kind_of_ids(kind: pa.DataType | None) -> IdKind:
    """The kind of ids of this Arrow type; None is a file without ids."""
    if kind is None:
        return "none"
    return "int64" if pa.types.is_integer(kind) else "string"


class IdLedger:
    """Settles the ids of every batch of a run, and records where each file starts.

    With `mixed`, files may have ids of different kinds, or none. All become strings: numbers in
    decimal, and rows without an id are named by file and row number, `b.jsonl#7`. With `unique`,
    another pass has found that no id occurs twice, and this one does not look again.
    """

    def __init__(self, *, mixed: bool = False, unique: bool = False) -> None:
        self._mixed, self._unique = mixed, unique
        self._kind: IdKind | None = None
        self._first_file = ""
        self._seen = kernels.IdSet()
        self._names: list[str] = []
        self._label = ""
        self._first_places: list[int] = []

    def begin(self, files: Sequence[str], place: int, label: str = "") -> None:
        """Record that the rows of a file, or one row of each file, start at this place.

        `label` is the file name in the names of rows without ids.
        """
        self._names += files
        self._first_places += range(place, place + len(files))
        self._label = label

    def settle(self, ids: pa.Array | None, places: npt.NDArray[np.int64]) -> pa.Array:
        """The ids of the rows at these places: their own, or the places if they have none."""
        if not len(places):
            strings = self._mixed or self._kind == "string"
            return pa.nulls(0, pa.string() if strings else pa.int64())
        if self._mixed:
            ids = self._spelt(ids, places)
        else:
            self._require_kind(kind_of_ids(None if ids is None else ids.type), int(places[0]))
        if ids is None:
            return column_of(places)
        ids = ids if pa.types.is_int64(ids.type) else converted(ids, pa.string())
        repeated = None if self._unique else self._seen.add(ids, places)
        if repeated is not None:
            position, earlier = repeated
            raise InputError(
                f"the id {quoted(ids[position].as_py())} occurs twice, in {self._where(earlier)} "
                f"and in {self._where(int(places[position]))}; use --id row to number rows instead"
            )
        return ids

    def _spelt(self, ids: pa.Array | None, places: npt.NDArray[np.int64]) -> pa.Array:
        if ids is not None:
            return ids.cast(pa.string())
        first = self._first_places[-1]
        return pa.array([f"{self._label}#{place - first}" for place in places.tolist()])

    def _require_kind(self, kind: IdKind, place: int) -> None:
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
