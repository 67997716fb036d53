"""`neardup sphere`: spread vectors over a sphere."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options, stopping
from neardup.cli.command import Command
from neardup.cli.terminal import count as quantity, say, say_json, say_lines
from neardup.errors import SettingError

if TYPE_CHECKING:
    from neardup.sphere import Sphere

_SHOWN_EXPONENTS = (1, 2**5, 2**10, 2**15)
_CHART_WIDTH, _CHART_ROWS, _CHART_FLOOR = 64, 6, 1e-15


@click.command(cls=Command)
@options.option("--dim", type=int, default=3, help="Dimension of the space, 2 to 4096.")
@options.option("--count", type=int, default=16, help="Number of vectors, 1 to 4096.")
@options.option("--seed", type=int, default=0, help="Seed of the random start, 0 or greater.")
@options.path(
    "--plot", help="Picture to draw: .png, .svg or .pdf; needs `pip install 'neardup[plots]'`."
)
@options.path("--output", "-o", help="File for the vectors, in NumPy's .npz format.")
@options.as_json
def sphere(
    dim: int, count: int, seed: int, plot: Path | None, output: Path | None, json: bool
) -> None:
    """Spread vectors evenly over a sphere.

    Shows the energy, the convergence and the smallest angle between two vectors.

    Example: neardup sphere --dim 3 --count 16 --plot charges.png
    """
    from neardup.atomic import require_writable
    from neardup.cli.progress import SettlingProgress
    from neardup.figures import picture_format, require_matplotlib
    from neardup.sphere import spread
    from neardup.sphere.picture import draw

    if plot is not None:
        picture_format(plot)  # a wrong name fails before the work, not after it
        require_writable(plot)
        require_matplotlib()
    if output is not None:
        require_writable(output)
    if output is not None and output == plot:
        raise SettingError(f"--output and --plot are both {output}; give each a name of its own")
    stopping.writes(output, plot)
    begin = time.perf_counter()
    with SettlingProgress() as progress:
        settled = spread(dim, count, seed, progress=progress)
    seconds = time.perf_counter() - begin
    if output is not None:
        settled.save(output)
    if plot is not None:
        draw(settled, plot)
    if json:
        say_json(_summary(settled, seconds))
        return
    _print(settled, seconds)
    for written in (output, plot):
        if written is not None:
            say(f"→ {written}")


def _summary(sphere: Sphere, seconds: float) -> dict[str, Any]:
    from neardup.sphere import angle_bound, best_angle

    size = (sphere.dimension, sphere.count)
    return {
        "dimension": sphere.dimension,
        "count": sphere.count,
        "seed": sphere.seed,
        "attempts": sphere.attempts,
        "iterations": sphere.iterations,
        "converged": sphere.converged,
        "displacement": sphere.displacement,
        "imbalance": sphere.imbalance,
        "smallest_angle": sphere.smallest_angle(),
        "best_angle": best_angle(*size),
        "angle_bound": angle_bound(*size),
        "content_hash": sphere.content_hash,
        "seconds": seconds,
        "energies": sphere.energies.tolist(),
        "exponents": sphere.exponents.tolist(),
        "angles": sphere.angles.tolist(),
    }


def _print(sphere: Sphere, seconds: float) -> None:
    from neardup.sphere import angle_bound, best_angle

    say(
        f"{quantity(sphere.count, 'line')} in {sphere.dimension} dimensions, seed {sphere.seed}: "
        f"{quantity(sphere.attempts, 'start')}, the best one with "
        f"{quantity(sphere.iterations, 'iteration')}, {seconds:.2f} s"
    )
    say()
    if sphere.iterations:
        say_lines(_table(sphere))
        say_lines(_chart(sphere))
    say(f"{'converged' if sphere.converged else 'NOT converged'}: {_rest(sphere)}")
    size = (sphere.dimension, sphere.count)
    limit = "the optimum" if best_angle(*size) is not None else "no arrangement exceeds"
    say(f"smallest angle {sphere.smallest_angle():.4f}°; {limit} {angle_bound(*size):.4f}°")
    say(f"vectors {sphere.content_hash}")


def _rest(sphere: Sphere) -> str:
    """How far the charges are from rest, with the limits of `settle`."""
    from neardup.sphere.settle import BALANCED, STILL

    moved = f"the last step moved a charge by {sphere.displacement:.0e} at most "
    if sphere.converged and sphere.displacement >= STILL:
        moved += "and none lowers the energy beyond rounding"
    else:
        moved += f"(limit {STILL:.0e})"
    return f"{moved}; pushes cancel but for {sphere.imbalance:.0e} (limit {BALANCED:.0e})"


def _table(sphere: Sphere) -> str:
    """The first iteration and the last one of a few exponents."""
    last = {int(exponent): row for row, exponent in enumerate(sphere.exponents)}
    shown = sorted(
        {
            0,
            *(last[exponent] for exponent in _SHOWN_EXPONENTS if exponent in last),
            len(sphere.energies) - 1,
        }
    )
    rows = ["iteration   exponent     energy   smallest angle"]
    rows += [
        f"{row + 1:9,}  {sphere.exponents[row]:9,}  {sphere.energies[row]:9.6f}  "
        f"{sphere.angles[row]:14.6f}°"
        for row in shown
    ]
    return "\n".join([*rows, ""])


def _chart(sphere: Sphere) -> str:
    """The energy above rest by iteration, as columns on a logarithmic scale."""
    import numpy as np

    columns = np.array_split(sphere.excess_energies(), min(_CHART_WIDTH, sphere.iterations))
    highest = np.log10([max(float(column.max()), _CHART_FLOOR) for column in columns])
    top, floor = int(np.ceil(highest.max())), int(np.log10(_CHART_FLOOR))
    eighths = np.rint((highest - floor) / (top - floor or 1) * 8 * _CHART_ROWS).astype(int)
    lines = ["energy above rest, by iteration (logarithmic; it starts anew with each exponent)"]
    for row in reversed(range(_CHART_ROWS)):
        level = floor + (top - floor) * (row + 1) / _CHART_ROWS
        blocks = "".join(" ▁▂▃▄▅▆▇█"[min(8, max(0, height - 8 * row))] for height in eighths)
        lines.append(f"{10.0**level:7.0e} ┤{blocks}")
    return "\n".join([*lines, f"{'1':>9}{sphere.iterations:>{len(columns)},}", ""])
