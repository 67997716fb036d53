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


class Change(View):
    """A view that can be changed and becomes the next state.

    It is queried before it is changed, and each id is put or removed at most once.
    """

    @abstractmethod
    def put(self, entries: Entries) -> Put:
        """Add documents; replace those of the same ids, unless they are unchanged.

        Documents with made ids replace nothing: if the id is in use, they get another.
        """

    @abstractmethod
    def remove(self, numbers: Numbers) -> None:
        """Remove documents."""

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

    @abstractmethod
    def entries(self, *, whole: bool = True) -> Iterator[Entries]:
        """All documents in batches, in insertion order.

        Metadata and contents are left out unless `whole`.
        """

    @abstractmethod
    def sizes(self) -> dict[str, int]:
        """Size of each part in bytes."""

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
    taken = _taken(entries, view)
    new: set[Id] = set()
    while len(taken):
        hashes = _content_hashes(entries.take(taken))
        for place, hash in zip(taken.tolist(), hashes, strict=True):
            ids[place] = f"{ids[place]}#{hash}"
            new.add(ids[place])
        some = replace(entries.take(taken), ids=id_array([ids[place] for place in taken.tolist()]))
        taken = taken[_taken(some, view)]
    return (replace(entries, ids=id_array(ids)) if new else entries), new


def count_of(entries: Entries, ids: set[Id]) -> int:
    """Number of documents that have one of these ids."""
    return sum(id in ids for id in entries.ids.to_pylist()) if ids else 0


def _taken(entries: Entries, view: View) -> NDArray[np.int64]:
    """The places of documents whose ids belong to other documents."""
    old = view.numbers_of(entries)
    there = np.flatnonzero(old >= 0)
    return there[~unchanged(entries, there, view.records(old[there].tolist()))]


def _content_hashes(entries: Entries) -> list[str]:
    nothing = [b""] * len(entries)
    metadata = nothing if entries.metadata is None else entries.metadata.to_pylist()
    contents = nothing if entries.contents is None else entries.contents.to_pylist()
    hashes = []
    for words, row, about, content in zip(
        entries.words.tolist(), entries.rows, metadata, contents, strict=True
    ):
        bits = row.tobytes() if words else b""
        hashes.append(
            xxh3_64_hexdigest(b"%d %d %b%b%b" % (words, len(about), about, content, bits))
        )
    return hashes


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
    metadata = [b""] * len(some) if some.metadata is None else some.metadata.to_pylist()
    contents = [b""] * len(some) if some.contents is None else some.contents.to_pylist()
    return np.array(
        [
            record.words == words
            and record.metadata == about
            and record.content == content
            and (not words or np.array_equal(record.row, row))
            for record, words, about, content, row in zip(
                records, some.words.tolist(), metadata, contents, some.rows, strict=True
            )
        ],
        np.bool_,
    )
