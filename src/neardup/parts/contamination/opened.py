"""A folder of contamination, opened again: items, and their hits."""

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

from neardup.errors import InputError
from neardup.frozen import dataclass
from neardup.parts.contamination.run import FOLDER
from neardup.parts.contamination.tables import HITS, ITEMS

# What items are sorted by: columns, in descending order.
SORTS = {
    "share": ("share", "longest", "documents"),
    "longest": ("longest", "share", "documents"),
    "documents": ("documents", "share", "longest"),
}


@dataclass(frozen=True)
class FoundItems:
    """Some items as rows, and how many there are in all."""

    rows: list[dict[str, Any]]
    total: int


def is_contamination_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a folder was written by `neardup contamination`."""
    try:
        summary = json.loads((Path(path) / FOLDER.marker).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(summary, dict) and FOLDER.keys <= summary.keys()


class ContaminationFolder:
    """The tables of a folder; items are held, hits are read."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not is_contamination_folder(path):
            raise InputError(f"{self.path} is no folder that neardup contamination wrote; name one")
        self.summary: dict[str, Any] = json.loads((self.path / FOLDER.marker).read_bytes())

    @property
    def benchmarks(self) -> list[str]:
        """The names of the benchmarks."""
        return [str(row["name"]) for row in self.summary["benchmarks"]]

    def items(
        self,
        *,
        benchmark: str = "",
        search: str = "",
        sort: str = "share",
        first: int = 0,
        count: int = 50,
    ) -> FoundItems:
        """Items with hits, of one benchmark or of all, whose text has the words searched for."""
        table = self._items
        if benchmark:
            table = table.filter(pc.equal(table["benchmark"], benchmark))
        for word in search.split():
            table = table.filter(pc.match_substring(table["text"], word, ignore_case=True))
        order = np.lexsort([-table[name].to_numpy() for name in reversed(SORTS[sort])])
        shown = table.take(pa.array(order[first : first + count]))
        return FoundItems(shown.to_pylist(), len(table))

    def item(self, benchmark: str, item: str) -> dict[str, Any]:
        """One item that has hits."""
        table = self._items
        found = pc.and_(pc.equal(table["benchmark"], benchmark), pc.equal(table["item"], item))
        rows = table.filter(found).to_pylist()
        if not rows:
            raise InputError(f"{benchmark} has no item {item} with hits")
        return dict(rows[0])

    def hits(self, benchmark: str, item: str) -> pa.Table:
        """Where an item occurs, in the order of the corpus."""
        which = (pc.field("benchmark") == benchmark) & (pc.field("item") == item)
        return self._read(HITS, which)

    def in_document(self, id: str) -> list[dict[str, Any]]:
        """The hits in a document."""
        wanted: int | str = id
        if pa.types.is_integer(pq.read_schema(self.path / HITS).field("document").type):
            if not id.lstrip("-").isdecimal():
                return []
            wanted = int(id)
        rows: list[dict[str, Any]] = self._read(HITS, pc.field("document") == wanted).to_pylist()
        return rows

    @cached_property
    def _items(self) -> pa.Table:
        table = self._read(ITEMS, pc.field("documents") > 0)
        place = table.schema.get_field_index("benchmark")
        return table.set_column(place, "benchmark", table["benchmark"].cast(pa.string()))

    def _read(self, name: str, which: pc.Expression) -> pa.Table:
        try:
            return pq.read_table(self.path / name, filters=which)
        except (OSError, pa.ArrowException) as error:
            raise InputError(
                f"{self.path / name} cannot be read: {error}; run neardup contamination again"
            ) from error
