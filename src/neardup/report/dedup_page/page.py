"""The report page of a deduplication: numbers, plots, clusters with diffs, and settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.frozen import dataclass
from neardup.report.dedup_page import templates
from neardup.report.dedup_page.clusters import (
    ClusterView,
    largest_clusters,
    shown_name,
    weakest_removals,
)
from neardup.report.look import stylesheet
from neardup.report.markup import Markup, fill, joined
from neardup.report.plots.curves import curve_plot
from neardup.report.plots.histograms import cluster_plot, distance_plot, similarity_plot
from neardup.report.plots.seconds import duration, seconds_plot
from neardup.visible import visible, visible_lines

_TILES = {
    "documents": "documents",
    "kept": "kept",
    "removed": "removed",
    "clusters": "clusters",
    "exact_copies": "exact copies",
    "near_copies": "near copies",
}
_NAMES = {
    "empty": "empty documents",
    "rejected": "rows that could not be read",
    "left_out": "files left out",
    "candidates": "candidates compared",
    "pairs": "pairs in pairs.parquet",
    "false": "candidates refused",
    "unproven": "removed below the threshold",
    "wall_seconds": "seconds in all",
    "peak_megabytes": "peak memory (MB)",
    "format": "format of kept and removed",
}
_UNNAMED = ("command", "within", "started")


@dataclass(frozen=True)
class DedupReport:
    """The data of the report page.

    `summary` is as in `summary.json`; `documents`, `removed` and `kept` must be in it.
    `similarities` are those of the removed documents to the ones they duplicate, without exact
    copies. The pairs that removed a document (true) and refused candidates (false) are counted by
    the distance of their fingerprints. `curve` has (similarity, probability to be found) of the
    plan; it is empty if the plan finds every pair for certain, and None if the probability is
    unknown. `weakest` has the removed documents with the lowest similarity, each as a cluster of
    two; `threshold` is a similarity like theirs. `folder` is the folder of the page, as a shell
    takes it; "" if the page is not to name it.
    """

    title: str
    summary: Mapping[str, Any]
    settings: Mapping[str, str]
    command: str
    similarities: NDArray[np.float64]
    true_by_distance: NDArray[np.int64]
    false_by_distance: NDArray[np.int64]
    bits: int
    cluster_sizes: NDArray[np.int64]
    threshold: float
    curve: tuple[tuple[float, float], ...] | None
    seconds: Mapping[str, float]
    largest: tuple[ClusterView, ...]
    weakest: tuple[ClusterView, ...]
    folder: str = ""


def report_page(report: DedupReport) -> str:
    """One self-contained HTML page: no network, no scripts, no other files.

    Text from documents is escaped, and its control characters are made visible.
    """
    summary = report.summary
    return fill(
        templates.PAGE,
        style=Markup(stylesheet()),
        title=shown_name(report.title),
        headline=_headline(summary),
        when=_when(summary.get("started")),
        hint=fill(templates.HINT, folder=shown_name(report.folder)) if report.folder else Markup(),
        warnings=joined(
            fill(templates.WARNING, warning=visible(warning))
            for warning in summary.get("warnings", ())
        ),
        tiles=joined(
            fill(templates.TILE, label=label, value=_figure(key, summary[key]))
            for key, label in _TILES.items()
            if key in summary
        ),
        numbers=_table([*_numbers(summary), *_certainty(report.curve)], templates.ROW),
        plots=joined(_plots(report)),
        largest=_section(templates.LARGEST, largest_clusters(report.largest)),
        weakest=_section(
            templates.WEAKEST,
            weakest_removals(report.weakest),
            threshold=f"{report.threshold:g}",
            unproven=_unproven(int(summary.get("unproven", 0))),
        ),
        command=visible_lines(report.command),
        inputs=_table(_inputs(summary), templates.INPUT_ROW) or Markup(templates.NO_INPUTS),
        settings=_table(
            [(shown_name(key), visible(str(value))) for key, value in report.settings.items()],
            templates.SETTING_ROW,
        ),
    )


def _table(rows: Iterable[tuple[str, str]], row: str) -> Markup:
    """A table of names and values; nothing if it would be empty."""
    lines = joined(fill(row, name=name, value=value) for name, value in rows)
    return fill(templates.TABLE, rows=lines) if lines else lines


def _section(section: str, clusters: Markup, **more: object) -> Markup:
    """A section with clusters; nothing without any."""
    return fill(section, clusters=clusters, **more) if clusters else clusters


def _when(started: str | None) -> Markup:
    if not started:
        return Markup()
    moment = datetime.fromisoformat(started)
    shown = f"{moment:%Y-%m-%d %H:%M:%S} {moment.tzname() or ''}".strip()
    return fill(templates.WHEN, moment=started, shown=shown)


def _unproven(removed: int) -> Markup:
    if not removed:
        return Markup()
    documents = "document does" if removed == 1 else "documents do"
    return fill(templates.UNPROVEN, removed=f"{removed:,}", documents=documents)


def _headline(summary: Mapping[str, Any]) -> str:
    documents, removed, kept = (int(summary[key]) for key in ("documents", "removed", "kept"))
    noun = "document" if documents == 1 else "documents"
    return f"{documents:,} {noun}: {removed:,} removed, {kept:,} kept"


def _numbers(summary: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The scalar values of the summary that are not in the tiles."""
    for key, value in summary.items():
        plain = isinstance(value, str | int | float | np.number)
        if key in _TILES or key in _UNNAMED or not plain:
            continue
        label = _NAMES.get(key, key.removesuffix("_bytes").replace("_", " "))
        yield visible(label), _figure(key, value)
    decisions = summary.get("decisions")
    if decisions:
        counts = [f"{decisions['obeyed']:,} obeyed"]
        for key, noun in (("stale_count", "out of date"), ("conflict_count", "in conflict")):
            counts += [f"{decisions[key]:,} {noun}"] if decisions[key] else []
        yield "decisions", visible(f"{', '.join(counts)} ({decisions['file']})")
    versions = summary.get("versions", {}).items()
    if versions:
        yield "versions", visible(", ".join(f"{name} {version}" for name, version in versions))


