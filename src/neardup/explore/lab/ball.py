"""The sphere as SVG: both ends of each line, those behind the ball hollow."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from neardup.explore.lab.sphere import ShownSphere
from neardup.report.markup import Markup, escaped
from neardup.sphere.picture import picture_axes

_SIDE = 320
_RADIUS = 145
_MOST_LINES = 60  # more would hide the ball
_ARC = 49  # points of a circle

Points = NDArray[np.float64]


def ball(shown: ShownSphere) -> Markup:
    """The lines after some iterations, seen slightly from above; the two nearest are marked."""
    flat = shown.dimension == 2
    axes = picture_axes()
    vectors = np.pad(shown.vectors, ((0, 0), (0, 1))) if flat else shown.vectors @ axes.T
    ends = np.concatenate([vectors, -vectors])
    nearest = set(shown.nearest or ())
    parts = [f'<circle class="ball-body" cx="{_SIDE / 2:g}" cy="{_SIDE / 2:g}" r="{_RADIUS}"/>']
    if not flat:
        parts += (f'<path class="ball-grid" d="{_path(arc)}"/>' for arc in _grid(axes))
    for line in range(shown.count):
        if line in nearest or shown.count <= _MOST_LINES:
            look = "ball-nearest" if line in nearest else "ball-line"
            both = np.stack([ends[line], ends[line + shown.count]])
            parts.append(f'<path class="{look}" d="{_path(both)}"/>')
    size = float(np.clip(26 / np.sqrt(shown.count), 2.5, 7))
    for end in np.argsort(ends[:, 2], kind="stable").tolist():  # the farthest first
        parts.append(_end(ends[end], size, end % shown.count in nearest, flat))
    return Markup(
        f'<svg class="plot ball" viewBox="0 0 {_SIDE} {_SIDE}" role="img" '
        f'aria-label="{escaped(_label(shown))}">\n' + "\n".join(parts) + "\n</svg>"
    )


def _label(shown: ShownSphere) -> str:
    ball = "circle" if shown.dimension == 2 else "sphere"
    return f"{2 * shown.count} ends of {shown.count} lines on a {ball}. {shown.summary}"


def _end(place: Points, size: float, is_nearest: bool, flat: bool) -> str:
    """One end: nearer ones are larger, those behind the ball are hollow."""
    x, y = _pixel(place)
    radius = size if flat else size * (0.8 + 0.2 * float(place[2]))
    side = "front" if flat or place[2] >= 0 else "back"
    mark = " ball-mark" if is_nearest else ""
    return f'<circle class="ball-{side}{mark}" cx="{x}" cy="{y}" r="{radius:.1f}"/>'


def _grid(axes: Points) -> Iterator[Points]:
    """Circles of latitude and longitude, the half in front of the ball."""
    turn = np.linspace(0, 2 * np.pi, _ARC)
    for latitude in np.radians(np.arange(-60, 61, 30)):
        ring = np.stack(
            [
                np.cos(latitude) * np.cos(turn),
                np.cos(latitude) * np.sin(turn),
                np.full(_ARC, np.sin(latitude)),
            ]
        )
        yield from _in_front((axes @ ring).T)
    for longitude in np.radians(np.arange(0, 180, 30)):
        circle = np.stack(
            [np.cos(turn) * np.cos(longitude), np.cos(turn) * np.sin(longitude), np.sin(turn)]
        )
        yield from _in_front((axes @ circle).T)


def _in_front(circle: Points) -> Iterator[Points]:
    """The stretches of a circle that are towards the viewer."""
    seen = circle[:, 2] >= 0
    for stretch in np.split(np.arange(len(circle)), np.flatnonzero(np.diff(seen)) + 1):
        if seen[stretch[0]] and len(stretch) > 1:
            yield circle[stretch]


def _path(points: Points) -> str:
    return "M" + "L".join(" ".join(_pixel(point)) for point in points)


def _pixel(point: Points) -> tuple[str, str]:
    x, y = _SIDE / 2 + _RADIUS * float(point[0]), _SIDE / 2 - _RADIUS * float(point[1])
    return f"{x:.1f}", f"{y:.1f}"
