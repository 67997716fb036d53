"""The methods that both indexes share, in memory and on disk."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup import kernels
from neardup.errors import InputError, SettingError
from neardup.features.columns import DocumentColumns
from neardup.features.weighted import WeightedFeatures
from neardup.fingerprints import Fingerprints, Scheme
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.index import intake, similar
from neardup.index.answering import (
    Question,
    answer,
    distance_asked,
    require_buckets,
    require_limit,
    threshold_asked,
)
from neardup.index.disk.change import DiskChange
from neardup.index.disk.store import DiskStore
from neardup.index.disk.view import DiskView
from neardup.index.entries import (
    Entries,
    Id,
    Record,
    checked_id,
    int_array,
    now_ms,
    records_of,
)
from neardup.index.intake import One
from neardup.index.match import Answers, Match, MatchList, Verdict, together
from neardup.index.settings import IndexSettings
from neardup.index.similar import Rules
from neardup.index.store import Change, Put, Store, changed_places, named_apart
from neardup.index.told import IndexStats, StoredDocument, stats_of
from neardup.kernels.set_index import SetDocuments, SetView
from neardup.settings import seconds_of

if TYPE_CHECKING:
    from typing_extensions import Self


DEFAULT_LIMIT = 10
_IDS_AT_ONCE = 1 << 14
Adding = Literal["new", "always", "never"]


class NearSets(NamedTuple):
    """The documents near each of some feature sets, the most similar first, and their records."""

    offsets: NDArray[np.int64]
    numbers: NDArray[np.uint64]
    similarities: NDArray[np.float64]
    records: dict[int, Record]


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

    def add(
        self,
        id: Id,
        document: Any,
        metadata: Any = None,
        *,
        ttl: str | float | None = None,
    ) -> None:
        """Add a document: a text, a record as a dict, or terms, as the scheme requires.

        An existing document with the same id is replaced. `metadata` is any JSON value. `ttl`
        overrides that of the index, for example "30d".
        """
        return self._store.change_together(self.adding(id, document, metadata, ttl=ttl))

    def adding(
        self, id: Id, document: Any, metadata: Any = None, *, ttl: str | float | None = None
    ) -> Callable[[Change], None]:
        """What `add` does in a transaction, for `change_all`; the document is prepared now."""
        life = self._life(ttl)
        if self._settings.sets is not None:
            one = self._intake.one_set(id, document, metadata)

            def put(change: Change) -> None:
                assert isinstance(change, DiskChange)
                similar.put(change, one, change.number_of(one.record.id), now_ms(), life)

            return put
        entries = self._intake.entries(self._intake.one(id, document, metadata))
        return lambda change: _put(change, entries)

    def add_many(
        self,
        batches: Any,
        *,
        metadata: Sequence[str] = (),
        at_once: bool = False,
        ttl: str | float | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Add many documents, near-duplicates too; return how many are new or changed.

        Takes an iterable of (id, text) or (id, text, metadata), a table with the columns `id` and
        `text`, `Fingerprints` with ids, the result of `neardup.read`, or an iterable of these.
        `metadata` names the table columns to store. Documents are committed in batches of about
        65,000, and `progress` is called with the number committed; `at_once` commits all of them
        in one transaction.

        Documents from files without ids get ids of file and row ("a.jsonl:17") and replace nothing:
        if another document has that id, a hash of the content is appended.
        """
        counted = self.add_counted(
            batches, metadata=metadata, at_once=at_once, ttl=ttl, progress=progress
        )
        return counted.stored

    def add_counted(
        self,
        batches: Any,
        *,
        metadata: Sequence[str] = (),
        at_once: bool = False,
        ttl: str | float | None = None,
        refuse: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> Put:
        """Like `add_many`; return how many were stored, replaced and renamed.

        With `refuse`, a document that would replace another is an error, before anything of its
        batch is stored.
        """
        life = self._life(ttl)
        done, seen = Put(), 0
        for entries, is_last in intake.with_last(self._intake.portions(batches, metadata, at_once)):
            done = done + self._store.change(
                _putting(entries, life, settles=is_last, refuse=refuse)
            )
            seen += sum(map(len, entries))
            if progress:
                progress(seen)
        return done

    def adding_many(
        self, batches: Any, *, ttl: str | float | None = None, settles: bool = True
    ) -> Callable[[Change], Put]:
        """What `add_many` does in one transaction, for `change_all`; `settles` merges segments."""
        portions = self._intake.portions(batches, (), at_once=True)
        entries = [each for some in portions for each in some]
        return _putting(entries, self._life(ttl), settles=settles, refuse=False)

    def query(
        self,
        document: Any,
        max_distance: int | None = None,
        threshold: float | None = None,
        limit: int | None = DEFAULT_LIMIT,
    ) -> list[Match]:
        """Find the near-duplicates of a document, the most similar or nearest first, ties by id.

        An index by similarity takes the document itself and finds those of at least `threshold`,
        which defaults to that of the index and is not lower. An index by distance also takes a
        fingerprint, as an int or `Fingerprints`, and finds those within `max_distance`; there,
        `threshold` drops matches whose true similarity is lower, and needs stored texts or
        features. If more than `limit` documents are equally near, those added first are returned.
        """
        if self._settings.sets is not None:
            least = similar.threshold_of(self._settings, threshold, max_distance)
            if limit != DEFAULT_LIMIT:
                require_limit(limit)
            self._require_document(document)
            asked = self._intake.document(document)
            with self._searching() as (view, sets):
                return similar.query_one(
                    view, sets, asked, threshold=least, limit=limit, now=now_ms()
                )
        row = intake.row_of(document, self._fingerprinter.scheme)
        if row is None:
            columns = intake.one(document, self.scheme)
            rows, words = self._fingerprinter.rows(columns)
            return self._asked(rows, words == 0, [columns], max_distance, threshold, limit)[0]
        # A short path for one fingerprint: the general path takes longer than the lookup itself.
        if threshold is not None:
            threshold_asked(self._settings, threshold, has_content=False)
        distance = self._settings.max_distance
        assert distance is not None
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
        if self._settings.sets is not None:
            return self._query_sets(documents, max_distance, threshold, limit)
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
        add: Adding = "new",
        keep_per_group: int = 1,
        ttl: str | float | None = None,
        max_distance: int | None = None,
        threshold: float | None = None,
        limit: int | None = DEFAULT_LIMIT,
    ) -> Verdict:
        """Say whether a document was seen before, and add it if it is new, in one transaction.

        A document with the same id is not a match, so that a check can be repeated: it is replaced
        if the new one is added, unless nothing changed. If the document is not added, its match
        counts as seen once more. Calls of several threads share a transaction.

        Args:
            id: The id to add the document under.
            document: A text, a record as a dict, or terms, as the scheme requires.
            metadata: Any JSON value, stored with the document.
            add: Which documents to add: `new` ones, which have no near-duplicate in the index,
                all of them (`always`), or none (`never`).
            keep_per_group: How many documents of a kind are new: a document is, if fewer than this
                many match it.
            ttl: Time until the document expires, for example "30d". Default: that of the index.
            max_distance: Maximum number of differing bits, of an index by distance.
            threshold: Minimum similarity. Default: that of the index.
            limit: Maximum number of matches to return.
        """
        rules = self.rules(add, keep_per_group, ttl, threshold, max_distance, limit)
        if add == "never":
            return next(self._verdicts_of(self._intake.one(id, document, metadata), rules))
        return self._store.change_together(self.checking(id, document, metadata, rules))

    def checking(
        self, id: Id, document: Any, metadata: Any, rules: Rules
    ) -> Callable[[Change], Verdict]:
        """What `check` does in a transaction, for `change_all`; the document is prepared now."""
        if self._settings.sets is not None:
            self._require_document(document)
            one = self._intake.one_set(id, document, metadata)
            return lambda change: self._checked(change, one, rules)
        documents = self._intake.one(id, document, metadata)
        return lambda change: self._checked_by_distance(change, documents, rules)

    def check_many(
        self,
        batches: Any,
        *,
        metadata: Sequence[str] = (),
        add: Adding = "new",
        keep_per_group: int = 1,
        ttl: str | float | None = None,
        max_distance: int | None = None,
        threshold: float | None = None,
        limit: int | None = DEFAULT_LIMIT,
    ) -> list[Verdict]:
        """Check many documents, in order and in one transaction; returns a `Verdict` for each.

        Documents are compared with those before them, too, so that a batch deduplicates itself.
        Takes what `add_many` takes; the other arguments are those of `check`.
        """
        rules = self.rules(add, keep_per_group, ttl, threshold, max_distance, limit)
        if add == "never":
            given = intake.batches(batches, self.scheme, metadata)
            return [verdict for some in given for verdict in self._verdicts_of(some, rules)]
        return self._store.change(self.checking_many(batches, rules, metadata))

    def checking_many(
        self, batches: Any, rules: Rules, metadata: Sequence[str] = ()
    ) -> Callable[[Change], list[Verdict]]:
        """What `check_many` does in a transaction, for `change_all`; documents are prepared now."""
        given = list(intake.batches(batches, self.scheme, metadata))
        if self._settings.sets is None:
            singles = [one for some in given for one in intake.singly(some)]
            return lambda change: [self._checked_by_distance(change, one, rules) for one in singles]
        prepared = [self._intake.prepared(some) for some in given]

        def work(change: Change) -> list[Verdict]:
            found: list[Verdict] = []
            for entries, sets in prepared:
                if entries.made:
                    entries, _ = named_apart(entries, change)
                for place, record in enumerate(records_of(entries)):
                    found.append(self._checked(change, One(record, sets, place), rules))
            return found

        return work

    def change_all(self, works: Sequence[Callable[[Change], Any]]) -> list[Any]:
        """Run the work of many callers in one transaction; return a result or an error for each.

        If one of them fails, each runs in a transaction of its own, so that an error concerns only
        its cause.
        """
        return self._store.change_all(works)

    def adds_quickly(self, count: int) -> bool:
        """Whether this many documents can be added without merging, and without a wait for others.

        Only a guess: another program may begin to write at any time.
        """
        return self._store.adds_quickly(count)

    def expire(self, now: float | None = None) -> int:
        """Remove the documents whose time is over, and free their space; return how many.

        They match nothing from that time on, whether they were removed or not. `now` is in seconds
        since 1970; it defaults to the time now.
        """
        moment = now_ms() if now is None else int(now * 1000)

        def work(change: Change) -> int:
            numbers = change.expired(moment)
            change.remove(numbers)
            return len(numbers)

        return self._store.change(work)

    def delete(self, id: Id) -> bool:
        """Remove a document; return False if the id is not in the index."""
        return self.delete_many([id]) == 1

    def delete_many(self, ids: Sequence[Id]) -> int:
        """Remove documents in one transaction; return how many were in the index."""
        return self._store.change(self.deleting_many(ids))

    def deleting_many(self, ids: Sequence[Id]) -> Callable[[Change], int]:
        """What `delete_many` does in a transaction, for `change_all`."""
        wanted = list(dict.fromkeys(map(checked_id, ids)))

        def work(change: Change) -> int:
            found = [change.number_of(id) for id in wanted]
            numbers = [number for number in found if number is not None]
            if numbers:
                change.remove(np.array(numbers, np.uint64))
            return len(numbers)

        return work

    def get(self, id: Id) -> StoredDocument | None:
        """The stored document with this id, or None."""
        with self._store.view() as view:
            number = view.number_of(checked_id(id))
            if number is None:
                return None
            return StoredDocument.of(
                view.records([number])[0], view.seen(number), self.scheme, self._settings.store_text
            )

    def metadata_by_id(self, ids: pa.Array) -> dict[Id, bytes]:
        """The metadata, as JSON, of those of these documents (of int64 or string ids) it has."""
        found: dict[Id, bytes] = {}
        for begin in range(0, len(ids), _IDS_AT_ONCE):
            some = ids.slice(begin, _IDS_AT_ONCE)
            rows = np.zeros((len(some), self.scheme.row_words), np.uint64)
            with self._store.view() as view:
                numbers = view.numbers_of(Entries(some, np.zeros(len(some), np.uint32), rows))
                there = view.records(numbers[numbers >= 0].tolist())
            found |= {record.id: record.metadata for record in there}
        return found

    def would_replace(self, documents: intake.Documents) -> list[Id]:
        """The ids of documents that are stored with other metadata or another content."""
        entries = self._intake.entries(documents)
        with self._store.view() as view:
            places = changed_places(entries, view)
        return list(entries.ids.take(int_array(places)).to_pylist())

    def near_sets(
        self,
        features: WeightedFeatures,
        *,
        threshold: float,
        limit: int | None,
        known: Collection[int],
    ) -> NearSets:
        """Search an index by similarity for the most similar documents of each feature set.

        Records are returned of the documents whose numbers are not `known` yet.
        """
        assert self._settings.sets is not None
        least = similar.threshold_of(self._settings, threshold, None)
        asked = SetDocuments(
            self._settings.sets, *features.arrays, threads=self._fingerprinter.threads
        )
        with self._searching() as (view, sets):
            offsets, numbers, similarities = sets.search(
                asked,
                threshold=least,
                limit=limit,
                now=now_ms(),
                skip=None,
                threads=self._threads,
                isa="auto",
            )
            new = [number for number in np.unique(numbers).tolist() if number not in known]
            records = dict(zip(new, view.records(new), strict=True))
        return NearSets(offsets, numbers, similarities, records)

    def ids(self) -> Iterator[Id]:
        """All ids, in the order of insertion."""
        for entries in self._store.entries(whole=False):
            yield from entries.ids.to_pylist()

    def entries(self) -> Iterator[Entries]:
        """All stored documents in batches, in the order of insertion."""
        yield from self._store.entries()

    def stats(self, buckets: int = 5) -> IndexStats:
        """Documents, bytes, segments, ages, and the sizes of the `buckets` largest buckets.

        Counting buckets reads all fingerprints, which takes time; 0 skips it.
        """
        require_buckets(buckets)
        return stats_of(self._store, self._settings, self.scheme, buckets)

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

    def _query_sets(
        self, documents: Any, max_distance: Any, threshold: Any, limit: int | None
    ) -> Answers:
        least = similar.threshold_of(self._settings, threshold, max_distance)
        require_limit(limit)
        self._require_document(documents)
        parts = [
            self._intake.rows_and_sets(columns)
            for columns in intake.columns_of(documents, self.scheme)
        ]
        with self._searching() as (view, sets):
            answers = [
                similar.query_all(
                    view,
                    sets,
                    asked,
                    rows,
                    threshold=least,
                    limit=limit,
                    now=now_ms(),
                    threads=self._threads,
                )
                for rows, _, asked in parts
            ]
        return together(answers)

    def _searching(self) -> AbstractContextManager[tuple[DiskView, SetView]]:
        assert isinstance(self._store, DiskStore)
        return self._store.searching()

    def _require_document(self, document: Any) -> None:
        if isinstance(document, Fingerprints) or (
            isinstance(document, int) and not isinstance(document, bool)
        ):
            raise SettingError(
                "this index finds documents by similarity, which needs the documents themselves, "
                "not their fingerprints; give the text, or create an index with max_distance"
            )

    def _life(self, ttl: str | float | None) -> int | None:
        """The milliseconds that a document lives, None for ever."""
        chosen = self._settings.ttl if ttl is None else seconds_of(ttl, "ttl")
        if chosen is None:
            return None
        if self._settings.sets is None:
            raise SettingError("ttl needs an index by similarity; create one with a threshold")
        return max(1, round(chosen * 1000))

    def rules(
        self,
        add: Any = "new",
        keep_per_group: Any = 1,
        ttl: str | float | None = None,
        threshold: float | None = None,
        max_distance: int | None = None,
        limit: int | None = DEFAULT_LIMIT,
    ) -> Rules:
        """The arguments of `check`, checked."""
        require_limit(limit)
        if self._settings.sets is not None:
            threshold = similar.threshold_of(self._settings, threshold, max_distance)
        return Rules(add, keep_per_group, self._life(ttl), threshold, max_distance, limit)

    def _checked(self, change: Change, one: One, rules: Rules) -> Verdict:
        assert isinstance(change, DiskChange)
        return similar.check(change, one, rules, self._settings, now_ms())

    def _checked_by_distance(
        self, change: Change, documents: intake.Documents, rules: Rules
    ) -> Verdict:
        """Check a batch of one document in an index by distance; fingerprints have no content."""
        entries = self._intake.entries(documents)
        if entries.made:
            entries, _ = named_apart(entries, change)
        held = documents.held
        id = entries.ids[0].as_py()
        more = None if rules.needed is None else rules.needed + 1
        question = self._question(
            entries.rows,
            ~entries.filled,
            None if isinstance(held, Fingerprints) else [held],
            rules.max_distance,
            rules.threshold,
            more,
        )
        found = answer(change, question, self._settings, self._fingerprinter, 1)
        matches = found.spread(entries.filled).without(id, rules.needed)
        verdict = _verdict(matches, rules)
        if verdict.added:
            put = change.put(entries)
            change.settle()
            number = None if put.stored else change.number_of(id)
        else:
            number = change.number_of(matches[0].id)
        if number is not None:
            change.saw(number, now_ms())
        return verdict

    def _verdicts_of(self, documents: intake.Documents, rules: Rules) -> Iterator[Verdict]:
        """What checks would say that add nothing."""
        more = None if rules.needed is None else rules.needed + 1
        held = documents.held
        if isinstance(held, Fingerprints):
            answers = self.query_many(held, rules.max_distance, rules.threshold, more)
        elif self._settings.sets is None:
            rows, words = self._fingerprinter.rows(held)
            answers = self._asked(
                rows, words == 0, [held], rules.max_distance, rules.threshold, more
            )
        else:
            answers = self._query_sets(held, rules.max_distance, rules.threshold, more)
        for place, id in enumerate(documents.ids.to_pylist()):
            yield _verdict(answers.without(id, rules.needed, place), rules)


