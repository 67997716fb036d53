"""What both kinds of index have in common inside: views, changes, stores, repeated documents."""

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
    """What came of documents that were put into an index.

    `stored` are new, or changed and so `replaced` one of the same id; `renamed` of them had no id
    of their own, and the one made for them was taken.
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
    """Documents by their numbers, which tell in what order they came."""

    @abstractmethod
    def __len__(self) -> int:
        """How many documents there are."""

    @abstractmethod
    def find(
        self, rows: NDArray[np.uint64], *, max_distance: int, limit: int | None, threads: int
    ) -> Matches:
        """The nearest documents of each row, of those as near the first that came."""

    @abstractmethod
    def number_of(self, id: Id) -> int | None:
        """The number of the document with that id, if there is one."""

    @abstractmethod
    def numbers_of(self, entries: Entries) -> NDArray[np.int64]:
        """The numbers of the documents with the same ids, -1 where there is none."""

    @abstractmethod
    def ids_of(self, numbers: Sequence[int]) -> list[Id]:
        """The ids of documents."""

    @abstractmethod
    def metadata_of(self, numbers: Sequence[int]) -> list[Any] | None:
        """The metadata of documents, None for each without; None if no document has any."""

    @abstractmethod
    def records(self, numbers: Sequence[int]) -> list[Record]:
        """All that is stored of documents."""

    @abstractmethod
    def numbers(self) -> Numbers:
        """The numbers of all documents, ascending."""


class Change(View):
    """A view that is about to become the next state.

    It is asked before it is changed, and each id is put or removed in it once.
    """

    @abstractmethod
    def put(self, entries: Entries) -> Put:
        """Add documents, or replace those of the same ids; those that are just so stay.

        Documents with made ids replace nothing: where the id is taken, they get another.
        """

    @abstractmethod
    def remove(self, numbers: Numbers) -> None:
        """Remove documents."""

    @abstractmethod
    def settle(self) -> None:
        """Tidy up, so that queries are fast."""

    @abstractmethod
    def compact(self) -> None:
        """Forget what is gone for good, and put together what is apart."""


class Store(ABC):
    """Where an index keeps its documents."""

    @abstractmethod
    def view(self) -> AbstractContextManager[View]:
        """One state, to be asked while the context lasts."""

    @abstractmethod
    def nearest(self, row: bytes, max_distance: int, limit: int | None) -> list[Match]:
        """The matches of one row, given as bytes, by fingerprint alone: the shortest way."""

    @abstractmethod
    def change(self, work: Callable[[Change], Found]) -> Found:
        """All of `work`, or nothing of it; it may be done more than once before it holds."""

    @abstractmethod
    def entries(self, *, whole: bool = True) -> Iterator[Entries]:
        """All documents in the order they came, some at a time; or but ids and fingerprints."""

    @abstractmethod
    def sizes(self) -> dict[str, int]:
        """The bytes of every part."""

    @abstractmethod
    def largest_buckets(self, count: int) -> list[int]:
        """The sizes of the largest sets of different fingerprints that agree on a mask."""

    @abstractmethod
    def close(self) -> None:
        """Let go of everything."""


def named_apart(entries: Entries, view: View) -> tuple[Entries, set[Id]]:
    """Documents with made ids, those whose ids other documents have with new ones, and the new.

    A new id has a hash of what the document holds behind the old. So the same documents added
    again get the same ids again, and are found to be there.
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
    """How many documents have one of these ids."""
    return sum(id in ids for id in entries.ids.to_pylist()) if ids else 0


def _taken(entries: Entries, view: View) -> NDArray[np.int64]:
    """The places of documents whose ids are those of others."""
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
    """Of documents with the same id only the last."""
    if len(entries) < 2 or np.diff(np.sort(entries.hashes)).all():
        return entries
    last = dict(zip(entries.ids.to_pylist(), range(len(entries)), strict=True))
    return entries.take(np.array(sorted(last.values()), np.int64))


def unchanged(
    entries: Entries, places: NDArray[np.int64], records: Sequence[Record]
) -> NDArray[np.bool_]:
    """Which documents at these places are just as the records say; empty ones have no row."""
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
