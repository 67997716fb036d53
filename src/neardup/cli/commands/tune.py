"""`neardup tune`: settings for a collection, from a sample of it."""

from __future__ import annotations

from pathlib import Path
from shlex import join, quote
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options, stopping
from neardup.cli.command import Command
from neardup.cli.terminal import plain_console, say, say_json, say_lines, size
from neardup.settings import DEFAULT_THRESHOLD

if TYPE_CHECKING:
    from rich.table import Table

    from neardup.lab.tune.result import Tuning


@click.command(cls=Command)
@options.inputs
@options.setting(
    "threshold", default=DEFAULT_THRESHOLD, help="Minimum similarity of near-duplicates."
)
@options.setting(
    "recall",
    default=None,
    note="0.99; 0.95 for bands",
    section="Options",
    help="Minimum share of the similar pairs that must be found.",
)
@options.setting("similarity", help="Similarity measure: jaccard, weighted-jaccard or cosine.")
@options.path("--output", "-o", help="Settings file to write, for `neardup dedup --config`.")
@options.option(
    "--budget",
    default="60s",
    metavar="TIME",
    help="Approximate time to spend on the sample, for example 60s or 5m.",
)
@options.option(
    "--sample", type=int, default=20_000, help="Number of documents to examine closely."
)
@options.quiet
@options.as_json
@options.progress
@options.settings("text", "id", "max_document")
@options.setting(
    "features",
    note="chosen by the length of the documents",
    help="Features of a document, as in `neardup dedup`, if they are already decided.",
)
@options.settings("weights", "hash")
@options.setting(
    "candidates",
    help="Plans to consider: auto, or bands (only fingerprints, no exact join on features).",
)
@options.setting("memory", help="Memory to use, for this run and for `dedup`, for example 8GB.")
@options.settings("threads")
def tune(
    inputs: tuple[str, ...],
    output: Path | None,
    budget: str,
    sample: int,
    quiet: bool,
    json: bool,
    progress: str,
    features: str | None,
    **chosen: Any,
) -> None:
    """Recommend settings for a collection, with their cost.

    Chooses features, bits and a search plan by looking at a sample of the documents.

    Example: neardup tune corpus.jsonl --threshold 0.8 --recall 0.95 -o settings.toml
    """
    from neardup.atomic import require_apart, require_writable
    from neardup.cli.progress import Stages
    from neardup.collection.settings import DedupSettings
    from neardup.collection.source import FileSource
    from neardup.lab.tune.run import tuned

    if output is not None:
        require_writable(output)
        require_apart(output, inputs)
    stopping.writes(output)
    assumed = "word:3" if features is None else features
    source = FileSource(list(inputs), DedupSettings.of(features=assumed, **chosen))
    with Stages(quiet=quiet or json, progress=progress) as stages:
        found = tuned(source, features, chosen, sample=sample, budget=budget, stage=stages)
    if output is not None:
        found.save(output)
    if json:
        say_json(found.to_dict())
    elif not quiet:
        _print(found, inputs, output)


def _print(found: Tuning, inputs: tuple[str, ...], output: Path | None) -> None:
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
    """The settings file without its comments."""
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
