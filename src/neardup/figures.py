"""Figures drawn with matplotlib: create them, style them, write them.

matplotlib is an optional dependency: `pip install 'neardup[plots]'`. The same data gives the same
bytes: files have no date, and SVG files no random names. Lines differ by marker and dash, not by
colour alone, so that they can be read in black and white.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import NeardupError, SettingError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INSTALL = "pip install 'neardup[plots]'"
_DATELESS: dict[str, dict[str, Any] | None] = {
    "png": None,
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}
INK, PALE = "#22313f", "#c8d1da"
_COLOURS = ("#1f5a92", "#c2452d", "#2f7d4f", "#7a4b94", "#8a6d1c", "#3f4a54")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
_DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))
# Possible offsets of a label from its point, in points.
_LABEL_PLACES = (
    *((6, 5, "left"), (6, -12, "left"), (-6, 5, "right"), (-6, -12, "right")),
    *((10, -3, "left"), (-10, -3, "right"), (0, 10, "center"), (0, -18, "center")),
)


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    try:
        require_matplotlib()
    except NeardupError:
        return False
    return True


def require_matplotlib() -> None:
    """Raise an error that says how to install matplotlib, if it cannot be imported."""
    try:
        import matplotlib.figure  # noqa: F401 - only whether it can be imported
    except ImportError as error:
        raise NeardupError(
            f"a plot needs matplotlib, which cannot be imported ({error}); install it with "
            f"{INSTALL}"
        ) from None


def picture_format(path: str | os.PathLike[str]) -> str:
    """The image format of a file name.

    >>> picture_format("charges.SVG")
    'svg'
    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in _DATELESS:
        raise SettingError(f"{path} is not a picture; use a name ending in .png, .svg or .pdf")
    return suffix


def new_figure(width: float, height: float) -> Figure:
    """An empty figure; width and height in inches. It has no window and no global state."""
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def write_figure(figure: Figure, path: Path, suffix: str, *, dpi: int = 120) -> None:
    """Write one file, with the same bytes for the same figure."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "neardup"}):
        figure.savefig(path, format=suffix, dpi=dpi, metadata=_DATELESS[suffix])


def save_figure(figure: Figure, folder: Path, name: str) -> None:
    """Write `name.png` and `name.svg` into a folder."""
    for suffix in ("png", "svg"):
        write_figure(figure, folder / f"{name}.{suffix}", suffix)


def line_style(number: int) -> dict[str, Any]:
    """The style of line `number`, from 0."""
    return {
        "color": _COLOURS[number % len(_COLOURS)],
        "marker": _MARKERS[number % len(_MARKERS)],
        "linestyle": _DASHES[number % len(_DASHES)],
        "linewidth": 1.4,
        "markersize": 5.5,
    }


def plain(axes: Axes) -> None:
    """Remove the upper and the right border, and colour the ticks."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK, labelsize=9)


def tidy(axes: Axes, x: str, y: str) -> None:
    """Label both axes, remove the other borders, and draw a pale grid."""
    axes.set_xlabel(x, color=INK)
    axes.set_ylabel(y, color=INK)
    plain(axes)
    axes.grid(color=PALE, linewidth=0.5)
    axes.set_axisbelow(True)


def log_scale(axes: Axes) -> None:
    """Make the vertical axis logarithmic, with short labels: 0.5, 20, 300 k, 2 M.

    If no value is above 0, the axis stays linear.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if not axes.dataLim.y1 > 0:
        return
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 300 * low else (1,)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))
    axes.yaxis.set_minor_formatter(NullFormatter())


def short_number(value: float) -> str:
    """A number with three digits and a unit prefix.

    >>> [short_number(value) for value in (0.05, 1.5, 2000, 3.3e6, 4e9)]
    ['0.05', '1.5', '2 k', '3.3 M', '4 G']
    """
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def label_points(axes: Axes, points: Sequence[tuple[float, float]], labels: Sequence[str]) -> None:
    """Write a label beside each point where it covers no point, line or other label.

    A label without a free place is left out.
    """
    figure: Any = axes.figure
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    taken = _around(axes.transData.transform(points), 4 * figure.dpi / 72)
    for line in axes.get_lines():
        if line.get_linestyle() != "None":
            taken += _around(_along(axes.transData.transform(line.get_xydata())), 1.0)
    room = axes.get_window_extent(renderer).extents
    for point, label in zip(points, labels, strict=True):
        for right, up, side in _LABEL_PLACES:
            text = axes.annotate(
                label,
                point,
                (right, up),
                textcoords="offset points",
                ha=side,
                fontsize=8,
                color=INK,
            )
            box = list(text.get_window_extent(renderer).extents)
            inside = box[0] >= room[0] and box[1] >= room[1] and box[2] <= room[2]
            if inside and box[3] <= room[3] and not any(_meet(box, other) for other in taken):
                taken.append(box)
                break
            text.remove()


def _around(spots: NDArray[np.float64], room: float) -> list[list[float]]:
    """A square around each spot, `room` to each side."""
    return [[x - room, y - room, x + room, y + room] for x, y in spots.tolist()]


def _along(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """Spots on a line through these corners, a few pixels apart."""
    parts = [
        np.linspace(begin, end, 2 + int(np.abs(end - begin).max() / 3))
        for begin, end in pairwise(corners)
    ]
    return np.concatenate([corners, *parts])


def _meet(one: Sequence[float], other: Sequence[float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