def _inputs(summary: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each input by name: files, size and date, as far as they are known."""
    for key, label in (("inputs", ""), ("against", "compared with ")):
        for one in summary.get(key, ()):
            parts = []
            if one["files"] is not None:
                files = "1 file" if one["files"] == 1 else f"{one['files']:,} files"
                parts = [files, f"{one['bytes']:,} bytes", f"modified {one['modified']}"]
            yield label + shown_name(one["name"]), ", ".join(parts)


def _certainty(curve: tuple[tuple[float, float], ...] | None) -> Iterator[tuple[str, str]]:
    """A sentence on what the plan finds, if it has no curve to plot."""
    if curve is None:
        yield "the plan finds", "an unknown share of the pairs"
    elif not curve:
        yield "the plan finds", "every pair that reaches the threshold, for certain"


def _figure(key: str, value: Any) -> str:
    if key.endswith("_bytes"):
        return f"{int(value) / 1e6:,.1f} MB"
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int | np.integer) else f"{value:,.4g}"


def _plots(report: DedupReport) -> Iterator[Markup]:
    pairs = similarity_plot(report.similarities, report.threshold)
    yield _plot(
        "Similarity of removed documents",
        pairs,
        "The removed documents by their similarity to the one they duplicate, computed exactly on "
        "the features. Exact copies are left out."
        if pairs
        else "No document is removed, except exact copies.",
    )
    distances = distance_plot(report.true_by_distance, report.false_by_distance, report.bits)
    if report.false_by_distance.any():
        yield _plot(
            "Fingerprints of candidates",
            distances,
            "True candidates removed a document; false ones were compared and refused.",
        )
    else:
        yield _plot(
            "Fingerprints of pairs",
            distances,
            "The pairs that removed a document, by the bits in which their fingerprints differ."
            if distances
            else "No pairs are listed whose fingerprints could differ.",
        )
    clusters = cluster_plot(report.cluster_sizes)
    yield _plot(
        "Sizes of clusters",
        clusters,
        "The bars are for 2 documents, 3 to 4, 5 to 8, and so on, doubling."
        if clusters
        else "There are no clusters.",
    )
    curve = curve_plot(report.curve or (), report.threshold)
    if curve:
        yield _plot(
            "What the plan finds",
            curve,
            "The probability that the plan finds a pair, by the similarity of the pair.",
        )
    seconds = seconds_plot(report.seconds)
    total = duration(sum(report.seconds.values()))
    yield _plot(
        "Time",
        seconds,
        f"Seconds per stage, {total} in all." if seconds else "No times were measured.",
    )


def _plot(heading: str, svg: Markup | None, text: str) -> Markup:
    """A plot with its caption; without a plot, the text in its place."""
    drawing = fill(templates.DRAWING, svg=svg) if svg else Markup()
    return fill(templates.FIGURE, heading=heading, drawing=drawing, text=text)
