"""What the report page shows: numbers, the largest clusters with texts, the weakest removals."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neardup.cluster import Clusters
from neardup.deduplication.repeat import repeat_code
from neardup.frozen import dataclass
from neardup.kernels.columns import distinct
from neardup.report.dedup_page.clusters import ChainStep, ClusterView, DocumentView
from neardup.report.dedup_page.page import DedupReport, report_page

if TYPE_CHECKING:
    from neardup.collection.rarity import Rarity
    from neardup.comparison.record_result import RecordComparison
    from neardup.comparison.spans import SharedSpans
    from neardup.deduplication.result import Result

CLUSTERS = 10
PAIRS = 10
_MEMBERS = 4
_LONGEST_TEXT = 100_000  # characters; more of a document is not shown
_LONGEST_CHAIN = 12


@dataclass(frozen=True, eq=False)
class ShownCluster:
    """A cluster of `size` documents: the place of the one it is around, and some removed rows.

    `weakest` is the lowest similarity of its removed documents.
    """

    size: int
    around: int
    others: NDArray[np.int64]
    weakest: float | None


def largest_clusters(result: Result, count: int = CLUSTERS) -> list[ShownCluster]:
    """The largest clusters; a document of the other collection that one is around is counted."""
    clustering = result.clustering
    order = np.argsort(-clustering.sizes, kind="stable")[:count]
    starts = np.searchsorted(clustering.cluster, order)
    found = []
    for number, start in zip(order.tolist(), starts.tolist(), strict=True):
        size = int(clustering.sizes[number])
        rows = np.arange(start, start + size)
        around = int(clustering.around[start])
        others = rows[~clustering.kept[rows] & (clustering.place[rows] != around)]
        weakest = float(clustering.similarity[others].min()) if len(others) else None
        size += around >= len(result.collected)
        found.append(ShownCluster(size, around, others[:_MEMBERS], weakest))
    return found


def weakest_removals(result: Result) -> NDArray[np.int64]:
    """The rows of the removed documents that are least similar to the one they duplicate.

    Without those that people have decided on, which nobody needs to look at again.
    """
    clustering = result.clustering
    rows = np.flatnonzero(~clustering.kept & ~result.decided)
    return rows[np.argsort(clustering.similarity[rows], kind="stable")[:PAIRS]]


def shown_places(result: Result) -> NDArray[np.int64]:
    """The places of the documents that the page shows, of both collections."""
    clustering = result.clustering
    weakest = weakest_removals(result)
    places = [clustering.place[weakest], clustering.kept_for[weakest]]
    for shown in largest_clusters(result):
        places += [clustering.place[shown.others], np.array([shown.around])]
    return distinct(np.concatenate([np.zeros(0, np.int64), *places]))


def near_similarities(result: Result) -> NDArray[np.float64]:
    """The similarity of the removed documents to the one they duplicate.

    Without exact copies, and without what people have decided.
    """
    clustering, kinds = result.clustering, result.both.kinds
    near = (
        ~clustering.kept & ~result.decided & (kinds[clustering.place] != kinds[clustering.kept_for])
    )
    return np.asarray(clustering.similarity[near])


def page_of(
    result: Result, texts: Mapping[int, str], summary: Mapping[str, Any], folder: str = ""
) -> str:
    """The page as HTML; `texts` are those of the `shown_places`, by place.

    `folder` is the folder that the page will be in.
    """
    views = _Views(result, texts)
    distance = result.evidence.distance
    report = DedupReport(
        title="Near-duplicates",
        summary=summary,
        settings={
            key: "–" if value is None else str(value) for key, value in summary["settings"].items()
        },
        command=summary["command"]
        or repeat_code(result, folder or "out", summary.get("format", "parquet")),
        similarities=near_similarities(result),
        true_by_distance=np.bincount(
            np.zeros(0, np.int64) if distance is None else distance,
            minlength=result.scheme.bits + 1,
        ),
        false_by_distance=result.found.false_by_distance,
        bits=result.scheme.bits,
        cluster_sizes=result.clustering.sizes,
        threshold=result.settings.least,
        curve=result.found.curve,
        seconds=summary["seconds"],
        largest=tuple(map(views.cluster, largest_clusters(result))),
        weakest=tuple(map(views.removal, weakest_removals(result).tolist())),
        folder=folder and shlex.quote(folder),
    )
    return report_page(report)


def chain_of(result: Result, row: int) -> tuple[ChainStep, ...]:
    """The chain from a removed document to the kept one, which ends it; none if they are a pair.

    The end of a long chain is an ellipsis.
    """
    clustering = result.clustering
    if clustering.via is None or clustering.link is None:
        return ()
    kept_for = int(clustering.kept_for[row])
    steps: list[ChainStep] = []
    here: int | None = row
    while here is not None and len(steps) < _LONGEST_CHAIN:
        following = int(clustering.via[here])
        is_cut = len(steps) + 1 == _LONGEST_CHAIN and following != kept_for
        name = "…" if is_cut else result.id_at(following)
        steps.append(ChainStep(name, float(clustering.link[here])))
        here = None if following == kept_for else row_of(clustering, following)
    return tuple(steps) if len(steps) > 1 else ()


def row_of(clustering: Clusters, place: int) -> int | None:
    """The row of a document; None if it has none."""
    found = np.flatnonzero(clustering.place == place)
    return int(found[0]) if len(found) else None


class _Views:
    """Documents as the page shows them."""

    def __init__(self, result: Result, texts: Mapping[int, str]) -> None:
        self._result = result
        self._texts = texts

    def cluster(self, shown: ShownCluster) -> ClusterView:
        others = tuple(self._member(row, shown.around) for row in shown.others.tolist())
        return ClusterView(
            shown.size,
            self._document(shown.around, None),
            others,
            self._role(shown.around),
            shown.weakest,
        )

    def removal(self, row: int) -> ClusterView:
        """A removed document and the one it is a duplicate of, as a cluster of two."""
        kept_for = int(self._result.clustering.kept_for[row])
        return ClusterView(
            2, self._document(kept_for, None), (self._member(row, kept_for),), self._role(kept_for)
        )

    def _role(self, place: int) -> str:
        result = self._result
        if place >= len(result.collected):
            source = None if result.origins is None else result.sources_at(np.array([place]))[0]
            known = None if source is None else source.as_py()
            return "in the other collection" if known is None else f"in the index, from {known}"
        row = row_of(self._result.clustering, place)
        return "kept" if row is None or self._result.clustering.kept[row] else "removed too"

    def _member(self, row: int, beside: int) -> DocumentView:
        """A removed document, compared with the one at the place `beside`."""
        clustering = self._result.clustering
        place, similarity = int(clustering.place[row]), float(clustering.similarity[row])
        return self._document(
            place,
            similarity,
            chain_of(self._result, row),
            self._record(beside, place),
            self._shared(place, beside),
        )

    @cached_property
    def _rarity(self) -> Rarity | None:
        from neardup.deduplication.rarity import rarity_of

        return rarity_of(self._result)

    def _record(self, beside: int, place: int) -> RecordComparison | None:
        """The parts of the similarity of two documents; None if they are texts without a model."""
        settings = self._result.settings
        fields = settings.scheme.fields
        if fields is None and settings.fitted is None:
            return None
        from neardup.comparison.records import compare_records, fields_of_text

        texts = self._texts[beside], self._texts[place]
        a, b = (
            {"text": text} if fields is None else fields_of_text(text, fields.names)
            for text in texts
        )
        known = self._result.fingerprinter
        # A result that was loaded has no table of weights.
        usable = None if known.scheme.needs_idf and known.idf is None else known.with_threads(1)
        return compare_records(a, b, settings, fingerprinter=usable, rarity=self._rarity, of_b=True)

    def _shared(self, place: int, beside: int) -> SharedSpans | None:
        """What stands of one text in another; of documents that are compared by containment."""
        settings = self._result.settings
        if not settings.is_containment or settings.scheme.fields is not None:
            return None
        from neardup.comparison.spans import find_spans

        return find_spans(self._texts[place], self._texts[beside])

    def _document(
        self,
        place: int,
        similarity: float | None,
        chain: tuple[ChainStep, ...] = (),
        record: RecordComparison | None = None,
        shared: SharedSpans | None = None,
    ) -> DocumentView:
        text = self._texts[place][:_LONGEST_TEXT]
        settings = self._result.settings
        measure = settings.similarity if settings.is_containment else "similarity"
        return DocumentView(
            self._result.id_at(place), text, similarity, chain, record, measure, shared
        )
