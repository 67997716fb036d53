"""Lists of clusters: filtered, sorted and cut into pages, by arrays in memory."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import InputError
from neardup.kernels.columns import distinct
from neardup.runs.decided import COMPLETELY
from neardup.runs.search import parsed
from neardup.runs.views import ClusterQuery

if TYPE_CHECKING:
    from neardup.runs.decided import Decided
    from neardup.runs.index_file import IndexFile

Numbers = NDArray[np.int64]

_MOST_IDS = 10_000
_DIGITS = 18  # of a number below 2^63
_KEPT_SEARCHES = 16


class ClusterListing:
    """Finds clusters; orders and recent searches are kept."""

    def __init__(self, index: IndexFile) -> None:
        self._index = index
        self._orders: dict[tuple[str, bool], Numbers] = {}
        self._searches: dict[str, NDArray[np.bool_]] = {}
        self._mutex = threading.Lock()

    def __len__(self) -> int:
        return int(self._index.about["clusters"])

    def found(self, query: ClusterQuery, decided: Decided) -> Numbers:
        """The numbers of all clusters that a query asks for, in its order."""
        order = self._order(query.sort, query.descending)
        chosen = self._chosen(query, decided)
        return order if chosen is None else order[chosen[order]]

    def _chosen(self, query: ClusterQuery, decided: Decided) -> NDArray[np.bool_] | None:
        array = self._index.array
        conditions: list[NDArray[np.bool_]] = []
        if query.size_least is not None:
            conditions.append(array("size") >= query.size_least)
        if query.size_most is not None:
            conditions.append(array("size") <= query.size_most)
        if query.similarity_least is not None or query.similarity_most is not None:
            conditions.append(self._with_removals(query.similarity_least, query.similarity_most))
        if query.chains:
            conditions.append(array("chains") > 0)
        if query.source is not None:
            conditions.append(self._of_source(query.source))
        if query.undecided:
            state = decided.clusters(array("cluster"), array("size"))
            conditions.append(state != COMPLETELY)
        if query.search.strip():
            conditions.append(self._searched(query.search))
        if not conditions:
            return None
        return np.asarray(np.logical_and.reduce(conditions))

    def _order(self, sort: str, descending: bool) -> Numbers:
        """The numbers of all clusters in an order; unknown values come last.

        `source` is by the number of sources, then by the source of the kept document.
        """
        with self._mutex:
            found = self._orders.get((sort, descending))
            if found is None:
                found = self._sorted(sort, descending)
                self._orders[sort, descending] = found
            return found

    def _sorted(self, sort: str, descending: bool) -> Numbers:
        numbers = np.arange(len(self))
        if sort == "number":
            return numbers[::-1] if descending else numbers
        if sort == "source":
            names = [name for name, *_ in self._index.about["sources"]]
            rank = np.full(len(names) + 1, np.nan)  # the last is for no source
            rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
            values = [rank[self._index.array("around_source")], self._index.array("sources")]
        else:
            values = [self._index.array(sort).astype(np.float64)]
        # NaN sorts last; equal clusters are in the order of their numbers.
        return np.lexsort([-key if descending else key for key in values])

    def _with_removals(self, least: float | None, most: float | None) -> NDArray[np.bool_]:
        """The clusters in which a document was removed with such a similarity."""
        similarity = self._index.array("removed_similarity")
        chosen = similarity >= (0 if least is None else least)
        chosen &= similarity <= (np.inf if most is None else most)
        found = np.zeros(len(self), np.bool_)
        found[self._index.array("cluster")[self._index.array("removed")[chosen]]] = True
        return found

    def _of_source(self, name: str) -> NDArray[np.bool_]:
        names = [one for one, *_ in self._index.about["sources"]]
        if name not in names:
            raise InputError(f"the run has no source {name!r}")
        number = names.index(name)
        begins = self._index.array("source_begins")
        found = np.zeros(len(self), np.bool_)
        found[self._index.array("source_clusters")[begins[number] : begins[number + 1]]] = True
        return found

    def _searched(self, search: str) -> NDArray[np.bool_]:
        with self._mutex:
            found = self._searches.get(search)
        if found is None:
            clusters = self._index.array("cluster")[self.places(search)]
            found = np.zeros(len(self), np.bool_)
            found[clusters[clusters >= 0]] = True
            with self._mutex:
                self._searches[search] = found
                while len(self._searches) > _KEPT_SEARCHES:
                    del self._searches[next(iter(self._searches))]
        return found

    def places(self, search: str) -> Numbers:
        """The documents that a search finds, ascending."""
        asked = parsed(search, self._index.about["search_columns"])
        found = [self.with_id(asked.id)]
        if asked.match:
            # One string for all is four times as fast as a row for each.
            rows = self._index.rows_of(
                "SELECT group_concat(rowid) FROM words WHERE words MATCH ?", (asked.match,)
            )
            text = rows[0][0]
            if text:
                found.append(np.fromstring(text, np.int64, sep=","))
        return distinct(np.concatenate(found))

    def with_id(self, begun: str, most: int = _MOST_IDS) -> Numbers:
        """The documents with this id, or one that begins so, in the order of ids."""
        numbers = self._index.about["ids_are_numbers"]
        documents = self._index.about["documents"]
        rows: list[tuple[Any, ...]] = []
        for is_number, sides in zip(numbers, ("place < ?", "place >= ?"), strict=True):
            for low, high in _ranges(begun, is_number):
                rows += self._index.rows_of(
                    "SELECT place FROM documents WHERE id >= ? AND id < ? "
                    f"AND +{sides} ORDER BY id LIMIT ?",
                    (low, high, documents, most),
                )
        return np.array([row[0] for row in rows], np.int64)


def _ranges(begun: str, is_number: bool) -> list[tuple[Any, Any]]:
    """The ranges of ids that begin so."""
    if not begun:
        return []
    if not is_number:
        following = chr(ord(begun[-1]) + 1) if ord(begun[-1]) < 0x10FFFF else "\U0010ffff\uffff"
        following = "\ue000" if following == "\ud800" else following
        return [(begun, begun[:-1] + following)]
    if begun == "0":
        return [(0, 1)]
    if not (begun.isascii() and begun.isdecimal()) or begun[0] == "0" or len(begun) > _DIGITS:
        return []
    number = int(begun)
    more = range(_DIGITS + 1 - len(begun))
    return [(number * 10**digits, (number + 1) * 10**digits) for digits in more]
