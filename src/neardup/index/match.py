"""Results of a query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, NamedTuple, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.index.entries import Id, id_order


class Match(NamedTuple):
    """A document near the queried one.

    `similarity` is the true similarity if the index stores texts or features, else None.
    """

    id: Id
    distance: int
    similarity: float | None = None
    metadata: Any = None


class Verdict(NamedTuple):
    """The answer to `check`.

    `is_new` says whether the document is no near-duplicate of one in the index (or, with
    `keep_per_group`, of fewer than that many), `match` is the most similar document, `matches` are
    all of them up to the limit, and `added` says whether the document is in the index now.
    """

    is_new: bool
    match: Match | None
    matches: list[Match]
    added: bool

    def __repr__(self) -> str:
        parts = ["new" if self.is_new else "seen"]
        if self.match is not None:
            similar = self.match.similarity
            far = f"{self.match.distance} bits" if similar is None else f"similarity {similar:.4f}"
            parts.append(f"best match {self.match.id!r:.40}, {far}")
            parts.append(f"{len(self.matches)} in all")
        parts.append("added" if self.added else "not added")
        return f"<Verdict {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        from neardup.index.notebook import verdict_html

        return verdict_html(self)


class MatchList(list[Match]):
    """The matches of one query: a list that a notebook shows as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from neardup.index.notebook import matches_html

        return matches_html(self)


class Answers(Sequence[list[Match]]):
    """The matches of many queries, one list each, nearest or most similar first, ties by id.

    `Match` objects are created on access; `table` returns all matches as columns.
    """

    def __init__(
        self,
        offsets: NDArray[np.int64],
        ids: list[Id],
        distances: NDArray[np.uint16],
        similarities: NDArray[np.float64] | None,
        metadata: list[Any] | None,
        *,
        by_similarity: bool = False,
    ) -> None:
        self._in_order = in_order_of_similarity if by_similarity else in_order
        self.offsets = offsets
        self.ids = ids
        self.distances = distances
        self.similarities = similarities
        self.metadata = metadata

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, place: int) -> list[Match]: ...
    @overload
    def __getitem__(self, place: slice) -> list[list[Match]]: ...

    def __getitem__(self, place: int | slice) -> list[Match] | list[list[Match]]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(f"there are {len(self)} answers, none at {place}")
        place %= len(self)
        begin, end = int(self.offsets[place]), int(self.offsets[place + 1])
        return self._in_order([self._match(at) for at in range(begin, end)])

    def __iter__(self) -> Iterator[list[Match]]:
        return (self[place] for place in range(len(self)))

    def table(self) -> pa.Table:
        """One row per match: number of the query, id, distance, similarity.

        Ids are strings unless all of them are numbers.
        """
        rows = [(place, match) for place, matches in enumerate(self) for match in matches]
        ids = [match.id for _, match in rows]
        if any(isinstance(id, str) for id in ids):
            ids = [str(id) for id in ids]
        return pa.table(
            {
                "query": pa.array([place for place, _ in rows], pa.int64()),
                "id": pa.array(ids, None if ids else pa.int64()),
                "distance": pa.array([match.distance for _, match in rows], pa.uint16()),
                "similarity": pa.array([match.similarity for _, match in rows], pa.float64()),
            }
        )

    def __repr__(self) -> str:
        queries, matches = len(self), int(self.offsets[-1])
        return (
            f"<Answers to {queries:,} {'query' if queries == 1 else 'queries'}: "
            f"{matches:,} {'match' if matches == 1 else 'matches'}>"
        )

    def _repr_html_(self) -> str:
        from neardup.index.notebook import answers_html

        return answers_html(self)

    def spread(self, asked: NDArray[np.bool_]) -> Answers:
        """Answers for all documents of `asked`, with no matches where it is False."""
        counts = np.zeros(len(asked), np.int64)
        counts[asked] = np.diff(self.offsets)
        offsets = np.concatenate(([0], np.cumsum(counts)))
        spread = copy(self)
        spread.offsets = offsets
        return spread

    def without(self, id: Id, limit: int | None, place: int = 0) -> list[Match]:
        """The matches of the query at `place` without the document of that id, at most `limit`."""
        begin, end = int(self.offsets[place]), int(self.offsets[place + 1])
        others = [at for at in range(begin, end) if self.ids[at] != id]
        return self._in_order([self._match(at) for at in others[:limit]])

    def _match(self, at: int) -> Match:
        return Match(
            self.ids[at],
            int(self.distances[at]),
            None if self.similarities is None else float(self.similarities[at]),
            None if self.metadata is None else self.metadata[at],
        )


def in_order(matches: list[Match]) -> list[Match]:
    """Sort by distance, ties by id."""
    return MatchList(matches if len(matches) < 2 else sorted(matches, key=_order))


def in_order_of_similarity(matches: list[Match]) -> list[Match]:
    """Sort by similarity, the most similar first, ties by id."""
    return MatchList(matches if len(matches) < 2 else sorted(matches, key=_similarity_order))


def _similarity_order(match: Match) -> tuple[float, tuple[bool, Id]]:
    return -(match.similarity or 0.0), id_order(match.id)


def _order(match: Match) -> tuple[int, tuple[bool, Id]]:
    return match.distance, id_order(match.id)


def together(parts: Sequence[Answers]) -> Answers:
    """The answers of several batches of queries by similarity."""
    if len(parts) == 1:
        return parts[0]
    none = np.zeros(0)
    sizes = [np.zeros(1, np.int64), *(np.diff(part.offsets) for part in parts)]
    metadata = [part.metadata or [None] * len(part.ids) for part in parts]
    return Answers(
        np.cumsum(np.concatenate(sizes)),
        [id for part in parts for id in part.ids],
        np.concatenate([none.astype(np.uint16), *(part.distances for part in parts)]),
        np.concatenate(
            [none, *(part.similarities for part in parts if part.similarities is not None)]
        ),
        [about for part in metadata for about in part] if any(p.metadata for p in parts) else None,
        by_similarity=True,
    )
