"""What every index offers, whether in memory or on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neardup import kernels
from neardup.features.columns import DocumentColumns
from neardup.features.weighted import WeightedFeatures
from neardup.fingerprints import Fingerprints, Scheme
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.index import intake as shapes
from neardup.index.answering import (
    Question,
    answer,
    distance_asked,
    require_buckets,
    require_limit,
    threshold_asked,
)
from neardup.index.contents import text_of
from neardup.index.entries import Entries, Id, checked_id, metadata_of
from neardup.index.intake import Intake, with_last
from neardup.index.match import Answers, Match, MatchList
from neardup.index.settings import IndexSettings
from neardup.index.store import Change, Put, Store

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True)
class StoredDocument:
    """What an index holds of a document; `fingerprint` is None for an empty one."""

    id: Id
    fingerprint: int | None
    words: int
    metadata: Any
    text: str | None


@dataclass(frozen=True)
class IndexStats:
    """How large an index is.

    `bytes` are those of its parts. `largest_buckets` are the sizes of the largest sets of
    different fingerprints that agree on a mask of the plan.
    """

    scheme: str
    plan: str
    tables: int
    documents: int
    bytes: dict[str, int]
    largest_buckets: list[int]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        return asdict(self)


DEFAULT_LIMIT = 10


class BaseIndex:
    """Documents that come and go, and what is near them."""

    def __init__(
        self,
        store: Store,
        settings: IndexSettings,
        fingerprinter: Fingerprinter,
        threads: int | None,
    ) -> None:
        self._store = store
        self._settings = settings
        self._fingerprinter = fingerprinter
        self._intake = Intake(settings, fingerprinter)
        self._threads = kernels.thread_count(threads)

    @property
    def scheme(self) -> Scheme:
        """How documents are fingerprinted."""
        return self._fingerprinter.scheme

    @property
    def settings(self) -> IndexSettings:
        """All that the index was made with."""
        return self._settings

    def add(self, id: Id, document: Any, metadata: Any = None) -> None:
        """Add a document: a text, a record as a dict, or terms, as the scheme wants it.

        The same id again replaces it. `metadata` is anything that JSON can hold.
        """
        entries = self._intake.entries(self._intake.one(id, document, metadata))
        self._store.change(lambda change: _put(change, entries))

    def add_many(
        self,
        batches: Any,
        *,
        metadata: Sequence[str] = (),
        at_once: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Add many documents, and give how many are new or changed.

        Takes an iterable of (id, text) or (id, text, metadata), a table with the columns `id` and
        `text`, `Fingerprints` with ids, what `neardup.read` reads, or an iterable of any of these.
        `metadata` names columns of tables to keep. Documents are committed some ten thousand at a
        time, and `progress` is told how many are; with `at_once` all of them are, or none.

        Documents of files that have no ids are named after file and row, as "a.jsonl:17", and
        replace nothing: where another document has that name, a hash of the content is put behind.
        """
        counted = self.add_counted(batches, metadata=metadata, at_once=at_once, progress=progress)
        return counted.stored

    def add_counted(
        self,
        batches: Any,
        *,
        metadata: Sequence[str] = (),
        at_once: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> Put:
        """The same as `add_many`, and give how many were stored, replaced and renamed."""
        done, seen = Put(), 0
        for entries, is_last in with_last(self._intake.portions(batches, metadata, at_once)):

            def put(change: Change, some: list[Entries] = entries, ends: bool = is_last) -> Put:
                changed = sum(map(change.put, some), Put())
                if ends:
                    change.settle()
                return changed

            done = done + self._store.change(put)
            seen += sum(map(len, entries))
            if progress:
                progress(seen)
        return done

    def query(
        self,
        document: Any,
        max_distance: int | None = None,
        threshold: float | None = None,
        limit: int | None = DEFAULT_LIMIT,
    ) -> list[Match]:
        """The documents near this one: a text, or a fingerprint as an int or `Fingerprints`.

        Nearest first, ties by id. `max_distance` is that of the index unless given; `threshold`
        leaves out what is truly less similar, which takes an index that stores texts or features.
        Of more documents than `limit` that are as near, the first that came are given.
        """
        row = shapes.row_of(document, self._fingerprinter.scheme)
        if row is None:
            columns = shapes.one(document, self.scheme)
            rows, words = self._fingerprinter.rows(columns)
            return self._asked(rows, words == 0, [columns], max_distance, threshold, limit)[0]
        # A fingerprint is looked up on the shortest way: the rest would take longer than that.
        if threshold is not None:
            threshold_asked(self._settings, threshold, has_content=False)
        distance = self._settings.max_distance
        if max_distance is not None:
            distance = distance_asked(self._settings, max_distance, None)
        if limit != DEFAULT_LIMIT:
            require_limit(limit)
        return self._store.nearest(row, distance, limit) if row else MatchList()

    def query_many(
        self,
        documents: Any,
        max_distance: int | None = None,
        threshold: float | None = None,
        limit: int | None = DEFAULT_LIMIT,
    ) -> Answers:
        """The documents near each of many: a sequence of lists of matches; uses all cores."""
        if isinstance(documents, Fingerprints):
            self.scheme.require_same(documents.scheme)
            return self._asked(
                documents.array, documents.empty, None, max_distance, threshold, limit
            )
        parts = list(shapes.columns_of(documents, self.scheme))
        found = [self._fingerprinter.rows(columns) for columns in parts]
        if not found:
            found = [(np.zeros((0, self.scheme.row_words), np.uint64), np.zeros(0, np.uint32))]
        rows = np.concatenate([rows for rows, _ in found])
        empty = np.concatenate([words for _, words in found]) == 0
        return self._asked(rows, empty, parts, max_distance, threshold, limit)

    def check(
        self,
        id: Id,
        document: Any,
        metadata: Any = None,
        *,
        max_distance: int | None = None,
        threshold: float | None = None,
        limit: int | None = DEFAULT_LIMIT,
    ) -> list[Match]:
        """What is near this document, which is added in the same transaction.

        An older document of the same id is replaced, and is no match.
        """
        one = self._intake.one(id, document, metadata)
        entries = self._intake.entries(one)
        columns = one.held
        assert not isinstance(columns, Fingerprints)
        more = None if limit is None else limit + 1
        question = self._question(
            entries.rows, ~entries.filled, [columns], max_distance, threshold, more
        )

        def work(change: Change) -> list[Match]:
            found = answer(change, question, self._settings, self._fingerprinter, 1)
            _put(change, entries)
            return found.without(one.ids[0].as_py(), limit)

        return self._store.change(work)

    def delete(self, id: Id) -> bool:
        """Remove a document; False if there is none of that id."""
        return self.delete_many([id]) == 1

    def delete_many(self, ids: Sequence[Id]) -> int:
        """Remove documents in one transaction, and give how many were there."""
        wanted = list(dict.fromkeys(map(checked_id, ids)))

        def work(change: Change) -> int:
            found = [change.number_of(id) for id in wanted]
            numbers = [number for number in found if number is not None]
            if numbers:
                change.remove(np.array(numbers, np.uint64))
            return len(numbers)

        return self._store.change(work)

    def get(self, id: Id) -> StoredDocument | None:
        """What is stored of a document, or None if there is none of that id."""
        with self._store.view() as view:
            number = view.number_of(checked_id(id))
            if number is None:
                return None
            record = view.records([number])[0]
            return StoredDocument(
                record.id,
                None if not record.words else Fingerprints(record.row[None], self.scheme)[0],
                record.words,
                metadata_of(record.metadata),
                text_of(record.content) if self._settings.store_text and record.content else None,
            )

    def ids(self) -> Iterator[Id]:
        """The ids of all documents, in the order they came."""
        for entries in self._store.entries(whole=False):
            yield from entries.ids.to_pylist()

    def entries(self) -> Iterator[Entries]:
        """All documents as they are stored, in the order they came, some at a time."""
        yield from self._store.entries()

    def stats(self, buckets: int = 5) -> IndexStats:
        """Documents, tables, bytes, and the sizes of the largest buckets.

        Buckets are counted over all fingerprints, which takes time: ask for 0 to leave them out.
        """
        require_buckets(buckets)
        with self._store.view() as view:
            count = len(view)
        plan = self._settings.plan
        sizes = self._store.sizes()
        largest = self._store.largest_buckets(buckets) if buckets else []
        return IndexStats(str(self.scheme), plan.name, plan.tables, count, sizes, largest)

    def compact(self) -> None:
        """Forget what is gone for good, and put together what is apart."""
        self._store.change(lambda change: change.compact())

    def close(self) -> None:
        """Let go of everything; the index cannot be used any more."""
        self._store.close()

    def __contains__(self, id: object) -> bool:
        with self._store.view() as view:
            return view.number_of(checked_id(id)) is not None

    def __len__(self) -> int:
        with self._store.view() as view:
            return len(view)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _question(
        self,
        rows: NDArray[np.uint64],
        empty: NDArray[np.bool_] | None,
        columns: list[DocumentColumns] | None,
        max_distance: int | None,
        threshold: float | None,
        limit: int | None,
    ) -> Question:
        """About the documents that are not empty."""
        filled = np.arange(len(rows)) if empty is None else np.flatnonzero(~empty)
        least = threshold_asked(self._settings, threshold, columns is not None)
        require_limit(limit)

        def features(places: NDArray[np.int64]) -> WeightedFeatures:
            return shapes.features_at(columns or [], filled[places], self._fingerprinter)

        return Question(
            rows if len(filled) == len(rows) else np.ascontiguousarray(rows[filled]),
            distance_asked(self._settings, max_distance, least),
            least,
            limit,
            None if columns is None else features,
        )

    def _asked(
        self,
        rows: NDArray[np.uint64],
        empty: NDArray[np.bool_] | None,
        columns: list[DocumentColumns] | None,
        max_distance: int | None,
        threshold: float | None,
        limit: int | None,
    ) -> Answers:
        question = self._question(rows, empty, columns, max_distance, threshold, limit)
        with self._store.view() as view:
            answers = answer(view, question, self._settings, self._fingerprinter, self._threads)
        return answers if empty is None else answers.spread(~empty)


def _put(change: Change, entries: Entries) -> None:
    change.put(entries)
    change.settle()
