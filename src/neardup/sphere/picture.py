"""Pictures of a sphere: its lines, and how they converged."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from neardup.atomic import replacing
from neardup.figures import INK, PALE, new_figure, picture_format, plain, write_figure
from neardup.sphere.sphere import Sphere
from neardup.sphere.spread import angle_bound, best_angle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SHADE, _LINE, _MARK = "#f3f6f9", "#1f6fb2", "#d1495b"
_MOST_LINES = 60  # more would hide the ball


def draw(sphere: Sphere, path: str | os.PathLike[str]) -> None:
    """Draw the lines of a sphere (their angles, above three dimensions) and its convergence."""
    suffix = picture_format(path)
    figure = _figure(sphere)
    with replacing(path) as unfinished:
        write_figure(figure, unfinished, suffix, dpi=100)


def _figure(sphere: Sphere) -> Figure:
    figure = new_figure(10, 5)
    grid = figure.add_gridspec(2, 2, width_ratios=[1.1, 1])
    if sphere.dimension == 2:
        _circle(figure.add_subplot(grid[:, 0]), sphere)
    elif sphere.dimension == 3:
        _ball(figure.add_subplot(grid[:, 0]), sphere)
    else:
        _histogram(figure.add_subplot(grid[:, 0]), sphere)
    angles = figure.add_subplot(grid[0, 1])
    energies = figure.add_subplot(grid[1, 1], sharex=angles)
    _angles(angles, sphere)
    _energies(energies, sphere)
    lines = "line" if sphere.count == 1 else "lines"
    figure.suptitle(
        f"{sphere.count} {lines} in {sphere.dimension} dimensions: "
        f"smallest angle {sphere.smallest_angle():.4f}°",
        color=INK,
    )
    return figure


def _circle(axes: Axes, sphere: Sphere) -> None:
    turn = np.linspace(0, 2 * np.pi, 361)
    axes.fill(np.cos(turn), np.sin(turn), color=_SHADE, zorder=0)
    axes.plot(np.cos(turn), np.sin(turn), color=PALE, lw=1.5)
    for x, y in sphere.vectors:
        axes.plot([-x, x], [-y, y], color=_LINE, lw=1, alpha=0.5)
    _dots(axes, sphere.vectors)
    _bare(axes)


def _ball(axes: Axes, sphere: Sphere) -> None:
    """Both ends of each line, seen slightly from above; ends behind the ball are pale."""
    view = picture_axes()
    ends = np.concatenate([sphere.vectors, -sphere.vectors]) @ view.T
    for latitude in np.radians(np.arange(-60, 61, 30)):
        _ring(axes, view, np.cos(latitude), np.sin(latitude))
    for longitude in np.radians(np.arange(0, 180, 30)):
        _meridian(axes, view, longitude)
    turn = np.linspace(0, 2 * np.pi, 361)
    axes.fill(np.cos(turn), np.sin(turn), color=_SHADE, zorder=0)
    axes.plot(np.cos(turn), np.sin(turn), color=INK, lw=1.2)
    if sphere.count <= _MOST_LINES:
        for end, other in zip(ends[: sphere.count], ends[sphere.count :], strict=True):
            axes.plot([end[0], other[0]], [end[1], other[1]], color=_LINE, lw=0.8, alpha=0.25)
    front = ends[:, 2] >= 0
    sizes = _dot_size(sphere.count) * (0.7 + 0.3 * ends[:, 2])  # nearer ends are larger
    right, up, _ = ends[~front].T
    axes.scatter(right, up, s=sizes[~front], color=_LINE, alpha=0.25, lw=0, zorder=2)
    right, up, _ = ends[front].T
    axes.scatter(right, up, s=sizes[front], color=_LINE, ec="white", lw=0.8, zorder=4)
    _bare(axes)


def picture_axes() -> NDArray[np.float64]:
    """The axes of the picture: right, up, and towards the viewer."""
    turn, tilt = np.radians(-25.0), np.radians(22.0)
    about_z = np.array(
        [[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]]
    )
    eye = np.array([[1, 0, 0], [0, np.sin(tilt), np.cos(tilt)], [0, -np.cos(tilt), np.sin(tilt)]])
    return np.asarray(eye @ about_z)


def _ring(axes: Axes, view: NDArray[np.float64], radius: float, height: float) -> None:
    turn = np.linspace(0, 2 * np.pi, 121)
    ring = np.stack([radius * np.cos(turn), radius * np.sin(turn), np.full(121, height)])
    _curve(axes, view @ ring)


def _meridian(axes: Axes, view: NDArray[np.float64], longitude: float) -> None:
    turn = np.linspace(0, 2 * np.pi, 121)
    flat = np.cos(turn)
    circle = np.stack([flat * np.cos(longitude), flat * np.sin(longitude), np.sin(turn)])
    _curve(axes, view @ circle)


def _curve(axes: Axes, points: NDArray[np.float64]) -> None:
    for side, alpha in ((points[2] >= 0, 0.9), (points[2] < 0, 0.3)):
        shown = np.where(side, points[:2], np.nan)
        axes.plot(*shown, color=PALE, lw=0.7, alpha=alpha, zorder=1)


def _histogram(axes: Axes, sphere: Sphere) -> None:
    angles = sphere.pair_angles()
    bound = angle_bound(sphere.dimension, sphere.count)
    # The density of random lines, up to a factor.
    degrees = np.linspace(0, 90, 1801)
    density = np.sin(np.radians(degrees)) ** (sphere.dimension - 2)
    density /= density.mean() * 90
    expected = len(angles) * density  # per degree
    seen = (expected >= 0.5) | (degrees > sphere.smallest_angle() - 1)
    first = float(degrees[seen][0])
    bins = np.linspace(first, 90, 81)
    width = bins[1] - bins[0]
    pairs, _, _ = axes.hist(angles, list(bins), color=_LINE, alpha=0.85, label="these lines")
    axes.plot(
        degrees[seen], expected[seen] * width, color=INK, lw=1.2, label="random lines, on average"
    )
    axes.axvline(bound, color=_MARK, lw=1.2, ls="--", label=f"bound {bound:.2f}°")
    axes.set_yscale("log")
    axes.set_xlim(first, 90)
    axes.set_ylim(0.5, 3 * np.max(pairs))
    axes.set_xlabel("angle between two lines (degrees)", color=INK)
    axes.set_ylabel("pairs", color=INK)
    axes.legend(frameon=False, fontsize=9, loc="upper left")
    plain(axes)


def _angles(axes: Axes, sphere: Sphere) -> None:
    axes.plot(np.arange(1, sphere.iterations + 1), sphere.angles, color=_LINE, lw=1.4)
    proven = best_angle(sphere.dimension, sphere.count)
    limit = angle_bound(sphere.dimension, sphere.count)
    axes.axhline(
        limit,
        color=_MARK,
        lw=1,
        ls="--",
        label=f"{'optimum' if proven is not None else 'upper bound'} {limit:.4f}°",
    )
    axes.set_ylabel("smallest angle (degrees)", color=INK)
    axes.legend(frameon=False, fontsize=9, loc="lower right")
    axes.tick_params(labelbottom=False)
    plain(axes)


def _energies(axes: Axes, sphere: Sphere) -> None:
    iterations = np.arange(1, sphere.iterations + 1)
    excess = sphere.excess_energies()
    for exponent in np.unique(sphere.exponents):
        # The lowest energy is 0 above rest, which a logarithmic scale cannot show.
        shown = (sphere.exponents == exponent) & (excess > 0)
        axes.semilogy(iterations[shown], excess[shown], color=INK, lw=1.1)
    for change in iterations[:-1][np.diff(sphere.exponents) > 0]:
        axes.axvline(change + 0.5, color=PALE, lw=0.6, zorder=0)
    axes.set_xlabel("iteration (at a grey line the exponent doubles)", color=INK)
    axes.set_ylabel("energy above rest", color=INK)
    plain(axes)


def _dots(axes: Axes, vectors: NDArray[np.float64]) -> None:
    size = _dot_size(len(vectors))
    right, up = vectors.T
    axes.scatter(right, up, s=size, color=_LINE, ec="white", lw=0.8, zorder=3)
    axes.scatter(-right, -up, s=size, color="white", ec=_LINE, lw=1.2, zorder=3)


def _dot_size(count: int) -> float:
    return float(np.clip(1600 / max(count, 1), 12, 70))


def _bare(axes: Axes) -> None:
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_xlim(-1.08, 1.08)
    axes.set_ylim(-1.08, 1.08)
