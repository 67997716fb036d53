"""Deliveries: what an index remembers of where its documents came from, and what it tells of them.

The index itself is above this folder; a run without one imports nothing of it.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
import orjson
from numpy.typing import NDArray

from neardup.collection.collected import Collected
from neardup.collection.source import DocumentProgress, Source
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.frozen import dataclass

Places = NDArray[np.int64]


@dataclass(frozen=True)
class Delivery:
    """What is added to an index together: `source` names the input, `key` stands for its content.

    The same documents with the same ids from the same source have the same key, so that a run that
    is repeated recognizes the documents it has already added.
    """

    source: str
    key: str

    @property
    def metadata(self) -> bytes:
        """What the index stores with each of its documents, as JSON."""
        return orjson.dumps({"source": self.source, "delivery": self.key})


@dataclass(frozen=True, eq=False)
class Ignored:
    """Documents of an index that do not count: those of the delivery, and those it may replace.

    A run that is repeated must not find the documents that it has added itself.
    """

    delivery: Delivery | None = None
    replaced: frozenset[int | str] = frozenset()

    def has(self, id: int | str, metadata: bytes) -> bool:
        """Whether a document with this id and metadata does not count."""
        own = self.delivery is not None and metadata == self.delivery.metadata
        return own or id in self.replaced


@dataclass(frozen=True, eq=False)
class Origins:
    """Where documents of an index come from: the source of their delivery, and when they came.

    `added` is in milliseconds since 1970; 0 if it is not known. `own` is the source of the
    collection that is compared with them, and `numbered` says that its documents have no ids but
    the numbers of their rows.
    """

    own: str
    numbered: bool
    sources: list[str | None]
    added: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NearDocuments:
    """The documents of an index that are near some of a collection, and the pairs.

    A pair is of the first of a group of exact copies of the collection (`a`, ascending) and of a
    document of the index (`b`, its place in `collected`, which is in the order of insertion).
    `names` are the ids as the index has them.
    """

    collected: Collected
    names: list[int | str]
    sources: list[str | None]
    added: NDArray[np.int64]
    a: Places
    b: Places
    similarity: NDArray[np.float64]

    @property
    def best(self) -> tuple[Places, Places, NDArray[np.float64]]:
        """The most similar document of each that has one; of several, the one added first."""
        order = np.lexsort((self.b, -self.similarity, self.a))
        a, rows = np.unique(self.a[order], return_index=True)
        rows = order[rows]
        return a, self.b[rows], self.similarity[rows]


@runtime_checkable
class AskedSource(Source, Protocol):
    """An index that is asked which of its documents are near, and not read as a whole."""

    @property
    def reason(self) -> str:
        """How documents of the index are found."""

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
        """The most similar document of the index for each of a collection or, with `every`, all.

        Those that are `ignored` do not count.
        """

    def only(self, near: NearDocuments) -> Source:
        """The documents that were found."""


@runtime_checkable
class RememberingSource(Source, Protocol):
    """An index that is read as a whole."""

    def without(self, ignored: Ignored) -> RememberingSource:
        """All documents, except those that are ignored."""

    def origins(self) -> tuple[list[str | None], NDArray[np.int64]]:
        """The sources of all documents, and when they were added."""
