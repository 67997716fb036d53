"""The report page of a deduplication: numbers, plots, clusters with diffs, and settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.comparison.diff_text import DiffCounts
from neardup.report.dedup_page import plots
from neardup.report.dedup_page.diff import SideBySide, side_by_side
from neardup.report.dedup_page.plots import duration, seconds_plot
from neardup.visible import visible

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
    "candidates": "candidates compared",
    "pairs": "pairs in pairs.parquet",
    "false": "candidates refused",
    "unproven": "removed below the threshold",
    "wall_seconds": "seconds in all",
}
_UNNAMED = ("command", "within")
_LONGEST_NAME = 300
# Number of diffs that are expanded initially, in each list of clusters.
_OPEN = 3


@dataclass(frozen=True)
class ChainStep:
    """The next document of a chain of pairs, and its similarity to the one before."""

    id: str
    similarity: float


@dataclass(frozen=True)
class DocumentView:
    """A document and its similarity to the kept one, which has None.

    `chain` has the documents that connect it to the kept one, up to that, if it has no pair with
    the kept one.
    """

    id: str
    text: str
    similarity: float | None
    chain: tuple[ChainStep, ...] = ()


@dataclass(frozen=True)
class ClusterView:
    """A cluster of `size` documents: the kept one and a few of the others.

    `role` says what happened to the "kept" one, if it is something else.
    """

    size: int
    kept: DocumentView
    others: tuple[DocumentView, ...]
    role: str = "kept"


@dataclass(frozen=True)
class DedupReport:
    """The data of the report page.

    `summary` is as in `summary.json`; `documents`, `removed` and `kept` must be in it.
    `similarities` are those of the removed documents to the ones they duplicate, without exact
    copies. The pairs that removed a document (true) and refused candidates (false) are counted by
    the distance of their fingerprints. `curve` has (similarity, probability to be found) of the
    plan; it is empty if the plan finds every pair for certain, and None if the probability is
    unknown. `weakest` has the removed documents with the lowest similarity, each as a cluster of
    two; `threshold` is a similarity like theirs.
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


@dataclass(frozen=True)
class _Plot:
    heading: str
    svg: str | None
    text: str
    """The caption; without a plot, the text in its place."""


@dataclass(frozen=True)
class _Copy:
    id: str
    similarity: str
    chain: str
    changes: str
    diff: SideBySide
    is_open: bool


@dataclass(frozen=True)
class _Cluster:
    size: str
    kept: str
    role: str
    copies: tuple[_Copy, ...]
    unshown: int


def report_page(report: DedupReport) -> str:
    """One self-contained HTML page: no network, no scripts, no other files.

    Text from documents is escaped, and its control characters are made visible.
    """
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string(
        files(__package__).joinpath("page.html.j2").read_text(encoding="utf-8")
    )
    return template.render(
        title=_name(report.title),
        headline=_headline(report.summary),
        warnings=[visible(warning) for warning in report.summary.get("warnings", ())],
        unproven=int(report.summary.get("unproven", 0)),
        inputs=list(_inputs(report.summary)),
        tiles=[
            (label, _figure(key, report.summary[key]))
            for key, label in _TILES.items()
            if key in report.summary
        ],
        numbers=[*_numbers(report.summary), *_certainty(report.curve)],
        plots=list(_plots(report)),
        largest=list(_clusters(report.largest)),
        weakest=list(_clusters(report.weakest)),
        threshold=f"{report.threshold:g}",
        settings=[(_name(key), visible(str(value))) for key, value in report.settings.items()],
        command=visible(report.command),
    )


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


def _inputs(summary: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each input by name: files, size and date, as far as they are known."""
    for key, label in (("inputs", ""), ("against", "compared with ")):
        for one in summary.get(key, ()):
            parts = []
            if one["files"] is not None:
                files = "1 file" if one["files"] == 1 else f"{one['files']:,} files"
                parts = [files, f"{one['bytes']:,} bytes", f"modified {one['modified']}"]
            yield label + _name(one["name"]), ", ".join(parts)


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


def _plots(report: DedupReport) -> Iterator[_Plot]:
    pairs = plots.similarity_plot(report.similarities, report.threshold)
    yield _Plot(
        "Similarity of removed documents",
        pairs,
        "The removed documents by their similarity to the one they duplicate, computed exactly on "
        "the features. Exact copies are left out."
        if pairs
        else "No document is removed, except exact copies.",
    )
    distances = plots.distance_plot(report.true_by_distance, report.false_by_distance, report.bits)
    if report.false_by_distance.any():
        yield _Plot(
            "Fingerprints of candidates",
            distances,
            "True candidates removed a document; false ones were compared and refused.",
        )
    else:
        yield _Plot(
            "Fingerprints of pairs",
            distances,
            "The pairs that removed a document, by the bits in which their fingerprints differ."
            if distances
            else "No pairs are listed whose fingerprints could differ.",
        )
    clusters = plots.cluster_plot(report.cluster_sizes)
    yield _Plot(
        "Sizes of clusters",
        clusters,
        "The bars are for 2 documents, 3 to 4, 5 to 8, and so on, doubling."
        if clusters
        else "There are no clusters.",
    )
    curve = plots.curve_plot(report.curve or (), report.threshold)
    if curve:
        yield _Plot(
            "What the plan finds",
            curve,
            "The probability that the plan finds a pair, by the similarity of the pair.",
        )
    seconds = seconds_plot(report.seconds)
    total = duration(sum(report.seconds.values()))
    yield _Plot(
        "Time",
        seconds,
        f"Seconds per stage, {total} in all." if seconds else "No times were measured.",
    )


def _clusters(views: tuple[ClusterView, ...]) -> Iterator[_Cluster]:
    for place, view in enumerate(views):
        different = [other for other in view.others if other.text != view.kept.text]
        first = different[0] if different and place < _OPEN else None
        yield _Cluster(
            size=f"{view.size:,}",
            kept=_name(view.kept.id),
            role=view.role,
            copies=tuple(_copy(view.kept, other, other is first) for other in view.others),
            unshown=max(0, view.size - 1 - len(view.others)),
        )


def _copy(kept: DocumentView, other: DocumentView, is_open: bool) -> _Copy:
    diff = side_by_side(kept.text, other.text)
    return _Copy(
        id=_name(other.id),
        similarity="" if other.similarity is None else f"similarity {other.similarity:.4f}",
        chain=_chain(other),
        changes=_changes(diff.counts) if kept.text != other.text else "the same text",
        diff=diff,
        is_open=is_open,
    )


def _chain(document: DocumentView) -> str:
    steps = [f"{step.similarity:.4f} → {_name(step.id)}" for step in document.chain]
    return " ".join([f"{_name(document.id)}:", *steps]) if steps else ""


def _changes(counts: DiffCounts) -> str:
    parts = []
    if counts.changes:
        places = "1 change" if counts.changes == 1 else f"{counts.changes:,} changes"
        parts.append(f"{places} (−{counts.words_a:,} +{counts.words_b:,} words)")
    if counts.variants:
        places = "1 place" if counts.variants == 1 else f"{counts.variants:,} places"
        parts.append(f"case or punctuation in {places}")
    return "; ".join(parts) or "the same words"


def _name(text: str) -> str:
    shown = visible(text)
    return shown if len(shown) <= _LONGEST_NAME else shown[: _LONGEST_NAME - 1] + "…"
