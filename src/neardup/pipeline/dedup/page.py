"""What the report page shows of a result: the numbers, and a few clusters with their texts."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from neardup.pipeline.dedup.texts import texts_at
from neardup.report.dedup_page import ClusterView, DedupReport, DocumentView, report_page

if TYPE_CHECKING:
    from neardup.pipeline.dedup.result import Result

_CLUSTERS = 10
_MEMBERS = 4
_LONGEST_TEXT = 100_000  # characters; more of a document is not shown


def page_of(result: Result) -> str:
    """The page as HTML."""
    found, settings = result.found, result.settings
    largest, weakest = _largest(result), result.weakest_rows(_CLUSTERS)
    shown = _Texts(result, [*(places for _, _, places in largest)], weakest)
    report = DedupReport(
        title="Near-duplicates",
        summary=result.summary,
        settings={key: str(value) for key, value in result.summary["settings"].items()},
        command=repeat_command(result),
        similarities=found.similarity,
        true_distances=found.distance,
        false_distances=found.false_distances,
        bits=result.scheme.bits,
        cluster_sizes=result.groups.sizes,
        threshold=settings.threshold,
        curve=found.curve,
        seconds=result.seconds,
        largest=tuple(shown.cluster(*cluster) for cluster in largest),
        weakest=tuple(shown.pair(row) for row in weakest.tolist()),
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


Cluster = tuple[int, int, NDArray[np.int64]]


def _largest(result: Result) -> list[Cluster]:
    """The largest clusters: size, the row of the kept document, and some other rows."""
    groups = result.groups
    order = np.argsort(-groups.sizes, kind="stable")[:_CLUSTERS]
    starts = np.searchsorted(groups.cluster, order)
    found = []
    for number, start in zip(order.tolist(), starts.tolist(), strict=True):
        size = int(groups.sizes[number])
        rows = np.arange(start, start + size)
        kept = rows[groups.kept[rows]]
        others = rows[~groups.kept[rows]][:_MEMBERS]
        first = int(kept[0]) if len(kept) else int(others[0])
        found.append((size, first, others[others != first]))
    return found


class _Texts:
    """The texts of all documents that the page shows, read once."""

    def __init__(
        self, result: Result, rows: list[NDArray[np.int64]], weakest: NDArray[np.int64]
    ) -> None:
        self._result = result
        groups = result.groups
        firsts = [first for _, first, _ in _largest(result)]
        in_clusters = groups.place[np.concatenate([np.array(firsts, np.int64), *rows])]
        own = np.concatenate((in_clusters, result.found.a[weakest]))
        self._texts = texts_at(result.source, own)
        self._others = texts_at(result.other_source, result.found.b[weakest])

    def cluster(self, size: int, first: int, others: NDArray[np.int64]) -> ClusterView:
        return ClusterView(size, self._member(first, None), tuple(map(self._other, others)))

    def pair(self, row: int) -> ClusterView:
        """A pair near the threshold, as a cluster of two."""
        found = self._result.found
        a, b = int(found.a[row]), int(found.b[row])
        id_a, id_b = self._result.collected.ids[a], self._result.other_ids[b]
        return ClusterView(
            2,
            DocumentView(str(id_a), self._texts[a][:_LONGEST_TEXT], None),
            (
                DocumentView(
                    str(id_b), self._others[b][:_LONGEST_TEXT], float(found.similarity[row])
                ),
            ),
        )

    def _other(self, row: int) -> DocumentView:
        similarity = float(self._result.groups.similarity[row])
        return self._member(int(row), None if np.isnan(similarity) else similarity)

    def _member(self, row: int, similarity: float | None) -> DocumentView:
        place = int(self._result.groups.place[row])
        id = str(self._result.collected.ids[place])
        return DocumentView(id, self._texts[place][:_LONGEST_TEXT], similarity)
