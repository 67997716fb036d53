"""The result of a run: tables, the summary, and the worst items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from neardup import notebook
from neardup.atomic import TemporaryFolder
from neardup.frozen import dataclass
from neardup.parts.contamination.items import Items
from neardup.parts.contamination.tables import DOCUMENTS, HITS
from neardup.parts.contamination.totals import ItemTotals

HALF, MOST, WHOLE = 0.5, 0.8, 1.0


@dataclass(frozen=True)
class WorstItem:
    """An item, and where it is most complete: the document, and its longest run in context."""

    benchmark: str
    item: str
    text: str
    document: Any
    share: float
    longest: int
    documents: int
    before: str
    run: str
    after: str


@dataclass(frozen=True, eq=False, repr=False)
class ContaminationResult:
    """Which items of benchmarks occur in which documents.

    `items` has a row for each item, `summary` the numbers of the run, and `worst` the most
    contaminated items in context. `hits` and `documents` are read from the folder of the run.
    """

    summary: dict[str, Any]
    items: pa.Table
    worst: list[WorstItem]
    folder: Path
    _kept: TemporaryFolder | None = None

    @property
    def benchmarks(self) -> list[dict[str, Any]]:
        """A row for each benchmark: its items, and how many are in documents how far."""
        return list(self.summary["benchmarks"])

    @property
    def hits(self) -> pa.Table:
        """Every run of words that an item and a document share."""
        return pq.read_table(self.folder / HITS)

    @property
    def documents(self) -> pa.Table:
        """The documents with hits."""
        return pq.read_table(self.folder / DOCUMENTS)

    def __repr__(self) -> str:
        items = sum(one["items"] for one in self.benchmarks)
        hit = sum(one["hit"] for one in self.benchmarks)
        whole = sum(one["whole"] for one in self.benchmarks)
        return (
            f"ContaminationResult({hit:,} of {items:,} items in "
            f"{self.summary['documents_with_hits']:,} of {self.summary['documents']:,} documents, "
            f"{whole:,} whole)"
        )

    def _repr_html_(self) -> str:
        names = ("name", "items", "hit", "half", "most", "whole", "too_short")
        rows = [[one[name] for name in names] for one in self.benchmarks]
        worst = [
            [f"{one.share:.2f}", one.benchmark, one.item, str(one.document)] for one in self.worst
        ]
        heads = ["", "items", "in part", "half", "most", "whole", "too short"]
        return notebook.block(
            notebook.heading(repr(self)),
            notebook.table(heads, rows),
            notebook.table(["share", "benchmark", "item", "document"], worst[:10]) if worst else "",
        )


def benchmark_rows(items: Items, table: pa.Table) -> list[dict[str, Any]]:
    """For each benchmark, how many of its items are in documents how far."""
    documents, share = (table[name].to_numpy() for name in ("documents", "share"))
    rows = []
    for number, name in enumerate(items.names):
        own = items.benchmark == number
        hit = own & (documents > 0)
        rows.append(
            {
                "name": name,
                "columns": list(items.columns[number]),
                "items": int(own.sum()),
                "too_short": int((own & (items.words == 0)).sum()),
                "hit": int(hit.sum()),
                "half": int((hit & (share >= HALF)).sum()),
                "most": int((hit & (share >= MOST)).sum()),
                "whole": int((hit & (share >= WHOLE)).sum()),
            }
        )
    return rows


def worst_items(items: Items, totals: ItemTotals) -> list[WorstItem]:
    """The most contaminated items, the worst first."""
    return [
        WorstItem(
            benchmark=items.names[int(items.benchmark[one.item])],
            item=items.ids[one.item],
            text=items.beginning(one.item),
            document=one.document,
            share=one.share,
            longest=one.longest,
            documents=int(totals.documents[one.item]),
            before=one.before,
            run=one.run,
            after=one.after,
        )
        for one in totals.worst()
    ]
