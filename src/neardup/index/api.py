"""The methods that both indexes share, in memory and on disk."""

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
from neardup.index import intake
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
from neardup.index.match import Answers, Match, MatchList
from neardup.index.settings import IndexSettings
from neardup.index.store import Change, Put, Store

if TYPE_CHECKING:
    from typing_extensions import Self


DEFAULT_LIMIT = 10


@dataclass(frozen=True)
class StoredDocument:
    """A document as the index stores it; `fingerprint` is None for an empty document."""

    id: Id
    fingerprint: int | None
    words: int
    metadata: Any
    text: str | None


@dataclass(frozen=True)
class IndexStats:
    """Size of an index.

    `bytes` has the size of each part. `largest_buckets` has the sizes of the largest sets of
    distinct fingerprints that agree on a mask of the plan.
    """

    scheme: str
    plan: str
    tables: int
    documents: int
    bytes: dict[str, int]
    largest_buckets: list[int]

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, for JSON."""
        return asdict(self)


class BaseIndex:
    """Add and remove documents, and query for near-duplicates."""

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
        self._intake = intake.Intake(settings, fingerprinter)
        self._threads = kernels.thread_count(threads)

    @property
    def scheme(self) -> Scheme:
        return self._fingerprinter.scheme

    @property
    def settings(self) -> IndexSettings:
        """The settings that the index was created with."""
        return self._settings

    def add(self, id: Id, document: Any, metadata: Any = None) -> None:
        """Add a document: a text, a record as a dict, or terms, as the scheme requires.

        An existing document with the same id is replaced. `metadata` is any JSON value.
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
        """Add many documents; return how many are new or changed.

        Takes an iterable of (id, text) or (id, text, metadata), a table with the columns `id` and
        `text`, `Fingerprints` with ids, the result of `neardup.read`, or an iterable of these.
        `metadata` names the table columns to store. Documents are committed in batches of about
        65,000, and `progress` is called with the number committed; `at_once` commits all of them
        in one transaction.

        Documents from files without ids get ids of file and row ("a.jsonl:17") and replace nothing:
        if another document has that id, a hash of the content is appended.
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
        """Like `add_many`; return how many were stored, replaced and renamed."""
        done, seen = Put(), 0
        for entries, is_last in intake.with_last(self._intake.portions(batches, metadata, at_once)):

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
        """Find the documents near one: a text, or a fingerprint as an int or `Fingerprints`.

        Nearest first, ties by id. `max_distance` defaults to that of the index; `threshold` drops
        matches whose true similarity is lower, and needs an index that stores texts or features.
        If more than `limit` documents are equally near, those added first are returned.
        """
        row = intake.row_of(document, self._fingerprinter.scheme)
        if row is None:
            columns = intake.one(document, self.scheme)
            rows, words = self._fingerprinter.rows(columns)
            return self._asked(rows, words == 0, [columns], max_distance, threshold, limit)[0]
        # A short path for one fingerprint: the general path takes longer than the lookup itself.
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
        """Run `query` for many documents on all cores; returns one list of matches for each."""
        if isinstance(documents, Fingerprints):
            self.scheme.require_same(documents.scheme)
            return self._asked(
                documents.array, documents.empty, None, max_distance, threshold, limit
            )
        parts = list(intake.columns_of(documents, self.scheme))
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
        """Query for a document and add it, in one transaction.

        An existing document with the same id is replaced, and is not a match.
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
        """Remove a document; return False if the id is not in the index."""
        return self.delete_many([id]) == 1

    def delete_many(self, ids: Sequence[Id]) -> int:
        """Remove documents in one transaction; return how many were in the index."""
        wanted = list(dict.fromkeys(map(checked_id, ids)))

        def work(change: Change) -> int:
            found = [change.number_of(id) for id in wanted]
            numbers = [number for number in found if number is not None]
            if numbers:
                change.remove(np.array(numbers, np.uint64))
            return len(numbers)

        return self._store.change(work)

    def get(self, id: Id) -> StoredDocument | None:
        """The stored document with this id, or None."""
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
        """All ids, in the order of insertion."""
        for entries in self._store.entries(whole=False):
            yield from entries.ids.to_pylist()

    def entries(self) -> Iterator[Entries]:
        """All stored documents in batches, in the order of insertion."""
        yield from self._store.entries()

    def stats(self, buckets: int = 5) -> IndexStats:
        """Documents, tables, bytes, and the sizes of the `buckets` largest buckets.

        Counting buckets reads all fingerprints, which takes time; 0 skips it.
        """
        require_buckets(buckets)
        with self._store.view() as view:
            count = len(view)
        plan = self._settings.plan
        sizes = self._store.sizes()
        largest = self._store.largest_buckets(buckets) if buckets else []
        return IndexStats(str(self.scheme), plan.name, plan.tables, count, sizes, largest)

    def compact(self) -> None:
        """Merge segments and free the space of removed documents."""
        self._store.change(lambda change: change.compact())

    def close(self) -> None:
        """Release all resources; the index cannot be used afterwards."""
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
        """The query for the documents that are not empty."""
        filled = np.arange(len(rows)) if empty is None else np.flatnonzero(~empty)
        least = threshold_asked(self._settings, threshold, columns is not None)
        require_limit(limit)

        def features(places: NDArray[np.int64]) -> WeightedFeatures:
            return intake.features_at(columns or [], filled[places], self._fingerprinter)

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