def _verdict(matches: list[Match], rules: Rules) -> Verdict:
    is_new = len(matches) < rules.keep_per_group
    shown = MatchList(matches[: rules.limit])
    added = rules.add == "always" or (rules.add == "new" and is_new)
    return Verdict(is_new, shown[0] if shown else None, shown, added)


def _require_no_replacing(change: Change, entries: Entries) -> None:
    """Refuse documents whose ids belong to others with other content."""
    if entries.made:
        return
    taken = changed_places(entries, change)
    if len(taken):
        first = entries.ids[int(taken[0])].as_py()
        raise InputError(
            f"the index has other content under {len(taken):,} of the ids, the first of them "
            f"{first!r}; nothing of this batch was stored: use other ids, or --replace"
        )


def _putting(
    entries: list[Entries], life: int | None, *, settles: bool, refuse: bool
) -> Callable[[Change], Put]:
    """Stores entries in a transaction; `refuse` makes one that would replace another an error."""
    timed = [replace(some, ttl=life) for some in entries]

    def put(change: Change) -> Put:
        if refuse:
            for each in timed:
                _require_no_replacing(change, each)
        changed = sum(map(change.put, timed), Put())
        if settles:
            change.settle()
        return changed

    return put


def _put(change: Change, entries: Entries) -> None:
    change.put(entries)
    change.settle()
