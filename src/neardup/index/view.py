"""A view: one state of an index, to be asked; what both kinds of index offer inside."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from neardup.index.entries import Entries, Record
from neardup.index.ids import Id
from neardup.index.match import Match
from neardup.kernels.living import Matches

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
