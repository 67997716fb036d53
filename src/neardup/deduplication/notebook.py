"""A result in a notebook: numbers, plots, and the pairs nearest the threshold.

Texts are left out: they would be read from the input again each time a cell is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup.deduplication.page import near_similarities
from neardup.kernels.columns import column_of
from neardup.notebook import block, heading, note, plots, table
from neardup.report.plots.histograms import cluster_plot, similarity_plot

if TYPE_CHECKING:
    from neardup.deduplication.result import Result

_NUMBERS = ("documents", "kept", "removed", "exact_copies", "near_copies", "clusters", "pairs")
_PAIRS = 5


def result_html(result: Result) -> str:
    """The HTML of a result."""
    settings, summary, evidence = result.settings, result.summary, result.evidence
    weakest = result.weakest_rows(_PAIRS)
    a, b = evidence.a[weakest], evidence.b[weakest]
    columns = [
        map(str, result.collected.ids.take(column_of(a)).to_pylist()),
        map(str, result.ids_at(b).to_pylist()),
        evidence.similarity[weakest].tolist(),
    ]
    names = ["a", "b", "similarity"]
    if evidence.distance is not None:
        columns.append(evidence.distance[weakest].tolist())
        names.append("distance")
    rows = [list(row) for row in zip(*columns, strict=True)]
    return block(
        heading(f"{settings.limit}, {result.found.plan}"),
        note(str(result.scheme)),
        table(
            [name.replace("_", " ") for name in _NUMBERS],
            [[summary[name] for name in _NUMBERS]],
        ),
        plots(
            [
                similarity_plot(near_similarities(result), settings.least),
                cluster_plot(result.clustering.sizes),
            ]
        ),
        *(
            (
                heading("Removals nearest the threshold"),
                table(names, rows),
            )
            if rows
            else ()
        ),
    )
