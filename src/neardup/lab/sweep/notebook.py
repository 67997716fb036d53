"""A sweep in a notebook: a table for each threshold and, with matplotlib, plots."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

from neardup.lab.sweep.result import Sweep, SweepRow
from neardup.notebook import block, heading, image, note, plots, table

_MOST_ROWS = 100
_PLOTS = ("precision-recall", "time-recall")


def sweep_html(sweep: Sweep) -> str:
    """The HTML of a sweep."""
    documents = f"{sweep.documents:,} documents"
    if sweep.empty:
        documents += f" ({sweep.empty:,} empty)"
    return block(note(f"{documents}, {sweep.scheme}"), *_parts(sweep), _plots(sweep))


def _parts(sweep: Sweep) -> Iterator[str]:
    for place, threshold in enumerate(sweep.thresholds):
        title = f"{sweep.similarity} ≥ {threshold:g}"
        if sweep.true_pairs is not None:
            title += f", {sweep.true_pairs[place]:,} true pairs"
        rows = [row for row in sweep.rows if row.threshold == threshold]
        yield heading(title)
        columns = {name: cells for name, cells in _columns(rows).items() if _any_known(cells)}
        yield table(list(columns), list(zip(*columns.values(), strict=True))[:_MOST_ROWS])
        if len(rows) > _MOST_ROWS:
            yield note(f"{len(rows) - _MOST_ROWS:,} more rows")


def _any_known(cells: list[float | str | None]) -> bool:
    """Whether a column has a value to show."""
    return any(cell is not None for cell in cells)


def _columns(rows: list[SweepRow]) -> dict[str, list[float | str | None]]:
    return {
        "plan": [row.plan for row in rows],
        "bits": [row.bits for row in rows],
        "candidates": [row.candidates for row in rows],
        "true": [row.true for row in rows],
        "false": [row.false for row in rows],
        "precision": [row.precision for row in rows],
        "recall": [row.recall for row in rows],
        "predicted recall": [row.predicted_recall for row in rows],
        "seconds": [row.seconds["alone"] for row in rows],
    }


def _plots(sweep: Sweep) -> str:
    """Two plots of the highest threshold; none without matplotlib, which is optional."""
    if find_spec("matplotlib") is None:
        return note("Plots need matplotlib: pip install 'neardup[plots]'")
    from neardup.lab.sweep.plots import figure_svg, sweep_figures

    figures = sweep_figures(sweep, sweep.thresholds[0])
    drawn = [(name, figures[name]) for name in _PLOTS if name in figures]
    return plots(image(figure_svg(figure), name) for name, figure in drawn)
