"""`neardup tune`: settings for a collection, from a sample of it."""

from __future__ import annotations

from pathlib import Path
from shlex import join, quote
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options, stopping
from neardup.cli.command import Command
from neardup.cli.terminal import plain_console, say, say_json, say_lines, size
from neardup.visible import shown_similarity

if TYPE_CHECKING:
    from rich.table import Table

    from neardup.collection.source import Source
    from neardup.lab.tune.options import Option
    from neardup.lab.tune.result import Tuning

_SHOWN = 160  # characters of a text that is shown


@click.command(cls=Command)
@options.inputs
@options.path(
    "--labels",
    help="Labelled pairs to choose by: columns a, b and same (Parquet, CSV or JSON lines), "
    "decisions.jsonl, a run with decisions, or a file of --propose.",
)
@options.path("--output", "-o", help="Settings file to write, for `neardup dedup --config`.")
@options.path(
    "--propose",
    help="Write pairs to label, spread over all similarities, as .jsonl, .csv or .parquet; for "
    "`neardup review` and `neardup explore`.",
)
@options.option(
    "--count", type=int, default=200, help="Number of pairs to label that --propose writes."
)
@options.path(
    "--fit", help="Fit a model to the labels and write it to this file; for --model of `dedup`."
)
@options.setting(
    "threshold",
    default=None,
    note="by labels, else guessed",
    help="Minimum similarity of near-duplicates, if it is already decided.",
)
@options.setting(
    "recall",
    default=None,
    note="0.99; 0.95 for bands",
    section="Options",
    help="Minimum share of the pairs at or above the threshold that the search must find.",
)
@options.setting(
    "similarity",
    note="chosen with the features",
    help="Similarity measure: jaccard, weighted-jaccard, cosine or fields.",
)
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
@options.settings("text", "id", "read_as", "suffix", "max_document")
@options.setting(
    "features",
    note="by labels; else by the length of the documents",
    help="Features of a document, as in `neardup dedup`, if they are already decided.",
)
@options.setting("weights", note="chosen with the features")
@options.settings("hash")
@options.setting(
    "cluster",
    default=None,
    note="by labels; else dense if documents up to 250 words come in groups, star for others",
    help="Clusters, as in `neardup dedup`, if they are already decided.",
)
@options.setting(
    "candidates",
    help="Plans to consider: auto, or bands (only fingerprints, no exact join on features).",
)
@options.setting("memory", help="Memory to use, for this run and for `dedup`, for example 8GB.")
@options.settings("threads")
def tune(
    inputs: tuple[str, ...],
    labels: Path | None,
    output: Path | None,
    propose: Path | None,
    count: int,
    fit: Path | None,
    budget: str,
    sample: int,
    quiet: bool,
    json: bool,
    progress: str,
    features: str | None,
    **chosen: Any,
) -> None:
    """Recommend settings for a collection: by labelled pairs, or by what it looks like.

    With --labels, chooses features, weights, similarity, threshold and clusters, and says what F1
    to expect. Without, recommends what was best on such collections, and guesses the threshold.
    --propose writes the pairs to label: answer them with `neardup review`, then give the file to
    --labels.

    Example: neardup tune people.csv --labels pairs.jsonl -o settings.toml
    """
    from neardup.atomic import require_apart, require_writable
    from neardup.cli.progress import Stages
    from neardup.collection.settings import DedupSettings
    from neardup.deduplication.sources import stored_source
    from neardup.errors import SettingError
    from neardup.lab.tune.run import tuned
    from neardup.labels.to_label import require_free, suffix_of, write_pairs_to_label

    read = [*inputs, *([str(labels)] if labels is not None and labels.is_file() else [])]
    written = [path for path in (output, propose, fit) if path is not None]
    for path in written:
        require_writable(path)
        require_apart(path, read)
        stopping.writes(path)
    if len({path.resolve() for path in written}) < len(written):
        raise SettingError("--output, --propose and --fit need a file each, not the same one")
    if propose is not None:
        suffix_of(propose)
        require_free(propose, overwrite=False)

    def opened(settings: DedupSettings) -> Source:
        return stored_source(list(inputs), settings)

    with Stages(quiet=quiet or json, progress=progress) as stages:
        found = tuned(
            opened,
            features,
            chosen,
            labels=labels,
            fit=fit,
            propose=None if propose is None else count,
            sample=sample,
            budget=budget,
            stage=stages,
        )
    command = _command(inputs, chosen)
    if propose is not None and found.proposed is not None:
        write_pairs_to_label(propose, found.proposed, about={"command": command})
    if output is not None:
        found.save(output)
    if json:
        say_json(found.to_dict())
    elif not quiet:
        _print(found, inputs, output)
        _print_next(found, command, labels, propose)


def _command(inputs: tuple[str, ...], chosen: dict[str, Any]) -> str:
    """The command that was typed, as far as other commands need it."""
    parts = ["neardup", "tune", *inputs]
    for name in ("text", "id"):
        if chosen.get(name) is not None:
            parts += [f"--{name}", str(chosen[name])]
    return join(parts)


def _print(found: Tuning, inputs: tuple[str, ...], output: Path | None) -> None:
    for line in found.explanation.splitlines():
        say(line)
    say()
    if found.choice is not None:
        plain_console().print(_table(found, found.choice))
        say()
    if output is None:
        say_lines(_settings(found))
    else:
        say(f"neardup dedup {join(inputs)} --config {quote(str(output))} -o OUT")


def _print_next(found: Tuning, command: str, labels: Path | None, propose: Path | None) -> None:
    """What to do so that the next recommendation is no guess."""
    from neardup.visible import visible

    for a, b, similarity in found.shown:
        say()
        say(f"similarity {shown_similarity(similarity)}: are these the same?")
        for text in (a, b):
            line = visible(" · ".join(text.split("\n")))
            say(f"  {line[:_SHOWN]}{'…' if len(line) > _SHOWN else ''}")
    if propose is not None:
        name = quote(str(propose))
        say()
        more = "more " if labels is not None else ""
        say(f"{len(found.proposed or ()):,} {more}pairs to label are in {name}. Next:")
        say(f"  neardup review {name}")
        if labels is None:
            say(f"  {command} --labels {name} -o settings.toml")
    elif found.guessed:
        say()
        say("To know instead of guessing, label about 200 pairs:")
        say(f"  {command} --propose pairs.jsonl")


def _settings(found: Tuning) -> str:
    """The settings file without its comments."""
    return "\n".join(line for line in found.to_toml().splitlines() if not line.startswith("#"))


def _table(found: Tuning, choice: Option) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
    table.add_column("plan", no_wrap=True)
    for heading in ("bits", "finds of the pairs", "candidates", "seconds", "memory"):
        table.add_column(heading, justify="right", no_wrap=True)
    for option in (choice, *found.alternatives):
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
