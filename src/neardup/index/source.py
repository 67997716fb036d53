"""An index as the other collection of `dedup --against`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from neardup.collection.collected import Collected, grouped
from neardup.collection.rejected import RejectedRows
from neardup.collection.settings import DedupSettings
from neardup.collection.source import DocumentBatch, Progress, RowBatch
from neardup.errors import SettingError
from neardup.features.spec import TextColumn
from neardup.index import Index
from neardup.index.contents import text_of
from neardup.index.entries import Entries, is_text

_NO_TEXT = "(the index stores no texts)"


@dataclass(frozen=True, eq=False)
class IndexSource:
    """The documents of an index on disk: its stored texts, or its fingerprints for `hamming`."""

    index: Index
    ids_as_text: bool

    @classmethod
    def of(cls, path: Path, settings: DedupSettings) -> IndexSource:
        """Open an index; its scheme must match, and it must store texts unless by `hamming`."""
        # Open for writing if permitted: kept documents can be added to the same index later.
        index = Index(path, readonly=not os.access(path, os.W_OK), create=False)
        index.scheme.require_same(settings.scheme)
        if settings.similarity != "hamming" and not index.settings.store_text:
            raise SettingError(
                f"{path} stores no texts to compute {settings.similarity} from; create it with "
                "store_text, or use similarity=hamming with a maximum number of differing bits as "
                "threshold"
            )
        kinds = {is_text(entries.ids) for entries in index.entries()}
        return cls(index, len(kinds) > 1)

    @property
    def places(self) -> Sequence[str]:
        return [os.fspath(self.index.path)]

    def batches(self, progress: Progress | None = None) -> Iterator[DocumentBatch]:
        """The documents; without stored texts they have a placeholder text, for display only."""
        done = 0
        for entries in self.index.entries():
            yield DocumentBatch(self._ids(entries), [TextColumn(self._texts(entries))])
            done += len(entries)
            if progress:
                progress(done, len(self.index), done)

    def rows(self) -> Iterator[RowBatch]:
        """The documents as id and text."""
        for batch in self.batches():
            columns = batch.columns
            assert isinstance(columns, list)
            rows = pa.RecordBatch.from_pydict({"id": batch.ids, "text": columns[0].texts})
            yield RowBatch(rows, columns)

    def fingerprinted(self) -> Collected:
        """All documents with the fingerprints stored in the index; no text is read."""
        parts = list(self.index.entries())
        words = np.concatenate([np.zeros(0, np.uint32), *(part.words for part in parts)])
        none = np.zeros((0, self.index.scheme.row_words), np.uint64)
        rows = np.concatenate([none, *(part.rows for part in parts)])
        ids = [self._ids(part) for part in parts]
        return Collected(
            pa.concat_arrays(ids) if ids else pa.array([], pa.int64()),
            words,
            *grouped(words, rows),
            (rows,),
            None,
            RejectedRows(),
        )

    def _ids(self, entries: Entries) -> pa.Array:
        return entries.ids.cast(pa.string()) if self.ids_as_text else entries.ids

    def _texts(self, entries: Entries) -> pa.Array:
        if not self.index.settings.store_text or entries.contents is None:
            return pa.array([_NO_TEXT] * len(entries), pa.large_string())
        return pa.array(map(text_of, entries.contents.to_pylist()), pa.large_string())
