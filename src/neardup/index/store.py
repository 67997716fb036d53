"""Interfaces of both stores (view, change, store), and how repeated ids are handled."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_hexdigest

from neardup.index.disk.turns import WaitedTooLongError
from neardup.index.entries import Entries, Id, Record, id_array
from neardup.index.match import Match
from neardup.kernels.index_tables import Matches

Numbers = NDArray[np.uint64]
Found = TypeVar("Found")


@dataclass(frozen=True)
class Put:
    """Counts of documents put into an index.

    `stored` documents are new or changed; `replaced` of them replaced one of the same id. `renamed`
    of them had no id, and the id generated for them was in use.
    """

    stored: int = 0
    replaced: int = 0
    renamed: int = 0

    def __add__(self, other: Put) -> Put:
        return Put(
            self.stored + other.stored,
            self.replaced + other.replaced,
            self.renamed + other.renamed,
        )


@dataclass(frozen=True)
class Part:
    """A segment of an index, or its newest documents: documents, removed ones, bytes of tables."""

    documents: int
    removed: int
    bytes: int


class View(ABC):
    """A state of the index; documents have numbers, ascending in the order of insertion."""

    @abstractmethod
    def __len__(self) -> int:
        """Number of documents."""

    @abstractmethod
    def find(
        self, rows: NDArray[np.uint64], *, max_distance: int, limit: int | None, threads: int
    ) -> Matches:
        """The documents nearest to each row; of equally near ones, those added first."""

    @abstractmethod
    def number_of(self, id: Id) -> int | None:
        """The number of the document with this id, or None."""

    @abstractmethod
    def numbers_of(self, entries: Entries) -> NDArray[np.int64]:
        """The number of the stored document with the id of each entry; -1 if there is none."""

    @abstractmethod
    def ids_of(self, numbers: Sequence[int]) -> list[Id]:
        """The ids of these documents."""

    @abstractmethod
    def metadata_of(self, numbers: Sequence[int]) -> list[Any] | None:
        """The metadata of these documents, None for those without; None if none has any."""

    @abstractmethod
    def records(self, numbers: Sequence[int]) -> list[Record]:
        """These documents as stored."""

    @abstractmethod
    def numbers(self) -> Numbers:
        """The numbers of all documents, ascending."""

    @abstractmethod
    def times(self, now: int) -> tuple[NDArray[np.int64], int]:
        """When the documents were added, as far as it is known, and how many have expired."""

    @abstractmethod
    def seen(self, number: int) -> tuple[int, int] | None:
        """How often a document was seen again, and when for the last time; None if never."""


class Change(View):
    """A view that can be changed and becomes the next state."""

    @abstractmethod
    def put(self, entries: Entries) -> Put:
        """Add documents; replace those of the same ids, unless they are unchanged.

        Documents with made ids replace nothing: if the id is in use, they get another.
        """

    @abstractmethod
    def remove(self, numbers: Numbers) -> None:
        """Remove documents."""

    @abstractmethod
    def expired(self, now: int) -> Numbers:
        """The numbers of the documents that have expired, ascending."""

    @abstractmethod
    def saw(self, number: int, now: int) -> None:
        """Count that a document was seen again."""

    @abstractmethod
    def settle(self) -> None:
        """Merge segments where that makes queries faster."""

    @abstractmethod
    def compact(self) -> None:
        """Merge segments and free the space of removed documents."""


class Store(ABC):
    """The storage of an index."""

    @abstractmethod
    def view(self) -> AbstractContextManager[View]:
        """One state of the index, valid inside the context."""

    @abstractmethod
    def nearest(self, row: bytes, max_distance: int, limit: int | None) -> list[Match]:
        """The matches of one row, given as bytes, by fingerprint alone: the fast path."""

    @abstractmethod
    def change(self, work: Callable[[Change], Found]) -> Found:
        """Run `work` in one transaction; it may run more than once before it commits."""

    def change_together(self, work: Callable[[Change], Found]) -> Found:
        """Run `work` in a transaction, perhaps together with that of other threads."""
        return self.change(work)

    def change_all(self, works: Sequence[Callable[[Change], Any]]) -> list[Any]:
        """Run the work of many callers in one transaction; return a result or an error for each."""
        try:
            return self.change(lambda change: [work(change) for work in works])
        except WaitedTooLongError as error:
            return [error] * len(works)
        except Exception as error:
            if len(works) == 1:
                return [error]
            return [outcome for work in works for outcome in self.change_all([work])]

    def adds_quickly(self, count: int) -> bool:
        """Whether this many documents can be added without merging, and without waiting."""
        return False

    @abstractmethod
    def entries(self, *, whole: bool = True) -> Iterator[Entries]:
        """All documents in batches, in insertion order.

        Metadata and contents are left out unless `whole`.
        """

    @abstractmethod
    def sizes(self) -> dict[str, int]:
        """Size of each part in bytes."""

    @abstractmethod
    def parts(self) -> list[Part]:
        """The segments, the largest first, and the newest documents."""

    @abstractmethod
    def largest_buckets(self, count: int) -> list[int]:
        """The sizes of the largest sets of distinct fingerprints that agree on a mask."""

    @abstractmethod
    def close(self) -> None:
        """Release all resources."""


def named_apart(entries: Entries, view: View) -> tuple[Entries, set[Id]]:
    """Give new ids to documents with made ids that are in use; return all, and the new ids.

    A new id is the old one with a hash of the content appended, so that a document added again
    gets the same id and is recognized.
    """
    ids = entries.ids.to_pylist()
    taken = changed_places(entries, view)
    new: set[Id] = set()
    while len(taken):
        hashes = _content_hashes(entries.take(taken))
        for place, hash in zip(taken.tolist(), hashes, strict=True):
            ids[place] = f"{ids[place]}#{hash}"
            new.add(ids[place])
        some = replace(entries.take(taken), ids=id_array([ids[place] for place in taken.tolist()]))
        taken = taken[changed_places(some, view)]
    return (replace(entries, ids=id_array(ids)) if new else entries), new


def count_of(entries: Entries, ids: set[Id]) -> int:
    """Number of documents that have one of these ids."""
    return sum(id in ids for id in entries.ids.to_pylist()) if ids else 0


def changed_places(entries: Entries, view: View) -> NDArray[np.int64]:
    """The places of documents whose ids belong to others, or to them with other content."""
    old = view.numbers_of(entries)
    there = np.flatnonzero(old >= 0)
    return there[~unchanged(entries, there, view.records(old[there].tolist()))]


def _content_hashes(entries: Entries) -> list[str]:
    columns = _stored_columns(entries)
    hashes = []
    for words, row, about, content, features in zip(
        entries.words.tolist(), entries.rows, *columns, strict=True
    ):
        bits = row.tobytes() if words else b""
        hashes.append(
            xxh3_64_hexdigest(
                b"%d %d %b%b%b%b" % (words, len(about), about, content, features, bits)
            )
        )
    return hashes


def _stored_columns(entries: Entries) -> list[list[bytes]]:
    """Metadata, contents and features of documents; b"" for none."""
    return [
        [b""] * len(entries) if column is None else column.to_pylist()
        for column in (entries.metadata, entries.contents, entries.features)
    ]


def last_of_each(entries: Entries) -> Entries:
    """Drop all but the last of documents with the same id."""
    if len(entries) < 2 or np.diff(np.sort(entries.hashes)).all():
        return entries
    last = dict(zip(entries.ids.to_pylist(), range(len(entries)), strict=True))
    return entries.take(np.array(sorted(last.values()), np.int64))


def unchanged(
    entries: Entries, places: NDArray[np.int64], records: Sequence[Record]
) -> NDArray[np.bool_]:
    """Which documents at these places equal the stored records; empty ones have no row."""
    some = entries.take(places)
    return np.array(
        [
            is_same(record, words, about, content, features, row.tobytes())
            for record, words, about, content, features, row in zip(
                records, some.words.tolist(), *_stored_columns(some), some.rows, strict=True
            )
        ],
        np.bool_,
    )


def is_same(
    record: Record, words: int, metadata: bytes, content: bytes, features: bytes, row: bytes
) -> bool:
    """Whether a document is as it is stored, but for the times."""
    return (
        record.words == words
        and record.metadata == metadata
        and record.content == content
        and record.features == features
        and (not words or record.row == row)
    )
