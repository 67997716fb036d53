"""Curves: what a plan finds by similarity, and what is kept and removed by threshold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neardup.report.markup import Markup
from neardup.report.plots.drawing import (
    CURVE,
    CURVE_SECOND,
    DOT,
    MARK,
    Axis,
    Drawing,
    Plane,
    count_axis,
    linear_axis,
)


def curve_plot(
    curve: Sequence[tuple[float, float]], threshold: float, *, name: str = "curve"
) -> Markup | None:
    """The probability that a pair is found, by its similarity; the threshold is marked."""
    if not curve:
        return None
    similarity, chance = zip(*sorted(curve), strict=True)
    found = float(np.interp(threshold, similarity, chance))
    low = min(threshold, similarity[0])
    high = max(threshold, similarity[-1], low + 0.1)

    drawing = Drawing(
        name,
        f"The chance of a pair to be found, by its similarity: {percent(found)} at the threshold "
        f"{threshold:g}; from {percent(chance[0])} at {similarity[0]:g} to {percent(chance[-1])} "
        f"at {similarity[-1]:g}.",
    )
    shares = tuple((tenths / 10, f"{10 * tenths} %") for tenths in range(0, 11, 2))
    plane = Plane(
        drawing,
        linear_axis(low, high, "similarity of a pair"),
        Axis(0, 1.03, shares, "chance to be found"),
        [(MARK, f"threshold {threshold:g}"), (DOT, f"found: {percent(found)}")],
    )
    drawing.curve([plane.point(x, y) for x, y in zip(similarity, chance, strict=True)])
    plane.mark(threshold)
    drawing.dot(plane.point(threshold, found))
    return drawing.svg()


def threshold_plot(
    thresholds: Sequence[float],
    kept: Sequence[int],
    removed: Sequence[int],
    threshold: float,
    *,
    name: str = "threshold",
) -> Markup | None:
    """Kept and removed documents by threshold, with a marker at the one that is chosen.

    The marker has the id `threshold-marker` (`name`, then `-marker`) and the class `plot-marker`. A
    script moves it to the threshold t: with its attributes `data-low`, `data-high`, `data-left` and
    `data-right`, x = left + (t - low) / (high - low) * (right - left), and the attribute
    `transform` becomes `translate(x)`.
    """
    if not thresholds:
        return None
    places = np.argsort(thresholds, kind="stable")
    across = [float(thresholds[place]) for place in places]
    low, high = min(threshold, across[0]), max(threshold, across[-1])
    high = max(high, low + 0.02)
    nearest = min(range(len(across)), key=lambda place: abs(across[place] - threshold))
    at = int(places[nearest])

    drawing = Drawing(
        name,
        f"Kept and removed documents by threshold, from {across[0]:g} to {across[-1]:g}: "
        f"{kept[at]:,} kept and {removed[at]:,} removed at {across[nearest]:g}.",
        200,
    )
    plane = Plane(
        drawing,
        linear_axis(low, high, "threshold"),
        count_axis(max(1, *kept, *removed), "documents"),
        [(CURVE, "kept"), (CURVE_SECOND, "removed")],
    )
    for counts, look in ((kept, CURVE), (removed, CURVE_SECOND)):
        heights = [counts[place] for place in places]
        drawing.curve([plane.point(x, y) for x, y in zip(across, heights, strict=True)], look)
    plane.marker(threshold)
    return drawing.svg()


def percent(share: float) -> str:
    """A share in percent, never rounded to 0 or 100.

    >>> percent(0.99996), percent(0.973), percent(1.0), percent(0.00001)
    ('over 99.9 %', '97.3 %', '100 %', 'under 0.1 %')
    """
    if 0.9995 <= share < 1:
        return "over 99.9 %"
    if 0 < share < 0.0005:
        return "under 0.1 %"
    return f"{100 * share:.1f}".removesuffix(".0") + " %"
