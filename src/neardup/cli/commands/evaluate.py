"""`neardup evaluate`: how good a run is, by labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from neardup.cli import options, stopping
from neardup.cli.command import Command
from neardup.cli.terminal import plain_console, say, say_json
from neardup.errors import SettingError


@click.command(cls=Command)
@options.path_argument("out", "OUT", "Folder that `neardup dedup` wrote.")
@options.path(
    "--truth",
    help="Labelled pairs: Parquet, CSV or JSON lines with the columns a, b and, unless all pairs "
    "are the same, same (true or false); or decisions.jsonl.",
)
@options.option(
    "--truth-column",
    metavar="NAME",
    help="Column of the input with the name of the true cluster, instead of --truth.",
)
@options.flag("--complete", help="Count every pair without a label as different.")
@options.flag("--partial", help="Count labelled pairs only; this is the default.")
@options.path("--output", "-o", help="File to write: a page (.html), or everything as .json.")
@options.as_json
@options.quiet
def evaluate(
    out: Path,
    truth: Path | None,
    truth_column: str | None,
    complete: bool,
    partial: bool,
    output: Path | None,
    json: bool,
    quiet: bool,
) -> None:
    """Measure how good a run is, by labelled pairs or true clusters.

    Shows precision, recall and F1 with intervals, for pairs and for clusters, the curve over
    thresholds, and the worst false and missed pairs with their diffs. The first line says what the
    labels allow.

    Example: neardup evaluate out --truth pairs.parquet -o evaluation.html
    """
    from neardup.atomic import require_apart, require_writable
    from neardup.evaluation.evaluate import evaluate as evaluated, require_page

    if complete and partial:
        raise SettingError("--complete and --partial exclude each other; give one of them")
    given = _labels(truth, truth_column)
    if output is not None:
        require_page(output)
        require_writable(output)
        inputs = [str(truth)] if truth is not None and truth.exists() else []
        require_apart(output, inputs)
    stopping.writes(output)
    found = evaluated(out, complete=complete, **given)
    if output is not None:
        found.save(output)
    if json:
        say_json(found.to_dict())
    elif not quiet:
        from neardup.evaluation.text import print_evaluation

        print_evaluation(found, plain_console())
        if output is not None:
            say()
            say(f"{'page' if output.suffix.lower() != '.json' else 'JSON'} → {output}")


def _labels(truth: Path | None, column: str | None) -> dict[str, Any]:
    """The labels to use; `--truth NAME` is a column if there is no such file."""
    if truth is not None and column is not None:
        raise SettingError("--truth and --truth-column exclude each other; give one of them")
    if column is not None:
        return {"column": column}
    if truth is None:
        raise SettingError(
            "evaluate needs labels: --truth FILE with pairs, or --truth-column NAME with the true "
            "cluster of each document"
        )
    return {"truth": truth}
