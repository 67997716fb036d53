"""SVG that stands inside a page: deterministic bytes, no addresses, no clashing names."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

INK = "#22313f"
# Narrow, so that letters of 9 points are still read where a phone shrinks the plot to its width.
WIDTH, _HEIGHT = 4.0, 2.7
# Inches around the axes. Fixed, as to work them out takes a third of the time of a plot.
_LEFT, RIGHT, BOTTOM, _TOP = 0.72, 0.22, 0.5, 0.3

_STYLE: Any = {
    "svg.hashsalt": "neardup",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "hatch.color": INK,
    "hatch.linewidth": 0.7,
}
_NAMELESS = {"Date": None, "Creator": None, "Format": None, "Type": None}
_LINKS = re.compile(r'(\bid="|\bxlink:href="#|\bhref="#|url\(#)')


def drawn(
    name: str,
    draw: Callable[[Axes], None],
    height: float = _HEIGHT,
    left: float = _LEFT,
    top: float = _TOP,
) -> str:
    """Draw on axes of the given size in inches; `name` must be the only one of its page."""
    with rc_context(_STYLE):
        figure = Figure(figsize=(WIDTH, height), facecolor="white")
        FigureCanvasSVG(figure)
        figure.subplots_adjust(left / WIDTH, BOTTOM / height, 1 - RIGHT / WIDTH, 1 - top / height)
        axes = figure.add_subplot()
        draw(axes)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata=_NAMELESS)
    return _inlined(file.getvalue(), name)


def _inlined(svg: str, name: str) -> str:
    """An SVG file as a part of a page: no prologue, no addresses, names that no other plot has."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' xmlns(:xlink)?="[^"]*"', "", svg)
    svg = _LINKS.sub(rf"\g<1>{name}-", svg).replace("xlink:href", "href")
    return svg.replace("<svg ", '<svg aria-hidden="true" ', 1)
