"""A stored run: what it removed and why, page by page."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from neardup.collection.source import Progress
from neardup.runs.views import (
    ChainStep,
    ClusterPage,
    ClusterQuery,
    ClusterRow,
    DocumentRow,
    Histogram,
    Link,
    Matrix,
    QueueItem,
    SourceCount,
    ThresholdTable,
)


def open_run(path: str | os.PathLike[str], *, progress: Progress | None = None) -> Run:
    """Open the folder that `dedup` wrote; its index is built once, and told to `progress`."""
    raise NotImplementedError


class Run:
    """A run in a folder; any number of threads may ask at the same time.

    Documents are known by their place: the row of the input, from 0. The documents of the other
    collection (`--against`) that the run names have the places after that.
    """

    path: Path
    summary: dict[str, Any]
    threshold: float  # a similarity
    floor: float | None
    has_all_pairs: bool
    documents: int
    clusters_count: int
    columns: tuple[str, ...]
    fields: tuple[str, ...]
    sources: tuple[SourceCount, ...]

    def document(self, place: int) -> DocumentRow:
        """The document at a place; `InputError` if there is none."""
        raise NotImplementedError

    def documents_at(self, places: Iterable[int]) -> dict[int, DocumentRow]:
        """Several documents."""
        raise NotImplementedError

    def find(self, id_text: str, other: bool = False) -> int | None:
        """The place of a document by its id, written as text."""
        raise NotImplementedError

    def suggestions(self, id_text: str, count: int = 3) -> list[str]:
        """Ids that resemble one that was not found."""
        raise NotImplementedError

    def text(self, place: int) -> str:
        """The text that was compared: the fields of a record as lines, terms with commas."""
        raise NotImplementedError

    def texts(self, places: Iterable[int]) -> dict[int, str]:
        """The texts of several documents."""
        raise NotImplementedError

    def row(self, place: int) -> dict[str, Any]:
        """All columns of a document."""
        raise NotImplementedError

    def clusters(self, query: ClusterQuery) -> ClusterPage:
        """A page of clusters."""
        raise NotImplementedError

    def cluster(self, number: int) -> ClusterRow:
        """One cluster; `InputError` if there is none of this number."""
        raise NotImplementedError

    def members(self, number: int, page: int = 1, per_page: int = 25) -> list[DocumentRow]:
        """A page of the members: the kept ones, then the others by similarity, descending."""
        raise NotImplementedError

    def chain(self, place: int) -> list[ChainStep]:
        """The chain of pairs from a removed document to the one it duplicates, which ends it."""
        raise NotImplementedError

    def links(self, places: Sequence[int]) -> list[Link]:
        """The listed pairs among some documents."""
        raise NotImplementedError

    def neighbours(self, place: int, limit: int = 20) -> list[Link]:
        """The listed pairs of a document, the most similar first; `a` is the document."""
        raise NotImplementedError

    def similarity_histogram(self) -> Histogram:
        """Removals and near misses by similarity, in bins of 0.01; exact copies apart."""
        raise NotImplementedError

    def size_histogram(self) -> Histogram:
        """Clusters by size."""
        raise NotImplementedError

    def distance_histogram(self) -> Histogram:
        """Listed pairs by the distance of their fingerprints."""
        raise NotImplementedError

    def length_histogram(self) -> Histogram:
        """Kept and removed documents by their number of words."""
        raise NotImplementedError

    def matrix(self, column: str | None = None) -> Matrix:
        """Which source repeats which, or which value of a column."""
        raise NotImplementedError

    def threshold_table(self) -> ThresholdTable:
        """What other thresholds would give."""
        raise NotImplementedError

    def queue(self, start: int = 0, count: int = 1, by: str = "") -> list[QueueItem]:
        """Doubtful pairs, the most doubtful first, without those that are decided."""
        raise NotImplementedError

    def queue_progress(self, by: str = "") -> tuple[int, int]:
        """How many doubtful pairs are decided, and how many there are."""
        raise NotImplementedError
