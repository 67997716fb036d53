"""One pass over the corpus: what each batch has of the items, written and counted in order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from neardup import kernels
from neardup.collection.rejected import RejectedRows
from neardup.collection.source import DocumentBatch, Progress, Source
from neardup.engines.local import Mapped
from neardup.features.columns import GivenTerms
from neardup.frozen import dataclass
from neardup.kernels.contamination import Found
from neardup.parts.contamination.items import Items
from neardup.parts.contamination.removal import marked_table
from neardup.parts.contamination.settings import ContaminationSettings
from neardup.parts.contamination.tables import (
    DOCUMENTS,
    HITS,
    GrowingTable,
    ItemNames,
    documents_table,
    hits_table,
    shares_of,
)
from neardup.parts.contamination.totals import ItemTotals
from neardup.read.columns import plain_text

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
        self._marks = GrowingTable(marks, lambda: marked_table(*[np.zeros(0, np.int64)] * 3).schema)
        self.totals = ItemTotals(items)
        self.rejected = RejectedRows()
        self.id_type = pa.string()
        self.documents = self.words = self.hits = self.documents_with_hits = 0

    def run(self, source: Source, progress: Progress | None) -> None:
        """Go through the corpus once."""
        threads = min(
            kernels.thread_count(self._settings.reader.threads), _MOST_BATCHES_AT_ONCE
        )
        scanned = Mapped(
            self._scanned,
            source.batches(progress),
            threads,
            purpose="read the corpus",
            large=lambda batch: _texts(batch).nbytes > _LARGE_BATCH,
        )
        with self._hits, self._documents, self._marks:
            for one in scanned:
                self._take(one)

    def _scanned(self, batch: DocumentBatch) -> _Scanned:
        texts = _texts(batch)
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
            ranges = found.ranges
            self._marks.add(
                marked_table(
                    ranges["document"] + self.documents, ranges["start_byte"], ranges["end_byte"]
                )
            )
            self.totals.add(found, ids, scanned.texts)
        self.documents += len(ids)
        self.words += found.words
        self.hits += len(found.hits["item"])
        self.documents_with_hits += len(found.documents["document"])

    def _table(self, found: Found, ids: pa.Array, names: ItemNames, shares: np.ndarray) -> pa.Table:
        return documents_table(found, ids, names, shares, self._settings.remove is not None)

    def _empty(self, table: object) -> pa.Schema:
        """The schema of a table that nothing was added to."""
        nothing = self._items.index.scan(pa.array([], pa.large_string()))
        ids = pa.array([], self.id_type)
        return table(nothing, ids, self._names, shares_of(nothing, self._items)).schema  # type: ignore[operator]


def _texts(batch: DocumentBatch) -> pa.Array:
    """The texts of a batch; a missing text is empty."""
    assert not isinstance(batch.columns, GivenTerms)
    (column,) = batch.columns
    return plain_text(column.texts).cast(pa.large_string()).fill_null("")
