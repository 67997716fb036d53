"""A folder of passages, opened again: its families, and where they occur."""

from __future__ import annotations

import json
import os
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from neardup.errors import InputError
from neardup.frozen import dataclass
from neardup.parts.passages.save import FOLDER

FAMILIES, PASSAGES = "families.parquet", "passages.parquet"
# What families are sorted by: the column, in descending order; the order of the file for `largest`.
SORTS = {"largest": None, "documents": "documents", "repeated": "repeated_bytes", "words": "words"}
_NUMBERS = ("documents", "passages", "repeated_bytes", "words", "domains")


@dataclass(frozen=True)
class FoundFamilies:
    """Some families as rows, and how many there are in all."""

    rows: list[dict[str, Any]]
    total: int


def is_passages_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a folder was written by `neardup passages`."""
    try:
        summary = json.loads((Path(path) / FOLDER.marker).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(summary, dict) and FOLDER.keys <= summary.keys() and "scheme" not in summary


class PassagesFolder:
    """The tables of a folder; numbers of families are held, their texts are read."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not is_passages_folder(path):
            raise InputError(f"{self.path} is no folder that neardup passages wrote; name one")
        self.summary: dict[str, Any] = json.loads((self.path / FOLDER.marker).read_bytes())

    def families(
        self, *, search: str = "", sort: str = "largest", first: int = 0, count: int = 50
    ) -> FoundFamilies:
        """Families whose text has the words that are searched for, in order."""
        places = self._matching(search)
        column = SORTS[sort]
        if column is not None:
            values = self._numbers[column].to_numpy()[places]
            places = places[np.argsort(-values, kind="stable")]
        shown = places[first : first + count]
        return FoundFamilies(self._rows(shown), len(places))

    def family(self, number: int) -> dict[str, Any]:
        """One family, by its number from 1."""
        if not 1 <= number <= len(self._numbers):
            raise InputError(f"{self.path} has no family {number:,}")
        return self._rows(np.array([number - 1]))[0]

    def occurrences(self, number: int) -> pa.Table:
        """Where a family occurs, in the order of the input."""
        return self._passages(pc.field("family") == number)

    def in_document(self, id: str) -> list[dict[str, Any]]:
        """The passages of a document that are in families."""
        kind = pq.read_schema(self.path / PASSAGES).field("document").type
        if pa.types.is_integer(kind):
            if not id.lstrip("-").isdecimal():
                return []
            wanted: int | str = int(id)
        else:
            wanted = id
        rows: list[dict[str, Any]] = self._passages(pc.field("document") == wanted).to_pylist()
        return rows

    def texts(self, numbers: list[int]) -> dict[int, str]:
        """The texts of families, by their numbers."""
        places = np.array(sorted(set(numbers)), np.int64) - 1
        return {row["family"]: row["text"] for row in self._rows(places)}

    @cached_property
    def _numbers(self) -> pa.Table:
        return self._read(FAMILIES, columns=list(_NUMBERS))

    def _matching(self, search: str) -> NDArray[np.int64]:
        every = np.arange(len(self._numbers))
        words = search.split()
        texts = self._read(FAMILIES, columns=["text"])["text"] if words else None
        for word in words:
            found = pc.match_substring(texts, word, ignore_case=True).to_numpy()
            every = every[found[every]]
        return every

    def _rows(self, places: NDArray[np.int64]) -> list[dict[str, Any]]:
        """Rows of families.parquet, read from the row groups that hold them."""
        file = pq.ParquetFile(self.path / FAMILIES)
        sizes = [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)]
        begins = np.append(0, np.cumsum(sizes))
        found: dict[int, dict[str, Any]] = {}
        groups = np.searchsorted(begins, places, "right") - 1
        for group in sorted(set(groups.tolist())):
            table = file.read_row_group(group)
            for place in places[groups == group].tolist():
                found[place] = table.slice(place - int(begins[group]), 1).to_pylist()[0]
        return [found[place] for place in places.tolist()]

    def _passages(self, which: pc.Expression) -> pa.Table:
        return self._read(PASSAGES, filters=which)

    def _read(self, name: str, **more: Any) -> pa.Table:
        try:
            return pq.read_table(self.path / name, **more)
        except (OSError, pa.ArrowException) as error:
            raise InputError(
                f"{self.path / name} cannot be read: {error}; run neardup passages again"
            ) from error
