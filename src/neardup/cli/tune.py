"""`neardup tune`: settings for a collection, from a sample of it."""

from __future__ import annotations

from pathlib import Path
from shlex import join, quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neardup.cli import options
from neardup.cli.quantities import size
from neardup.cli.terminal import plain_console, say, say_json, say_lines

if TYPE_CHECKING:
    from rich.table import Table

    from neardup.lab.tune.result import Tuning


def tune(
    inputs: options.Inputs,
    threshold: Annotated[
        float, typer.Option(help="The least similarity of near-duplicates.")
    ] = 0.8,
    recall: Annotated[
        float, typer.Option(help="The share of the similar pairs that must be found.")
    ] = 0.95,
    budget: Annotated[
        str, typer.Option(help="About how long the sample may take, for example 60s or 5m.")
    ] = "60s",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            parser=options.path,
            metavar="PATH",
            help="The settings file to write, for `dedup --config`.",
            show_default="none",
        ),
    ] = None,
    text: options.Text = None,
    id: options.Id = None,
    features: Annotated[
        str | None,
        typer.Option(
            help="What a document is made of, where that is settled, as in `dedup`.",
            show_default="chosen by the length of the documents",
        ),
    ] = None,
    weights: options.Weights = None,
    hash: options.Hash = "nd1",
    similarity: Annotated[
        str | None,
        typer.Option(
            help="jaccard, weighted-jaccard or cosine.",
            show_default="what fits the weights",
        ),
    ] = None,
    candidates: Annotated[
        str, typer.Option(help="auto, or bands: only fingerprints, no join on the features.")
    ] = "auto",
    sample: Annotated[int, typer.Option(help="How many documents to look at closely.")] = 20_000,
    memory: Annotated[
        str, typer.Option(help="Memory to use, now and in `dedup`, such as 8GB.")
    ] = "2GB",
    max_document: options.MaxDocument = "64MB",
    threads: options.Threads = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
    json: options.Json = False,
) -> None:
    """Recommend features, bits and plan for a collection, and say what they will cost.

    Example: neardup tune corpus.jsonl --threshold 0.8 --recall 0.95 -o settings.toml
    """
    from neardup.atomic import require_apart, require_writable
    from neardup.cli import stopping
    from neardup.cli.stages import Stages
    from neardup.collection.settings import DedupSettings
    from neardup.collection.source import FileSource
    from neardup.lab.tune.run import tuned

    chosen: dict[str, Any] = {
        "threshold": threshold,
        "recall": recall,
        "text": text,
        "id": id,
        "weights": weights,
        "hash": hash,
        "similarity": similarity,
        "candidates": candidates,
        "memory": memory,
        "threads": threads,
        "max_document": max_document,
    }
    if output is not None:
        require_writable(output)
        require_apart(output, inputs)
    stopping.writes(output)
    assumed = "word:3" if features is None else features
    source = FileSource(inputs, DedupSettings.of(features=assumed, **chosen))
    with Stages(quiet=quiet or json) as stages:
        found = tuned(source, features, chosen, sample=sample, budget=budget, stage=stages)
    if output is not None:
        found.save(output)
    if json:
        say_json(found.to_dict())
    elif not quiet:
        _print(found, inputs, output)


def _print(found: Tuning, inputs: list[str], output: Path | None) -> None:
    for line in found.explanation.splitlines():
        say(line)
    say()
    plain_console().print(_table(found))
    say()
    if output is None:
        say_lines(_settings(found))
    else:
        say(f"neardup dedup {join(inputs)} --config {quote(str(output))} -o OUT")


def _settings(found: Tuning) -> str:
    """The settings, without the comments of the file."""
    return "\n".join(line for line in found.to_toml().splitlines() if not line.startswith("#"))


def _table(found: Tuning) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
    table.add_column("plan", no_wrap=True)
    for heading in ("bits", "recall", "candidates", "seconds", "memory"):
        table.add_column(heading, justify="right", no_wrap=True)
    for option in (found.choice, *found.alternatives):
        recall = option.recall
        sure = "" if recall.low == recall.high else f" ({recall.low:.3f}–{recall.high:.3f})"
        table.add_row(
            option.candidates,
            f"{option.bits:,}",
            f"{recall.value:.3f}{sure}",
            f"{option.candidate_pairs:,.0f}",
            f"{option.seconds:,.1f}",
            size(option.memory_bytes),
        )
    return table
