"""`neardup sweep`: many plans over one collection, in a table and in plots."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeVar

import typer

from neardup.cli import options
from neardup.cli.quantities import count
from neardup.cli.terminal import plain_console, say, say_json
from neardup.errors import SettingError

Number = TypeVar("Number", int, float)

_SETTINGS = (
    *("text", "id", "features", "weights", "hash", "tie", "similarity"),
    *("memory", "max_document", "threads"),
)


def sweep(
    context: typer.Context,
    inputs: options.Inputs,
    bands: Annotated[
        str | None, typer.Option(metavar="M,M,...", help="How many tables, for example 2,3,4.")
    ] = None,
    band_bits: Annotated[
        str | None, typer.Option(metavar="K,K,...", help="Bits of a table, for example 10,12,18.")
    ] = None,
    plan: Annotated[
        list[str] | None,
        typer.Option(help="Another way to search, for example rotate:16:4; may be given often."),
    ] = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="T,T,...",
            help="The least similarity of a true pair, or several.",
            show_default="0.8",
        ),
    ] = None,
    exact: Annotated[
        bool,
        typer.Option("--exact", help="Find every true pair beforehand, so that recall is known."),
    ] = False,
    top: Annotated[
        int, typer.Option(min=0, help="List so many of the most similar pairs of each row.")
    ] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            parser=options.path,
            metavar="PATH",
            help="A folder for table and plots.",
            show_default="none",
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", help="Replace a folder that an earlier run wrote; no other is replaced."
        ),
    ] = False,
    preset: Annotated[
        str | None,
        typer.Option(help="The settings of a known system; `neardup presets` lists them."),
    ] = None,
    text: options.Text = None,
    id: options.Id = None,
    features: options.Features = "word:3",
    weights: options.Weights = None,
    bits: Annotated[
        int, typer.Option(help="Bits of a fingerprint for plans other than bands, 1 to 4096.")
    ] = 64,
    hash: options.Hash = "nd1",
    tie: options.Tie = ">0",
    similarity: Annotated[
        str | None,
        typer.Option(
            help="jaccard, weighted-jaccard or cosine.",
            show_default="jaccard; what fits the weights, if they are others",
        ),
    ] = None,
    memory: Annotated[
        str, typer.Option(help="Memory for features, fingerprints and pairs, such as 8GB.")
    ] = "2GB",
    max_document: options.MaxDocument = "64MB",
    threads: options.Threads = None,
    json: options.Json = False,
) -> None:
    """Try many plans: candidates, true and false ones, recall, seconds, beside the predictions.

    Example: neardup sweep corpus.jsonl --bands 2,3,4 --band-bits 10,12,18 --exact -o out
    """
    from neardup.atomic import require_apart
    from neardup.cli import stopping
    from neardup.cli.chosen import chosen_options
    from neardup.cli.stages import Stages
    from neardup.collection.source import FileSource
    from neardup.lab.sweep.request import SweepRequest
    from neardup.lab.sweep.result import FOLDER
    from neardup.lab.sweep.run import sweep_documents

    request = SweepRequest.of(
        bands=_numbers(bands, "--bands", int),
        band_bits=_numbers(band_bits, "--band-bits", int),
        plans=plan,
        bits=bits,
        threshold=_numbers(threshold, "--threshold", float),
        preset=preset,
        **chosen_options(context, _SETTINGS),
    )
    if output is not None:
        require_apart(output, inputs)
        FOLDER.require_free(output, overwrite=overwrite)
    stopping.writes(output)
    with Stages(quiet=json) as stages:
        source = FileSource(inputs, request.settings)
        found = sweep_documents(source, request, exact=exact, top=top, stage=stages)
        if output is not None:
            stages("plots")
            found.save(output, overwrite=overwrite)
    if json:
        say_json(found.as_dict())
        return
    from neardup.lab.sweep.result import print_sweep

    print_sweep(found, plain_console())
    if found.rejected:
        say(f"{count(found.rejected, 'row')} could not be read and are left out", err=True)
    if output is not None:
        say(f"table and plots → {output}")


def _numbers(text: str | None, option: str, kind: type[Number]) -> list[Number] | None:
    """`2,3,4` as numbers."""
    if text is None:
        return None
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        noun = "whole numbers" if kind is int else "numbers"
        raise SettingError(f"{option} {text} must be {noun} with commas between") from None
