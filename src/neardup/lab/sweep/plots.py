"""The plots of a sweep: the effect of K and of M, precision, recall, and time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from neardup.figures import (
    INK,
    label_points,
    line_style,
    log_scale,
    new_figure,
    save_figure,
    tidy,
)
from neardup.lab.sweep.result import Sweep, SweepRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Value = Callable[[SweepRow], float | None]
_SYMBOLS: dict[Literal["bands", "band_bits"], str] = {"bands": "M", "band_bits": "K"}


def draw_sweep(sweep: Sweep, folder: Path) -> None:
    """Draw the plots of each threshold; the effect of K or M needs at least two values of it.

    Files are `effect-of-k`, `effect-of-m`, `precision-recall` and `time-recall`, as .png and .svg,
    with the threshold appended to the name if there are several.
    """
    for threshold in sweep.thresholds:
        behind = f"-{threshold:g}" if len(sweep.thresholds) > 1 else ""
        for name, figure in sweep_figures(sweep, threshold).items():
            save_figure(figure, folder, name + behind)


def sweep_figures(sweep: Sweep, threshold: float) -> dict[str, Figure]:
    """The plots of one threshold, by name."""
    rows = [row for row in sweep.rows if row.threshold == threshold]
    title = f"{sweep.documents:,} documents, {sweep.similarity} ≥ {threshold:g}"
    figures = {
        "effect-of-k": _effect(rows, "band_bits", "bands", title),
        "effect-of-m": _effect(rows, "bands", "band_bits", title),
        "precision-recall": _precision_recall(rows, title),
        "time-recall": _time_recall(rows, title),
    }
    return {name: figure for name, figure in figures.items() if figure is not None}


def figure_svg(figure: Figure) -> str:
    """A figure as SVG for a page; text stays text, which takes a third of the space."""
    import matplotlib

    drawn = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "neardup", "svg.fonttype": "none"}):
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()


def pareto_front(rows: Sequence[SweepRow]) -> list[SweepRow]:
    """The rows that no other row beats in both recall and time, by ascending recall."""
    front: list[SweepRow] = []
    known = [row for row in rows if _recall(row) is not None]
    for row in sorted(known, key=lambda row: (-(_recall(row) or 0), row.seconds["alone"])):
        if not front or row.seconds["alone"] < front[-1].seconds["alone"]:
            front.append(row)
    return front[::-1]


def _effect(
    rows: Sequence[SweepRow],
    along: Literal["bands", "band_bits"],
    fixed: Literal["bands", "band_bits"],
    title: str,
) -> Figure | None:
    """Four panels over one parameter of the grid, with a line for each value of the other."""
    grid = [row for row in rows if row.bands is not None]
    values = sorted({getattr(row, fixed) for row in grid})
    steps = sorted({getattr(row, along) for row in grid})
    if len(steps) < 2:
        return None
    figure = new_figure(9.5, 6.6)
    panels: list[Axes] = list(figure.subplots(2, 2).flat)
    what = f"{_SYMBOLS[along]}, " + ("bits of a table" if along == "band_bits" else "tables")
    recall = _recall_name(rows)
    shown: list[tuple[str, Value, Value | None]] = [
        ("candidate pairs", lambda row: row.candidates, lambda row: row.predicted_candidates),
        ("precision", lambda row: row.precision, None),
        (recall, _recall, _predicted_recall if recall == "recall" else None)
        if recall
        else ("true pairs", lambda row: row.true, None),
        ("seconds, if run alone", lambda row: row.seconds["alone"], None),
    ]
    for axes, (name, value, predicted) in zip(panels, shown, strict=True):
        for number, one in enumerate(values):
            line = [row for row in grid if getattr(row, fixed) == one]
            line.sort(key=lambda row: getattr(row, along))
            style = {**line_style(number), "label": f"{_SYMBOLS[fixed]} = {one}"}
            axes.plot(*_known(line, along, value), **style)
        if predicted is not None:
            axes.plot(*_known(grid, along, predicted), "k+", markersize=9, label="predicted")
        if name.startswith(("candidate", "seconds")):
            log_scale(axes)
        axes.set_xticks(steps)
        tidy(axes, what, name)
    _legend(figure, panels[0], len(values) + 1)
    figure.suptitle(title, color=INK, fontsize=10, x=0.01, ha="left")
    return figure


def _known(rows: Sequence[SweepRow], along: str, value: Value) -> tuple[list[int], list[float]]:
    """The x and y values of the points whose y value is known."""
    found = [(getattr(row, along), value(row)) for row in rows]
    points = [(place, height) for place, height in found if height is not None]
    return [place for place, _ in points], [height for _, height in points]


def _precision_recall(rows: Sequence[SweepRow], title: str) -> Figure | None:
    """Precision over recall; bands with the same number of tables are joined by a line."""
    name = _recall_name(rows)
    if name is None:
        return None
    figure = new_figure(7.2, 5.2)
    axes = figure.subplots()
    points: list[tuple[float, float]] = []
    labels: list[str] = []
    for number, (heading, group) in enumerate(_groups(rows).items()):
        known = [
            (recall, row.precision, row)
            for row in group
            if (recall := _recall(row)) is not None and row.precision is not None
        ]
        known.sort(key=lambda found: found[:2])
        axes.plot(
            [recall for recall, _, _ in known],
            [precision for _, precision, _ in known],
            **{**line_style(number), **({} if group[0].bands else {"linestyle": "none"})},
            label=heading,
        )
        points += [(recall, precision) for recall, precision, _ in known]
        labels += [_short(row) for _, _, row in known]
    axes.set_ylim(-0.1, 1.1)  # room for labels
    axes.margins(x=0.12)
    tidy(axes, f"{name} (share of the true pairs found)", "precision (share of candidates)")
    _legend(figure, axes, 4)
    figure.suptitle(title, color=INK, fontsize=10, x=0.01, ha="left")
    label_points(axes, points, labels)
    return figure


def _time_recall(rows: Sequence[SweepRow], title: str) -> Figure | None:
    """Seconds over recall; the Pareto front is filled and joined by a line."""
    name = _recall_name(rows)
    if name is None:
        return None
    figure = new_figure(7.2, 5.2)
    axes = figure.subplots()
    front = pareto_front(rows)
    others = [row for row in rows if row not in front and _recall(row) is not None]
    looks: tuple[tuple[list[SweepRow], dict[str, Any], str], ...] = (
        (front, {"marker": "o", "linestyle": "-", "color": INK}, "Pareto front"),
        (others, {"marker": "o", "linestyle": "none", "mfc": "white", "mec": INK}, "beaten"),
    )
    for group, look, label in looks:
        x, y = [_recall(row) or 0.0 for row in group], [row.seconds["alone"] for row in group]
        axes.plot(x, y, markersize=6, linewidth=1.2, label=label, **look)
    axes.margins(x=0.12, y=0.12)
    log_scale(axes)
    tidy(
        axes,
        f"{name} (share of the true pairs found)",
        "seconds, if run alone (fingerprints, search, verification)",
    )
    _legend(figure, axes, 2)
    figure.suptitle(title, color=INK, fontsize=10, x=0.01, ha="left")
    every = [*front, *others]
    points = [(_recall(row) or 0.0, row.seconds["alone"]) for row in every]
    label_points(axes, points, [_short(row) for row in every])
    return figure


def _groups(rows: Sequence[SweepRow]) -> dict[str, list[SweepRow]]:
    """Bands by their number of tables, every other plan on its own."""
    groups: dict[str, list[SweepRow]] = {}
    for row in rows:
        groups.setdefault(f"M = {row.bands}" if row.bands else row.plan, []).append(row)
    return groups


def _short(row: SweepRow) -> str:
    return f"{row.bands}×{row.band_bits}" if row.bands else row.plan


def _recall(row: SweepRow) -> float | None:
    """The measured recall, or the predicted one if the truth is unknown."""
    return row.predicted_recall if row.recall is None else row.recall


def _predicted_recall(row: SweepRow) -> float | None:
    return row.predicted_recall


def _recall_name(rows: Sequence[SweepRow]) -> str | None:
    if any(row.recall is not None for row in rows):
        return "recall"
    return "predicted recall" if any(_recall(row) is not None for row in rows) else None


def _legend(figure: Figure, axes: Axes, columns: int) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=min(6, max(columns, 1)),
        frameon=False,
        fontsize=9,
        handlelength=3.5,
    )
