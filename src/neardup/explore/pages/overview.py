"""`/`: what went, why, and whether it was right; what was run, and plots that lead further."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from neardup.collection.settings import DedupSettings
from neardup.explore.http import RefusedError, Request, Response
from neardup.explore.rendering import counted, number, short, size
from neardup.explore.site import Site
from neardup.frozen import dataclass
from neardup.report.markup import Markup
from neardup.report.plots.histograms import (
    cluster_bars,
    distance_plot,
    length_plot,
    similarity_bars,
)
from neardup.report.plots.matrix import matrix_table
from neardup.report.plots.seconds import seconds_plot
from neardup.runs import Histogram, Run

_BYTES = ("memory", "max_document")
_LONGEST_NAME = 300  # of a value in a matrix
_LONGEST_LINKS = 40_000  # characters of the links of a matrix; a page has up to 100 kB


@dataclass(frozen=True)
class Tile:
    """A number of the run, and where its documents can be seen."""

    name: str
    value: int
    address: str | None = None


@dataclass(frozen=True)
class ChosenSetting:
    """A setting of the run, and whether it is another one than the default."""

    name: str
    value: str
    differs: bool


@dataclass(frozen=True)
class Figure:
    """A plot with its caption; without a plot, the caption says why there is none."""

    heading: str
    plot: Markup | None
    caption: str


def show(site: Site, request: Request) -> Response:
    """The overview; without a run, the way to the laboratory."""
    if site.opened is None:
        return Response.redirect(site.url("/lab"))
    run = site.run
    decided, doubtful = run.queue_progress(site.reviewer)
    column = request.first("by") or None
    columns = _columns(run)
    if column is not None and column not in columns:
        why = "its values do not repeat" if column in run.columns else "there is no such column"
        raise RefusedError(404, f"There is no table by {column!r}: {why}.")
    return site.page(
        request,
        "overview.html",
        summary=run.summary,
        threshold=run.threshold,
        settings=list(_settings(run)),
        facts=list(_facts(run)),
        tiles=list(_tiles(site, run)),
        decided=decided,
        doubtful=doubtful,
        figures=list(_figures(site, run)),
        seconds=seconds_plot(run.summary["seconds"]),
        matrix=_matrix(site, run, column),
        column=column,
        columns=columns,
        sources=len(run.sources),
    )


def _tiles(site: Site, run: Run) -> Iterator[Tile]:
    told = run.summary
    every = site.url("/clusters")
    yield Tile("documents", told["documents"])
    yield Tile("kept", told["kept"])
    yield Tile("removed", told["removed"], every)
    yield Tile("clusters", told["clusters"], every)
    yield Tile("exact copies removed", told["exact_copies"])
    weakest = site.url("/clusters", sort="weakest")
    yield Tile("near copies removed", told["near_copies"], weakest)
    if told.get("unproven"):
        chains = site.url("/clusters", chains=True, sort="weakest")
        yield Tile("removed below the threshold", told["unproven"], chains)


def _settings(run: Run) -> Iterator[ChosenSetting]:
    usual = DedupSettings.of().as_dict()
    for name, value in run.summary["settings"].items():
        differs = usual.get(name) != value
        yield ChosenSetting(name.replace("_", "-"), _value(name, value), differs)


def _value(name: str, value: Any) -> str:
    if value is None:
        return "automatic" if name in ("text", "id") else "none"
    if name in _BYTES:
        return size(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, int) else str(value)


def _facts(run: Run) -> Iterator[tuple[str, str]]:
    """What is known about the run that is neither a setting nor an input."""
    told = run.summary
    yield "scheme", told["scheme"]
    yield "plan", told["plan"]
    if told.get("reason"):
        yield "why this plan", told["reason"]
    if told.get("candidates") is not None:
        yield "candidates compared", number(told["candidates"])
    if told.get("pairs") is not None:
        yield "pairs listed", number(told["pairs"])
    for name, noun in (("empty", "empty documents"), ("rejected", "rows not read")):
        if told.get(name):
            yield noun, number(told[name])
    if told.get("left_out"):
        yield "files left out", number(told["left_out"])
    if told.get("resumed"):
        yield "resumed", ", ".join(told["resumed"])
    if told.get("peak_megabytes"):
        yield "peak memory", f"{told['peak_megabytes']:,.1f} MB"
    yield "versions", ", ".join(f"{name} {what}" for name, what in told["versions"].items())


def _figures(site: Site, run: Run) -> Iterator[Figure]:
    yield _similarities(site, run)
    sizes = run.size_histogram()
    (counts,) = sizes.series.values()
    used = next((place for place, count in enumerate(counts) if count), 0)
    clusters = cluster_bars(
        _spans(sizes)[used:],
        counts[used:],
        link=lambda least, most: site.url("/clusters", size_least=least, size_most=most),
    )
    yield Figure(
        "Sizes of clusters",
        clusters,
        "Clusters by their number of documents. A bar opens its clusters."
        if clusters
        else "There are no clusters.",
    )
    lengths = run.length_histogram()
    yield Figure(
        "Lengths",
        length_plot(_spans(lengths), lengths.series["kept"], lengths.series["removed"]),
        "Kept and removed documents by their number of words.",
    )
    (pairs,) = run.distance_histogram().series.values()
    bits = run.summary["settings"]["bits"]
    bars = distance_plot(np.array(pairs, np.int64), np.zeros(0, np.int64), bits)
    yield Figure(
        "Fingerprints of pairs",
        bars,
        "The listed pairs by the bits in which their fingerprints differ."
        if bars
        else "No pairs are listed whose fingerprints could differ.",
    )


def _similarities(site: Site, run: Run) -> Figure:
    found = run.similarity_histogram()
    removed = found.series["removed"]
    misses = found.series["near_misses"]
    holds = {begin: count for begin, count in zip(found.begins, removed, strict=True) if count}

    def link(low: float, high: float) -> str:
        # Near misses are in no cluster; the queue shows them.
        if low not in holds:
            return site.url("/review")
        # Exact copies have the similarity 1; they are not in the plot.
        bounds = {"similarity_least": f"{low:.4g}", "similarity_most": f"{min(high, 0.9999):.4g}"}
        return site.url("/clusters", sort="weakest", **bounds)

    edges = [*found.begins, found.ends[-1]] if found.begins else []
    plot = (
        similarity_bars(edges, removed, run.threshold, misses=misses, link=link) if edges else None
    )
    copies = run.summary["exact_copies"]
    said = [
        "Removed documents by their similarity to the one they duplicate. A bar opens their "
        "clusters."
        if plot
        else "No document was removed, except exact copies."
    ]
    if copies:
        said.append(f"{counted(copies, 'exact copy', 'exact copies')} left out.")
    if run.floor is None:
        said.append("To see near misses below the threshold, run dedup with --floor 0.6.")
    elif any(misses):
        said.append("Near misses are pairs below the threshold; both documents were kept.")
    return Figure("Similarity of removed documents", plot, " ".join(said))


def _matrix(site: Site, run: Run, column: str | None) -> Markup | None:
    """Which source repeats which; a cell of sources opens the clusters with that source."""
    if column is None and len(run.sources) < 2:
        return None
    found = run.matrix(column)
    names = [name[-_LONGEST_NAME:] for name in found.names]
    counts = [list(row) for row in found.counts]
    columns = list(names)
    if found.against is not None:
        columns.append("other collection")
        counts = [[*row, more] for row, more in zip(counts, found.against, strict=True)]
    sources = found.names[: len(names) - bool(found.rest)] if column is None else ()
    links = {name[-_LONGEST_NAME:]: site.url("/clusters", source=name) for name in sources}
    fits = sum(map(len, links.values())) * len(columns) <= _LONGEST_LINKS
    noun = "source" if column is None else short(column)
    return matrix_table(
        names,
        columns,
        counts,
        caption=f"Removed documents by their {noun} (rows) and the {noun} of the document they "
        "repeat (columns).",
        link=(lambda name, _column: links.get(name, "")) if fits else None,
    )


def _columns(run: Run) -> list[str]:
    """The columns whose values may repeat each other: not the ids, nor the one with the texts."""
    told = run.summary["columns"]
    texts = told["text"] if len(told["text"]) == 1 else ()
    return [name for name in run.columns if name not in (told["id"], *texts)]


def _spans(histogram: Histogram) -> list[tuple[int, int]]:
    bins = zip(histogram.begins, histogram.ends, strict=True)
    return [(int(begin), int(end)) for begin, end in bins]
