"""`neardup sphere`: watch charges settle on a sphere."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neardup.cli import options
from neardup.cli.quantities import count as quantity
from neardup.cli.terminal import say, say_json, say_lines
from neardup.errors import SettingError

if TYPE_CHECKING:
    from neardup.sphere import Progress, Sphere

_TOLD = (1, 2**5, 2**10, 2**15)  # the exponents in the table
_CHART_WIDTH, _CHART_ROWS, _CHART_FLOOR = 64, 6, 1e-15


def sphere(
    dim: Annotated[int, typer.Option(help="The dimension of the space, 2 to 4096.")] = 3,
    count: Annotated[int, typer.Option(help="The number of vectors, 1 to 4096.")] = 16,
    seed: Annotated[int, typer.Option(help="Which random start; 0 or larger.")] = 0,
    plot: Annotated[
        Path | None,
        typer.Option(
            parser=options.path,
            metavar="PATH",
            help="A picture to draw: .png, .svg or .pdf.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            parser=options.path,
            metavar="PATH",
            help="An .npz file for the vectors.",
            show_default=False,
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Spread vectors evenly over a sphere: energy, convergence, smallest angle.

    Example: neardup sphere --dim 3 --count 16 --plot charges.png
    """
    from neardup.atomic import require_writable
    from neardup.cli import stopping
    from neardup.sphere import spread
    from neardup.sphere.picture import draw, picture_format

    if plot is not None:
        picture_format(plot)  # a wrong name is told before the work, not after it
        require_writable(plot)
    if output is not None:
        require_writable(output)
    if output is not None and output == plot:
        raise SettingError(f"--output and --plot are both {output}; give each a name of its own")
    stopping.writes(output, plot)
    begin = time.perf_counter()
    with _SettlingProgress() as progress:
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
    """How still the charges are, beside the limits of `settle`."""
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
        {0, *(last[exponent] for exponent in _TOLD if exponent in last), len(sphere.energies) - 1}
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


class _SettlingProgress:
    """Which attempt is under way and how hard it repels, on a terminal only."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress as Bar,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
        )

        self._bar = Bar(
            SpinnerColumn(),
            TextColumn("sphere"),
            BarColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self._task = self._bar.add_task("", total=None)

    def __call__(self, progress: Progress) -> None:
        """Show where the charges are."""
        from math import acos, degrees

        step = progress.step
        self._bar.update(
            self._task,
            completed=progress.attempt - 1,
            total=progress.attempts if progress.attempts > 1 else None,
            description=(
                f"start {progress.attempt} of {progress.attempts}, exponent {step.exponent:,}, "
                f"iteration {progress.iteration:,}, {degrees(acos(1 - step.closest)):.4f}°"
            ),
        )

    def __enter__(self) -> _SettlingProgress:
        self._bar.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._bar.stop()
