"""One pass over the corpus: what each batch has of the items, written and counted in order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from neardup import kernels
from neardup.collection.rejected import RejectedRows
from neardup.collection.source import DocumentBatch, Progress, Source
from neardup.engines.local import Mapped
from neardup.frozen import dataclass
from neardup.kernels.contamination import Found
from neardup.parts.contamination.items import Items
from neardup.parts.contamination.removal import marks_of, texts_of
from neardup.parts.contamination.settings import ContaminationSettings
from neardup.parts.contamination.tables import (
    DOCUMENTS,
    HITS,
    ItemNames,
    Shares,
    documents_table,
    hits_table,
    shares_of,
)
from neardup.parts.contamination.totals import ItemTotals
from neardup.parts.growing_table import GrowingTable

_LARGE_BATCH = 16 << 20
_MOST_BATCHES_AT_ONCE = 4
_NO_RANGES = 2.0  # no document has such a share of an item


@dataclass(frozen=True, eq=False)
class _Scanned:
    batch: DocumentBatch
    texts: pa.Array
    found: Found


class CorpusScan:
    """Finds the items in all documents of a corpus.

    Hits and documents go to files in `folder`, and the ranges to be removed to the file `marks`;
    what is held of all documents does not grow with the corpus.
    """

    def __init__(
        self, items: Items, settings: ContaminationSettings, folder: Path, marks: Path
    ) -> None:
        self._items, self._settings = items, settings
        self._names = ItemNames(items)
        self._hits = GrowingTable(folder / HITS, lambda: self._empty(hits_table))
        self._documents = GrowingTable(folder / DOCUMENTS, lambda: self._empty(self._table))
        self._marks = GrowingTable(marks, lambda: self._empty(_marks_table))
        self.totals = ItemTotals(items)
        self.rejected = RejectedRows()
        self.id_type = pa.string()
        self.documents = self.words = self.hits = self.documents_with_hits = 0

    def run(self, source: Source, progress: Progress | None) -> None:
        """Go through the corpus once."""
        threads = min(kernels.thread_count(self._settings.reader.threads), _MOST_BATCHES_AT_ONCE)
        scanned = Mapped(
            self._scanned,
            source.batches(progress),
            threads,
            purpose="read the corpus",
            large=lambda batch: texts_of(batch).nbytes > _LARGE_BATCH,
        )
        with self._hits, self._documents, self._marks:
            for one in scanned:
                self._take(one)

    def _scanned(self, batch: DocumentBatch) -> _Scanned:
        texts = texts_of(batch)
        share = self._settings.remove_share if self._settings.remove else _NO_RANGES
        return _Scanned(batch, texts, self._items.index.scan(texts, least_share=share))

    def _take(self, scanned: _Scanned) -> None:
        found, ids = scanned.found, scanned.batch.ids
        self.rejected.add(scanned.batch.rejected)
        if not self.documents:
            self.id_type = ids.type
        if len(found.hits["item"]):
            shares = shares_of(found, self._items)
            self._hits.add(hits_table(found, ids, self._names, shares))
            self._documents.add(self._table(found, ids, self._names, shares))
            self._marks.add(marks_of(found, shares, self.documents).table())
            self.totals.add(found, ids, scanned.texts)
        self.documents += len(ids)
        self.words += found.words
        self.hits += len(found.hits["item"])
        self.documents_with_hits += len(found.documents["document"])

    def _table(self, found: Found, ids: pa.Array, names: ItemNames, shares: Shares) -> pa.Table:
        return documents_table(found, ids, names, shares, self._settings.remove is not None)

    def _empty(self, table: Callable[[Found, pa.Array, ItemNames, Shares], pa.Table]) -> pa.Schema:
        """The schema of a table that nothing was added to."""
        nothing = self._items.index.scan(pa.array([], pa.large_string()))
        ids = pa.array([], self.id_type)
        return table(nothing, ids, self._names, shares_of(nothing, self._items)).schema


def _marks_table(found: Found, _ids: pa.Array, _names: ItemNames, shares: Shares) -> pa.Table:
    return marks_of(found, shares, 0).table()
