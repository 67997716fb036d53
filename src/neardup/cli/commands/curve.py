"""`neardup curve`: the probability that a pair is found, by similarity, for some plans."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options, stopping
from neardup.cli.command import Command
from neardup.cli.terminal import say, say_json, say_lines
from neardup.errors import SettingError

if TYPE_CHECKING:
    from neardup.lab.curves import Curve
    from neardup.pairs.by_fingerprints import Plan

_MEASURES = ("cosine", "jaccard", "weighted-jaccard")


@click.command(cls=Command)
@options.option(
    "--plan",
    metavar="PLAN",
    multiple=True,
    required=True,
    help="Plan to show, for example bands:20x16. Repeatable.",
)
@options.setting("bits", note="what the bands need, else 64", section="Options")
@options.option("--threshold", type=float, help="Similarity to mark in the chart, 0 to 1.")
@options.option(
    "--similarity",
    default="cosine",
    metavar="NAME",
    shell_complete=options.one_of(_MEASURES),
    help="Similarity measure of the x axis: cosine, jaccard or weighted-jaccard.",
)
@options.option(
    "--n",
    type=click.IntRange(min=1),
    default=1_000_000,
    help="Number of fingerprints; only rotate plans depend on it.",
)
@options.path(
    "--output",
    "-o",
    help="Picture to draw: .png, .svg or .pdf; needs `pip install 'neardup[plots]'`.",
)
@options.as_json
def curve(
    plan: tuple[str, ...],
    bits: int | None,
    threshold: float | None,
    similarity: str,
    n: int,
    output: Path | None,
    json: bool,
) -> None:
    """Show how likely a plan finds a pair, by similarity (S-curve).

    Example: neardup curve --plan bands:20x16 --plan bands:8x8 --threshold 0.8
    """
    from neardup.atomic import require_writable
    from neardup.figures import picture_format, require_matplotlib
    from neardup.lab.curves import curve_text, draw_curves, plan_curve
    from neardup.lab.sweep.request import named_plan

    if similarity not in _MEASURES:
        raise SettingError(f"--similarity {similarity} has no curve; choose {', '.join(_MEASURES)}")
    if threshold is not None and not 0 <= threshold <= 1:
        raise SettingError(f"--threshold {threshold} must be a number from 0 to 1")
    if output is not None:
        picture_format(output)
        require_writable(output)
        require_matplotlib()
    stopping.writes(output)
    plans = [named_plan(name, bits) for name in dict.fromkeys(plan)]
    curves = [plan_curve(one, similarity, n) for one in plans]
    if output is not None:
        draw_curves(curves, similarity, threshold, output)
    if json:
        say_json(_values(plans, curves, similarity, threshold))
        return
    say_lines(curve_text(curves, similarity, threshold))
    say()
    for line in _lines(curves, threshold):
        say(line)
    if output is not None:
        say(f"picture → {output}")


def _lines(curves: list[Curve], threshold: float | None) -> list[str]:
    """The similarities at which each curve reaches 50 % and 95 %, one line per curve."""
    width = max(len(one.name) for one in curves)
    lines = []
    for one in curves:
        half, most = (_similarity(one.reaches(chance)) for chance in (0.5, 0.95))
        text = f"{one.name:{width}}  half found from {half}, 95 % from {most}"
        if threshold is not None:
            text += f"; {one.at(threshold):.4f} at {threshold:g}"
        lines.append(text)
    return lines


def _similarity(value: float | None) -> str:
    return "nowhere" if value is None else f"{value:.3f}"


def _values(
    plans: list[Plan], curves: list[Curve], similarity: str, threshold: float | None
) -> dict[str, Any]:
    return {
        "similarity": similarity,
        "threshold": threshold,
        "curves": [
            {
                "plan": plan.name,
                "bits": plan.bits,
                "at_threshold": None if threshold is None else one.at(threshold),
                "points": [
                    [round(x, 4), y]
                    for x, y in zip(one.similarities.tolist(), one.chances.tolist(), strict=True)
                ],
            }
            for plan, one in zip(plans, curves, strict=True)
        ],
    }
