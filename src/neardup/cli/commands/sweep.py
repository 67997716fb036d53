"""`neardup sweep`: many plans over one collection, in a table and in plots."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import click

from neardup.cli import options, stopping
from neardup.cli.command import Command
from neardup.cli.terminal import count, plain_console, say, say_json
from neardup.errors import SettingError

Number = TypeVar("Number", int, float)


@click.command(cls=Command)
@options.inputs
@options.option("--bands", metavar="M,M,...", help="Numbers of tables to try, for example 2,3,4.")
@options.option(
    "--band-bits", metavar="K,K,...", help="Bits per table to try, for example 10,12,18."
)
@options.option(
    "--plan",
    metavar="PLAN",
    multiple=True,
    help="Another plan to try, for example rotate:16:4. Repeatable.",
)
@options.option(
    "--threshold",
    metavar="T,T,...",
    note="0.8",
    help="Minimum similarity of a true pair; several are evaluated in one run.",
)
@options.setting(
    "similarity",
    help="Similarity measure: jaccard, weighted-jaccard, cosine, containment, or inclusion (of the "
    "later document in the earlier one).",
)
@options.flag(
    "--exact",
    help="Find all pairs at or above the threshold with an exact join, so that recall is known.",
)
@options.option(
    "--top",
    type=click.IntRange(min=0),
    default=0,
    help="List this many of the most similar pairs of each row.",
)
@options.path(
    "--output",
    "-o",
    help="Folder for the table and the plots; plots need `pip install 'neardup[plots]'`.",
)
@options.overwrite
@options.preset
@options.as_json
@options.progress
@options.settings("text", "id", "read_as", "suffix", "max_document")
@options.settings("features", "weights")
@options.setting("bits", help="Bits of a fingerprint for plans other than bands, 1 to 4096.")
@options.settings("hash", "tie")
@options.setting("memory", help="Memory for features, fingerprints and pairs, for example 8GB.")
@options.settings("threads")
@click.pass_context
def sweep(
    context: click.Context,
    /,
    inputs: tuple[str, ...],
    bands: str | None,
    band_bits: str | None,
    plan: tuple[str, ...],
    threshold: str | None,
    exact: bool,
    top: int,
    output: Path | None,
    overwrite: bool,
    preset: str | None,
    json: bool,
    progress: str,
    bits: int,
    **_settings: Any,
) -> None:
    """Measure candidates, recall and time of many search plans.

    Shows each plan's candidates, true and false pairs, recall and seconds beside the predictions.
    True pairs are those at or above the threshold; recall is the share of them that a plan finds.

    Example: neardup sweep corpus.jsonl --bands 2,3,4 --band-bits 10,12,18 --exact -o out
    """
    from neardup.atomic import require_apart
    from neardup.cli.progress import Stages
    from neardup.collection.source import FileSource
    from neardup.lab.sweep.request import SweepRequest
    from neardup.lab.sweep.result import FOLDER
    from neardup.lab.sweep.run import sweep_documents

    given = options.given_settings(context)
    given |= {"bits": bits, "threshold": _numbers(threshold, "--threshold", float)}
    request = SweepRequest.of(
        bands=_numbers(bands, "--bands", int),
        band_bits=_numbers(band_bits, "--band-bits", int),
        plans=list(plan) or None,
        preset=preset,
        **given,
    )
    if output is not None:
        require_apart(output, inputs)
        FOLDER.require_free(output, overwrite=overwrite)
    stopping.writes(output)
    with Stages(quiet=json, progress=progress) as stages:
        source = FileSource(list(inputs), request.settings)
        found = sweep_documents(source, request, exact=exact, top=top, stage=stages)
        if output is not None:
            stages("plots")
            found.save(output, overwrite=overwrite)
    if json:
        say_json(found.as_dict())
        return
    from neardup.figures import can_draw
    from neardup.lab.sweep.result import print_sweep

    print_sweep(found, plain_console())
    if found.rejected:
        say(f"{count(found.rejected, 'row')} could not be read", err=True)
    if output is not None:
        say(f"{'table and plots' if can_draw() else 'table'} → {output}")


def _numbers(text: str | None, option: str, kind: type[Number]) -> list[Number] | None:
    """The numbers of a list such as `2,3,4`."""
    if text is None:
        return None
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        noun = "whole numbers" if kind is int else "numbers"
        raise SettingError(f"{option} {text} must be {noun} with commas between") from None
