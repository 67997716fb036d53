"""A result in a notebook: numbers, plots, and the pairs nearest the threshold.

Texts are left out: they would be read from the input again each time a cell is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup.notebook import block, heading, note, plots, table
from neardup.report.dedup_page.plots import cluster_plot, similarity_plot

if TYPE_CHECKING:
    from neardup.deduplication.result import Result

_NUMBERS = ("documents", "kept", "removed", "exact_copies", "near_copies", "clusters", "pairs")
_PAIRS = 5


def result_html(result: Result) -> str:
    """The HTML of a result."""
    found, settings, summary = result.found, result.settings, result.summary
    by_bits = settings.similarity == "hamming"
    bits = result.scheme.bits
    threshold = 1 - settings.threshold / bits if by_bits else settings.threshold
    weakest = result.weakest_rows(_PAIRS).tolist()
    rows = [
        [
            str(result.collected.ids[int(found.a[row])]),
            str(result.other_ids[int(found.b[row])]),
            float(found.similarity[row]),
            int(found.distance[row]),
        ]
        for row in weakest
    ]
    return block(
        heading(f"{settings.limit}, {found.plan}"),
        note(str(result.scheme)),
        table(
            [name.replace("_", " ") for name in _NUMBERS],
            [[summary[name] for name in _NUMBERS]],
        ),
        plots(
            [similarity_plot(found.similarity, threshold), cluster_plot(result.clustering.sizes)]
        ),
        *(
            (
                heading("Accepted pairs nearest the threshold"),
                table(["a", "b", "similarity", "distance"], rows),
            )
            if rows
            else ()
        ),
    )
