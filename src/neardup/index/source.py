"""An index as the other collection of `dedup --against`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.collected import Collected, grouped
from neardup.collection.deliveries import Ignored, NearDocuments
from neardup.collection.rejected import RejectedRows
from neardup.collection.settings import DedupSettings
from neardup.collection.source import DocumentBatch, DocumentProgress, Progress, RowBatch
from neardup.errors import SettingError
from neardup.features.spec import TextColumn
from neardup.features.weighted import WeightedFeatures
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.index import Index
from neardup.index.contents import text_of
from neardup.index.entries import Entries, Id, Record, id_array, is_text, metadata_of

Places = NDArray[np.int64]

_NO_TEXT = "(the index stores no texts)"
# If all matches of a document are ignored, so many times more are asked for.
_MORE = 8
_AT_ONCE = 1 << 12


@dataclass(frozen=True, eq=False)
class SimilarityIndex:
    """An index by similarity, which is asked for each document of the other collection.

    `near` has the documents that were found; it is None before the search.
    """

    index: Index
    near: NearDocuments | None = None

    @property
    def places(self) -> Sequence[str]:
        return [os.fspath(self.index.path)]

    @property
    def reason(self) -> str:
        """How documents of the index are found."""
        return f"{self.index.path} is asked for each document: {self.index.settings.finds}"

    def near_documents(
        self,
        collected: Collected,
        fingerprinter: Fingerprinter,
        *,
        threshold: float,
        every: bool,
        ignored: Ignored,
        progress: DocumentProgress | None = None,
    ) -> NearDocuments:
        """Look up a collection: the most similar documents of the index or, with `every`, all.

        Those that are `ignored` do not count.
        """
        search = _Search(self.index, threshold, ignored)
        firsts, done = collected.firsts, 0
        for where, part in collected.store.parts():
            places = firsts[(firsts >= where.start) & (firsts < where.stop)]
            for begin in range(0, len(places), _AT_ONCE):
                some = places[begin : begin + _AT_ONCE]
                features = part.take(some - where.start)
                limit = None if every else 1
                asked = np.arange(len(some))
                while len(asked):
                    whole = len(asked) == len(some)
                    found = features if whole else features.take(asked)
                    asked = asked[search.ask(found, some[asked], limit)]
                    limit = None if limit is None else limit * _MORE
                done += len(some)
                if progress is not None:
                    progress(done, len(firsts))
        return search.found(collected.ids.type, fingerprinter)

    def only(self, near: NearDocuments) -> SimilarityIndex:
        """The documents that were found."""
        return replace(self, near=near)

    def batches(self, progress: Progress | None = None) -> Iterator[DocumentBatch]:
        """The documents that were found; without stored texts they have a placeholder."""
        if self.near is None:
            return
        for begin in range(0, len(self.near.names), _AT_ONCE):
            stored = map(self.index.get, self.near.names[begin : begin + _AT_ONCE])
            texts = [
                _NO_TEXT if document is None or document.text is None else document.text
                for document in stored
            ]
            some = self.near.collected.ids.slice(begin, _AT_ONCE)
            yield DocumentBatch(some, [TextColumn(pa.array(texts, pa.large_string()))])

    def rows(self) -> Iterator[RowBatch]:
        """The documents that were found, as id and text."""
        return map(_as_rows, self.batches())

    def fingerprinted(self) -> None:
        """An index by similarity is asked, not read."""


class _Search:
    """The matches found so far, and what is known of their documents."""

    def __init__(self, index: Index, threshold: float, ignored: Ignored) -> None:
        self._index, self._threshold, self._ignored = index, threshold, ignored
        self._records: dict[int, Record] = {}
        self._out: set[int] = set()  # numbers of ignored documents
        self._parts: list[tuple[Places, NDArray[np.uint64], NDArray[np.float64]]] = []

    def ask(self, features: WeightedFeatures, places: Places, limit: int | None) -> Places:
        """Look documents up; return those for which only ignored documents were found so far."""
        found = self._index.near_sets(
            features, threshold=self._threshold, limit=limit, known=self._records.keys()
        )
        for number, record in found.records.items():
            if self._ignored.has(record.id, record.metadata):
                self._out.add(number)
            # Contents are read again for the few documents that are shown.
            self._records[number] = record._replace(content=b"", features=b"")
        counts = np.diff(found.offsets)
        owners = np.repeat(np.arange(len(places)), counts)
        others = np.ones(len(owners), np.bool_)
        if self._out:
            others = ~np.isin(found.numbers, np.array(sorted(self._out), np.uint64))
        passed = np.bincount(owners[others], minlength=len(places))
        short = np.zeros(len(places), np.bool_)
        if limit is not None:
            short = (counts == limit) & (passed == 0)
        done = others & ~short[owners]
        self._parts.append((places[owners[done]], found.numbers[done], found.similarities[done]))
        return np.flatnonzero(short)

    def found(self, ids: pa.DataType, fingerprinter: Fingerprinter) -> NearDocuments:
        """All pairs, and the documents of the index in them; without any, ids are of this type."""
        a = np.concatenate([np.zeros(0, np.int64), *(part[0] for part in self._parts)])
        numbers = np.concatenate([np.zeros(0, np.uint64), *(part[1] for part in self._parts)])
        similarity = np.concatenate([np.zeros(0), *(part[2] for part in self._parts)])
        distinct, b = np.unique(numbers, return_inverse=True)
        order = np.lexsort((b, a))
        records = [self._records[number] for number in distinct.tolist()]
        rows = np.frombuffer(b"".join(record.row for record in records), np.uint64)
        count = len(records)
        words = np.array([record.words for record in records], np.uint32)
        names = [record.id for record in records]
        collected = Collected(
            _ids(names, ids),
            words,
            # Each is a group of its own: copies among them make no difference.
            *grouped(words, np.arange(count, dtype=np.uint64)[:, None]),
            (rows.reshape(count, fingerprinter.scheme.row_words),),
            None,
            RejectedRows(),
        )
        return NearDocuments(
            collected,
            names,
            [source_in(record.metadata) for record in records],
            np.array([record.added for record in records], np.int64),
            a[order],
            b[order],
            similarity[order],
        )


@dataclass(frozen=True, eq=False)
class IndexSource:
    """The documents of an index by distance: its stored texts, or its fingerprints for `hamming`.

    Those that are `ignored` are left out.
    """

    index: Index
    ids_as_text: bool
    ignored: Ignored | None = None

    @classmethod
    def of(cls, index: Index, settings: DedupSettings) -> IndexSource:
        """The documents of an index; it must store texts unless they are compared by `hamming`."""
        if settings.is_scored:
            raise SettingError(
                f"{index.path} does not store the columns that similarity={settings.similarity!r} "
                "compares; compare with the files instead, or use another similarity"
            )
        if settings.similarity != "hamming" and not index.settings.store_text:
            raise SettingError(
                f"{index.path} finds documents by the distance of fingerprints and stores no texts "
                f"to compute {settings.similarity} from; use an index by similarity, or "
                "similarity=hamming with a maximum number of differing bits as threshold"
            )
        kinds = {is_text(entries.ids) for entries in index.entries()}
        return cls(index, len(kinds) > 1)

    @property
    def places(self) -> Sequence[str]:
        return [os.fspath(self.index.path)]

    def batches(self, progress: Progress | None = None) -> Iterator[DocumentBatch]:
        """The documents; without stored texts they have a placeholder text, for display only."""
        done = 0
        for entries in self._entries():
            yield DocumentBatch(self._ids(entries), [TextColumn(self._texts(entries))])
            done += len(entries)
            if progress:
                progress(done, len(self.index), done)

    def rows(self) -> Iterator[RowBatch]:
        """The documents as id and text."""
        return map(_as_rows, self.batches())

    def fingerprinted(self) -> Collected:
        """All documents with the fingerprints stored in the index; no text is read."""
        parts = list(self._entries())
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

    def without(self, ignored: Ignored) -> IndexSource:
        """All documents, except those that are ignored."""
        return replace(self, ignored=ignored)

    def origins(self) -> tuple[list[str | None], NDArray[np.int64]]:
        """The sources of all documents, and when they were added."""
        sources: list[str | None] = []
        added = [np.zeros(0, np.int64)]
        for entries in self._entries():
            known = entries.metadata
            json = [b""] * len(entries) if known is None else known.to_pylist()
            sources += map(source_in, json)
            none = np.zeros(len(entries), np.int64)
            added.append(none if entries.added is None else entries.added)
        return sources, np.concatenate(added)

    def _entries(self) -> Iterator[Entries]:
        for entries in self.index.entries():
            if self.ignored is not None:
                known = entries.metadata
                json = [b""] * len(entries) if known is None else known.to_pylist()
                named = zip(entries.ids.to_pylist(), json, strict=True)
                others = [not self.ignored.has(id, about) for id, about in named]
                entries = entries.take(np.flatnonzero(others))
            yield entries

    def _ids(self, entries: Entries) -> pa.Array:
        return entries.ids.cast(pa.string()) if self.ids_as_text else entries.ids

    def _texts(self, entries: Entries) -> pa.Array:
        if not self.index.settings.store_text or entries.contents is None:
            return pa.array([_NO_TEXT] * len(entries), pa.large_string())
        return pa.array(map(text_of, entries.contents.to_pylist()), pa.large_string())


def opened(path: Path, settings: DedupSettings) -> SimilarityIndex | IndexSource:
    """An index, to compare with it; its scheme, measure and threshold must fit."""
    # Open for writing if permitted: kept documents can be added to the same index later.
    index = Index(path, readonly=not os.access(path, os.W_OK), create=False)
    try:
        index.scheme.require_same(settings.scheme)
        if index.settings.sets is None:
            return IndexSource.of(index, settings)
        require_comparable(index, settings)
    except BaseException:
        index.close()
        raise
    return SimilarityIndex(index)


def require_comparable(index: Index, settings: DedupSettings) -> None:
    """Refuse a measure or a threshold that an index by similarity does not answer."""
    known, least = index.settings, index.settings.threshold
    assert least is not None
    if settings.similarity != known.similarity:
        raise SettingError(
            f"{index.path} finds documents by {known.similarity}, but similarity is "
            f"{settings.similarity}; use {known.similarity}, or another index"
        )
    if settings.threshold < least:
        raise SettingError(
            f"{index.path} finds documents of {known.similarity} ≥ {least:g}, but the threshold is "
            f"{settings.threshold:g}; use at least {least:g}, or an index with a lower threshold"
        )
    if settings.floor is not None and settings.floor < least:
        raise SettingError(
            f"{index.path} finds documents of {known.similarity} ≥ {least:g}, but the floor is "
            f"{settings.floor:g}; use at least {least:g}, or an index with a lower threshold"
        )


def _as_rows(batch: DocumentBatch) -> RowBatch:
    columns = batch.columns
    assert isinstance(columns, list)
    rows = pa.RecordBatch.from_pydict({"id": batch.ids, "text": columns[0].texts})
    return RowBatch(rows, columns)


def _ids(ids: list[Id], kind: pa.DataType) -> pa.Array:
    """Ids as one array: numbers become strings if there are both."""
    if not ids:
        return pa.nulls(0, kind)
    if any(isinstance(id, str) for id in ids):
        return id_array([str(id) for id in ids])
    return id_array(ids)


def source_in(metadata: bytes) -> str | None:
    """The source that metadata names; None if it names none."""
    held = metadata_of(metadata)
    source = held.get("source") if isinstance(held, dict) else None
    return source if isinstance(source, str) else None
