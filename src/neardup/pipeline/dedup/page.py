"""What the report page shows of a result: the numbers, and a few clusters with their texts."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import numpy as np

from neardup.pipeline.dedup.shown import PAIRS, ShownCluster, largest_clusters
from neardup.pipeline.dedup.texts import texts_at
from neardup.report.dedup_page import ClusterView, DedupReport, DocumentView, report_page

if TYPE_CHECKING:
    from neardup.pipeline.dedup.result import Result

_LONGEST_TEXT = 100_000  # characters; more of a document is not shown


def page_of(result: Result) -> str:
    """The page as HTML."""
    found, settings = result.found, result.settings
    views = _Views(result)
    report = DedupReport(
        title="Near-duplicates",
        summary=result.summary,
        settings={key: str(value) for key, value in result.summary["settings"].items()},
        command=repeat_command(result),
        similarities=found.similarity,
        true_by_distance=np.bincount(found.distance, minlength=result.scheme.bits + 1),
        false_by_distance=found.false_by_distance,
        bits=result.scheme.bits,
        cluster_sizes=result.groups.sizes,
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
    """The command line that does the same again, but for the names of the files."""
    settings = result.summary["settings"]
    options = [
        part
        for name, value in settings.items()
        if value is not None and name != "memory"
        for part in (f"--{name}", str(value))
    ]
    return shlex.join(["neardup", "dedup", "INPUT", "-o", "OUT", *options])


class _Views:
    """Documents as the page takes them."""

    def __init__(self, result: Result) -> None:
        self._result = result
        self._others = result.texts
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
        one = _view(result.collected.ids[a], result.texts[a], None)
        return ClusterView(2, one, (_view(result.other_ids[b], self._others[b], similarity),))

    def _member(self, row: int, kept: bool = False) -> DocumentView:
        groups = self._result.groups
        place, similarity = int(groups.place[row]), float(groups.similarity[row])
        known = None if kept or np.isnan(similarity) else similarity
        return _view(self._result.collected.ids[place], self._result.texts[place], known)


def _view(id: object, text: str, similarity: float | None) -> DocumentView:
    return DocumentView(str(id), text[:_LONGEST_TEXT], similarity)
