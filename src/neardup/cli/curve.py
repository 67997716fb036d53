"""`neardup curve`: the chance to be found by similarity, for one plan or several."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neardup.cli import options
from neardup.cli.terminal import say, say_json, say_lines
from neardup.errors import SettingError

if TYPE_CHECKING:
    from neardup.lab.curves import Curve
    from neardup.pairs.by_fingerprints import Plan

_MEASURES = ("cosine", "jaccard", "weighted-jaccard")


def curve(
    plan: Annotated[
        list[str],
        typer.Option(help="A way to search, for example bands:20x16; may be given often."),
    ],
    bits: Annotated[
        int | None,
        typer.Option(
            help="Bits of a fingerprint, 1 to 4096.", show_default="what bands need, else 64"
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="A similarity to mark.", show_default="none"),
    ] = None,
    similarity: Annotated[
        str, typer.Option(help="By which similarity: cosine, jaccard or weighted-jaccard.")
    ] = "cosine",
    n: Annotated[
        int, typer.Option("--n", min=1, help="How many fingerprints there are, for rotate.")
    ] = 1_000_000,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            parser=options.path,
            metavar="PATH",
            help="A picture: .png, .svg or .pdf.",
            show_default="none",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Show how likely a pair is found, by its similarity: the S-curve of a plan.

    Example: neardup curve --plan bands:20x16 --plan bands:8x8 --threshold 0.8
    """
    from neardup.atomic import require_writable
    from neardup.cli import stopping
    from neardup.lab.curves import curve_format, curve_text, draw_curves, plan_curve
    from neardup.lab.sweep.request import named_plan

    if similarity not in _MEASURES:
        raise SettingError(f"--similarity {similarity} has no curve; choose {', '.join(_MEASURES)}")
    if output is not None:
        curve_format(output)
        require_writable(output)
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
    """What the curves say, in a line each."""
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
