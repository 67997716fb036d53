"""Plots of an evaluation: rates by threshold, precision by recall, missed pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from neardup.report.markup import Markup
from neardup.report.plots.drawing import (
    CURVE,
    CURVE_SECOND,
    CURVE_THIRD,
    DOT,
    MARK,
    Axis,
    Drawing,
    Plane,
    Point,
    count_axis,
    linear_axis,
)

# Threshold, precision, recall and F1; NaN where one is not known.
Rates = tuple[float, float, float, float]
_SHARES = tuple((tenths / 10, f"{tenths / 10:g}") for tenths in range(0, 11, 2))
_HEIGHT = 260


def rates_plot(
    points: Sequence[Rates],
    threshold: float,
    best: float | None,
    *,
    title: str = "threshold",
    name: str = "rates",
) -> Markup | None:
    """Precision, recall and F1 by threshold; the run's threshold and the best one are marked."""
    if len(points) < 2:
        return None
    points = sorted(points)
    low, high = min(threshold, points[0][0]), max(threshold, points[-1][0])
    looks = ((CURVE, "F1", 3), (CURVE_SECOND, "precision", 1), (CURVE_THIRD, "recall", 2))
    shown = [look for look in looks if any(not math.isnan(point[look[2]]) for point in points)]
    legend = [(look, text) for look, text, _ in shown]
    legend.append((MARK, f"this run: {threshold:g}"))
    if best is not None:
        legend.append((DOT, f"best F1: {best:g}"))
    drawing = Drawing(name, _label(points, threshold, best), _HEIGHT)
    plane = Plane(drawing, linear_axis(low, high, title), Axis(0, 1.03, _SHARES, "rate"), legend)
    for look, _, place in reversed(shown):
        line = [plane.point(one[0], one[place]) for one in points if not math.isnan(one[place])]
        drawing.curve(line, look)
    plane.mark(threshold)
    at_best = next((one for one in points if one[0] == best), None)
    if at_best is not None:
        drawing.dot(plane.point(at_best[0], at_best[3]))
    return drawing.svg()


def precision_recall_plot(
    points: Sequence[Rates], threshold: float, *, name: str = "precision-recall"
) -> Markup | None:
    """Precision by recall, with a dot at the run's threshold."""
    known = [one for one in sorted(points) if not (math.isnan(one[1]) or math.isnan(one[2]))]
    if len(known) < 2:
        return None
    here = next((one for one in known if one[0] == threshold), None)
    drawing = Drawing(
        name,
        f"Precision by recall, over thresholds from {known[0][0]:g} to {known[-1][0]:g}."
        + ("" if here is None else f" This run: {here[1]:.3f} at {here[2]:.3f}."),
        _HEIGHT,
    )
    legend = [(CURVE, "all thresholds")]
    if here is not None:
        legend.append((DOT, f"this run: {threshold:g}"))
    plane = Plane(
        drawing,
        Axis(0, 1.02, _SHARES, "recall"),
        Axis(0, 1.03, _SHARES, "precision"),
        legend,
    )
    line: list[Point] = [plane.point(one[2], one[1]) for one in known]
    drawing.curve(line)
    if here is not None:
        drawing.dot(plane.point(here[2], here[1]))
    return drawing.svg()


def missed_plot(counts: Sequence[int], threshold: float, *, name: str = "missed") -> Markup | None:
    """Histogram of missed pairs by similarity, in equal steps from 0 to 1."""
    if not any(counts):
        return None
    edges = [step / len(counts) for step in range(len(counts) + 1)]
    drawing = Drawing(
        name,
        f"Histogram of {sum(counts):,} missed pairs by similarity, with the threshold at "
        f"{threshold:g}.",
        _HEIGHT,
    )
    plane = Plane(
        drawing,
        linear_axis(0, 1, "similarity of a missed pair"),
        count_axis(max(counts), "missed pairs"),
        [(MARK, f"this run: {threshold:g}")],
    )
    plane.stairs(edges, counts)
    plane.mark(threshold)
    spans = (f"{low:g} to {high:g}" for low, high in pairwise(edges))
    plane.hints(edges, [f"{span}: {n:,}" for span, n in zip(spans, counts, strict=True)])
    return drawing.svg()


def _label(points: Sequence[Rates], threshold: float, best: float | None) -> str:
    text = f"Rates by threshold, from {points[0][0]:g} to {points[-1][0]:g}."
    for value, what in ((threshold, "This run"), (best, "The best")):
        at = next((one for one in points if one[0] == value), None)
        if at is not None:
            parts = [
                f"{name} {rate:.3f}"
                for name, rate in zip(("precision", "recall", "F1"), at[1:], strict=True)
                if not math.isnan(rate)
            ]
            text += f" {what}, {at[0]:g}: {', '.join(parts)}."
    return text
