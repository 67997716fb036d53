"""The report of a distributed run: the largest clusters and the weakest removals, with texts."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.collection.settings import DedupSettings
from neardup.distributed.figures import MEMBERS, SHOWN, Figures
from neardup.report.dedup_page.clusters import ClusterView, DocumentView
from neardup.report.dedup_page.page import DedupReport, report_page

Row = Mapping[str, Any]


class Shown:
    """The clusters and removals of all splits that the report shows."""

    def __init__(self, figures: Figures) -> None:
        clusters: list[tuple[int, list[Row]]] = []
        weakest: list[Row] = []
        for part in figures.parts:
            if "largest" not in part:
                continue
            by_cluster: dict[int, list[Row]] = {}
            sizes: dict[int, int] = {}
            for row, size in zip(
                part["largest"].to_pylist(), part["largest_size"].tolist(), strict=True
            ):
                by_cluster.setdefault(row["cluster"], []).append(row)
                sizes[row["cluster"]] = size
            clusters += [(sizes[number], rows) for number, rows in by_cluster.items()]
            weakest += part["weakest"].to_pylist()
        self.clusters = sorted(clusters, key=lambda one: (-one[0], one[1][0]["_place"]))[:SHOWN]
        self.weakest = sorted(weakest, key=lambda row: (row["similarity"], row["_place"]))[:SHOWN]

    def places(self) -> NDArray[np.int64]:
        """The places of all documents whose texts are shown."""
        rows = [row for _, some in self.clusters for row in some] + self.weakest
        every = [row[name] for row in rows for name in ("_place", "_around", "_kept_for")]
        return np.unique(np.array(every, np.int64))


def page_of(
    shown: Shown,
    figures: Figures,
    settings: DedupSettings,
    texts: Mapping[int, str],
    summary: Mapping[str, Any],
    folder: str,
) -> str:
    """The page as HTML."""
    views = _Views(texts)
    bits = settings.scheme.bits
    return report_page(
        DedupReport(
            title="Near-duplicates",
            summary=summary,
            settings={
                key: "–" if value is None else str(value)
                for key, value in summary["settings"].items()
            },
            command=summary["command"] or "",
            similarities=figures.near_similarities(),
            true_by_distance=figures.distances(bits),
            false_by_distance=np.zeros(bits + 1, np.int64),
            bits=bits,
            cluster_sizes=figures.cluster_sizes(),
            threshold=settings.least,
            curve=(),
            seconds=summary["seconds"],
            largest=tuple(views.cluster(size, rows) for size, rows in shown.clusters),
            weakest=tuple(map(views.removal, shown.weakest)),
            folder=folder and shlex.quote(folder),
        )
    )


class _Views:
    def __init__(self, texts: Mapping[int, str]) -> None:
        self._texts = texts

    def cluster(self, size: int, rows: list[Row]) -> ClusterView:
        around = rows[0]["_around"]
        others = tuple(
            self._document(row["id"], row["_place"], row["similarity"])
            for row in rows[1:][:MEMBERS]
            if row["_place"] != around
        )
        name = next((row["id"] for row in rows if row["_place"] == around), rows[0]["duplicate_of"])
        name = rows[-1]["duplicate_of"] if name is None else name
        return ClusterView(size, self._document(name, around, None), others)

    def removal(self, row: Row) -> ClusterView:
        kept = self._document(row["duplicate_of"], row["_kept_for"], None)
        return ClusterView(2, kept, (self._document(row["id"], row["_place"], row["similarity"]),))

    def _document(self, id: Any, place: int, similarity: float | None) -> DocumentView:
        return DocumentView(str(id), self._texts[place], similarity)
