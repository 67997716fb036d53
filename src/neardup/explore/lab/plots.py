"""The plots of the laboratory, as SVG in the colours of the page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.explore.lab.curve import ShownCurves
from neardup.explore.lab.hashes import ShownFamily
from neardup.explore.lab.sphere import ShownSphere
from neardup.report.markup import Markup
from neardup.report.plots.curves import percent
from neardup.report.plots.drawing import (
    BAR,
    CURVE,
    CURVE_SECOND,
    MARK,
    Axis,
    Drawing,
    Plane,
    count_axis,
    linear_axis,
)

_LOOKS = (CURVE, CURVE_SECOND)
_HEIGHT = 230
_MOST_BARS = 60
_HIGHEST_LOAD = 4.0


def curves_plot(shown: ShownCurves, *, name: str = "curves") -> Markup:
    """The probability that a pair is found, by its similarity, for each plan."""
    drawing = Drawing(name, f"S-curves. {shown.summary}", _HEIGHT + 30)
    shares = tuple((tenths / 10, f"{10 * tenths} %") for tenths in range(0, 11, 2))
    legend = [
        (look, f"{one.plan.name}: {percent(one.at_threshold)}")
        for look, one in zip(_LOOKS, shown.plans, strict=False)
    ]
    plane = Plane(
        drawing,
        linear_axis(0, 1, f"similarity of a pair ({shown.measure})"),
        Axis(0, 1.03, shares, "chance to be found"),
        [*legend, (MARK, f"threshold {shown.threshold:g}")],
    )
    plane.mark(shown.threshold)
    for look, one in zip(_LOOKS, shown.plans, strict=False):
        points = zip(one.curve.similarities.tolist(), one.curve.chances.tolist(), strict=True)
        drawing.curve([plane.point(x, y) for x, y in points], look)
        drawing.dot(plane.point(shown.threshold, one.at_threshold))
    return drawing.svg()


def chains_plot(shown: ShownFamily, *, name: str) -> Markup:
    """How many slots hold 0, 1, 2, … keys, against a random load."""
    load = shown.load
    slots = np.bincount(load.counts)
    # A random load of the same table is shown to where it has a slot left to expect.
    expected = load.expected_chains(max(len(slots) - 1, 2 * round(load.words / load.slots) + 4))
    last = max(len(slots) - 1, int(np.flatnonzero(expected >= 0.05).max(initial=0)))
    width = -(-(last + 1) // _MOST_BARS)
    bars = _binned(np.pad(slots, (0, max(0, last + 1 - len(slots))))[: last + 1], width)
    ideal = _binned(expected[: last + 1], width)
    edges = [width * place - 0.5 for place in range(len(bars) + 1)]
    drawing = Drawing(
        name,
        f"Slots by the number of keys in them, for {shown.family.name}: {load.distinct:,} of "
        f"{load.slots:,} slots hold a key, {load.expected_distinct:,.1f} would at random; the "
        f"longest chain has {load.longest_chain:,} keys.",
        _HEIGHT,
    )
    plane = Plane(
        drawing,
        linear_axis(-0.5, edges[-1], "keys in a slot", whole=True),
        count_axis(max(1, round(max(*bars, *ideal, 1))), "slots"),
        [(BAR, shown.family.name), (CURVE_SECOND, "random")],
    )
    plane.stairs(edges, bars)
    middles = [(left + right) / 2 for left, right in pairwise(edges)]
    points = [plane.point(x, y) for x, y in zip(middles, ideal, strict=True)]
    drawing.curve(points if len(points) > 1 else points * 2, CURVE_SECOND)
    plane.hints(edges, [_hint(place, width, bars, ideal) for place in range(len(bars))])
    return drawing.svg()


def _binned(values: NDArray[Any], width: int) -> list[float]:
    return [float(values[first : first + width].sum()) for first in range(0, len(values), width)]


def _hint(place: int, width: int, bars: Sequence[float], ideal: Sequence[float]) -> str:
    keys = str(place) if width == 1 else f"{place * width} to {place * width + width - 1}"
    return f"{keys} keys: {bars[place]:,.0f} slots, {ideal[place]:,.1f} at random"


def slots_plot(shown: ShownFamily, *, name: str) -> Markup:
    """The load from the first slot to the last; 1 is an even load."""
    load = shown.load
    found = load.grouped(_MOST_BARS).tolist()
    highest = max(found)
    high = min(max(2.0, highest), _HIGHEST_LOAD)
    edges = np.linspace(0, load.slots, len(found) + 1).tolist()
    drawing = Drawing(
        name,
        f"The load along the table for {shown.family.name}, as multiples of an even load: from "
        f"{min(found):.2f} to {highest:.2f}.",
        _HEIGHT - 30,
    )
    plane = Plane(
        drawing,
        linear_axis(0, load.slots, "slot", whole=True),
        linear_axis(0, 1.03 * high, "load (even = 1)", room=150),
    )
    plane.stairs(edges, [min(each, 1.03 * high) for each in found])
    drawing.line(plane.point(0, 1), plane.point(load.slots, 1), MARK)
    return drawing.svg()


def angles_plot(shown: ShownSphere, *, name: str = "angles") -> Markup | None:
    """The smallest angle by iteration, with the bound and a mark at the one that is shown."""
    if not shown.steps:
        return None
    angles, bound = shown.angles, shown.bound
    drawing = Drawing(
        name,
        f"The smallest angle by iteration: {angles[0]:.2f}° at the start, {angles[-1]:.2f}° after "
        f"{shown.steps}; no arrangement exceeds {bound:.2f}°.",
        _HEIGHT,
    )
    known = "optimum" if shown.is_proven else "upper bound"
    plane = Plane(
        drawing,
        linear_axis(0, shown.steps, "iteration", whole=True),
        linear_axis(0, 1.08 * bound, "smallest angle (degrees)", room=150),
        [(CURVE, "smallest angle"), (CURVE_SECOND, f"{known} {bound:.2f}°")],
    )
    drawing.line(plane.point(0, bound), plane.point(shown.steps, bound), CURVE_SECOND)
    drawing.curve([plane.point(step, angle) for step, angle in enumerate(angles)])
    plane.mark(shown.step)
    drawing.dot(plane.point(shown.step, shown.angle))
    return drawing.svg()
