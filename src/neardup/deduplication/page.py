"""What the report page shows: the numbers, the largest clusters with texts, the weakest pairs."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from neardup.deduplication.rows import texts_at
from neardup.report.dedup_page.page import ClusterView, DedupReport, DocumentView, report_page
from neardup.settings import SETTINGS

if TYPE_CHECKING:
    from neardup.deduplication.result import Result

CLUSTERS = 10
PAIRS = 10
_MEMBERS = 4
_LONGEST_TEXT = 100_000  # characters; more of a document is not shown


@dataclass(frozen=True, eq=False)
class ShownCluster:
    """A cluster of `size` documents: the row of its kept one, and some rows of others."""

    size: int
    first: int
    others: NDArray[np.int64]


def largest_clusters(result: Result, count: int = CLUSTERS) -> list[ShownCluster]:
    """The largest clusters; where none is kept, the first document comes first."""
    clustering = result.clustering
    order = np.argsort(-clustering.sizes, kind="stable")[:count]
    starts = np.searchsorted(clustering.cluster, order)
    found = []
    for number, start in zip(order.tolist(), starts.tolist(), strict=True):
        size = int(clustering.sizes[number])
        rows = np.arange(start, start + size)
        kept = rows[clustering.kept[rows]]
        others = rows[~clustering.kept[rows]][:_MEMBERS]
        first = int(kept[0]) if len(kept) else int(others[0])
        found.append(ShownCluster(size, first, others[others != first]))
    return found


def shown_places(result: Result) -> NDArray[np.int64]:
    """The places of the documents that the page shows, of the result's own source."""
    rows = [np.append(one.others, one.first) for one in largest_clusters(result)]
    places = [result.clustering.place[some] for some in rows]
    weakest = result.weakest_rows(PAIRS)
    pairs = [result.found.a[weakest]]
    if result.other_source is result.source:
        pairs.append(result.found.b[weakest])
    return np.concatenate([np.zeros(0, np.int64), *places, *pairs])


def page_of(result: Result, texts: Mapping[int, str]) -> str:
    """The page as HTML; `texts` are those of the `shown_places`, by place."""
    found, settings = result.found, result.settings
    views = _Views(result, texts)
    report = DedupReport(
        title="Near-duplicates",
        summary=result.summary,
        settings={key: str(value) for key, value in result.summary["settings"].items()},
        command=repeat_command(result),
        similarities=found.similarity,
        true_by_distance=np.bincount(found.distance, minlength=result.scheme.bits + 1),
        false_by_distance=found.false_by_distance,
        bits=result.scheme.bits,
        cluster_sizes=result.clustering.sizes,
        threshold=settings.threshold
        if settings.similarity != "hamming"
        else 1 - settings.threshold / result.scheme.bits,
        curve=found.curve,
        seconds=result.seconds,
        largest=tuple(map(views.cluster, largest_clusters(result))),
        weakest=tuple(map(views.pair, result.weakest_rows(PAIRS).tolist())),
    )
    return report_page(report)


def repeat_command(result: Result) -> str:
    """The command line that repeats the run, without the names of the files."""
    settings = result.summary["settings"]
    options = [
        part
        for name, value in settings.items()
        if value is not None and name != "memory"
        for part in (SETTINGS[name].option, str(value))
    ]
    return shlex.join(["neardup", "dedup", "INPUT", "-o", "OUT", *options])


class _Views:
    """Documents as the page shows them."""

    def __init__(self, result: Result, texts: Mapping[int, str]) -> None:
        self._result = result
        self._texts = self._others = texts
        if result.other_source is not result.source:
            weakest = result.found.b[result.weakest_rows(PAIRS)]
            self._others = texts_at(result.other_source, weakest)

    def cluster(self, shown: ShownCluster) -> ClusterView:
        others = tuple(map(self._member, shown.others.tolist()))
        return ClusterView(shown.size, self._member(shown.first, kept=True), others)

    def pair(self, row: int) -> ClusterView:
        """A pair near the threshold, as a cluster of two."""
        result, found = self._result, self._result.found
        a, b, similarity = int(found.a[row]), int(found.b[row]), float(found.similarity[row])
        one = _view(result.collected.ids[a], self._texts[a], None)
        return ClusterView(2, one, (_view(result.other_ids[b], self._others[b], similarity),))

    def _member(self, row: int, kept: bool = False) -> DocumentView:
        clustering = self._result.clustering
        place, similarity = int(clustering.place[row]), float(clustering.similarity[row])
        known = None if kept or np.isnan(similarity) else similarity
        return _view(self._result.collected.ids[place], self._texts[place], known)


def _view(id: object, text: str, similarity: float | None) -> DocumentView:
    return DocumentView(str(id), text[:_LONGEST_TEXT], similarity)
