"""`neardup rethreshold`: a saved run at another threshold."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from neardup.cli import options, stopping
from neardup.cli.command import Command
from neardup.cli.terminal import count, say, say_json


@click.command(cls=Command)
@options.path_argument("run", "OUT", "Folder that `neardup dedup` wrote.")
@options.argument(
    "threshold",
    "New minimum similarity; for hamming, the maximum number of differing bits.",
    metavar="T",
    type=float,
)
@options.path("--output", "-o", required=True, help="Folder to write.")
@options.overwrite
@options.flag(
    "--copies",
    help="Add a column `copies` to the kept rows: how many documents each stands for.",
)
@options.quiet
@options.as_json
@options.progress
def rethreshold(
    run: Path,
    threshold: float,
    output: Path,
    overwrite: bool,
    copies: bool,
    quiet: bool,
    json: bool,
    progress: str,
) -> None:
    """Repeat a saved run with another threshold, without reading the input.

    The run must have listed all pairs (--pairs all, or --floor for thresholds below its own).
    Documents, pairs and clusters are the same as in a new run with that threshold.

    Example: neardup rethreshold out 0.9 -o out-90
    """
    from neardup.atomic import require_apart
    from neardup.cli.progress import Stages
    from neardup.deduplication.load import summary_in
    from neardup.deduplication.result import Result
    from neardup.deduplication.save import FOLDER, save

    require_apart(output, [run])
    FOLDER.require_free(output, overwrite=overwrite)
    format = summary_in(run)["format"]
    loaded = Result.load(run)
    before = len(loaded.clustering.removed)
    result = loaded.rethreshold(threshold)
    stopping.writes(output)
    with Stages(quiet=quiet or json, progress=progress) as stages:
        saved = save(
            result,
            output,
            overwrite=overwrite,
            format=format,
            copies=copies,
            command=shlex.join(["neardup", *sys.argv[1:]]),
            progress=stages("output"),
        )
    if json:
        say_json(saved.summary)
    elif not quiet:
        summary = saved.summary
        say(
            f"{count(summary['documents'], 'document')} at {result.settings.limit}: "
            f"{summary['removed']:,} removed, {summary['kept']:,} kept, "
            f"{count(summary['clusters'], 'cluster')}; {loaded.settings.limit} removed {before:,}"
        )
        for warning in summary["warnings"]:
            say(f"Warning: {warning}", err=True)
        say(f"{result.scheme} → {output}")
