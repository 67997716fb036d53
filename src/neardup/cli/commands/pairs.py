"""`neardup pairs`: fingerprints in, pairs of near documents out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup.cli import options, stopping
from neardup.cli.command import Command
from neardup.cli.terminal import count, say, say_json

if TYPE_CHECKING:
    from neardup.pairs.by_fingerprints.files import PairsSummary


@click.command(cls=Command)
@options.path_argument("left", "F", "File of fingerprints, written by `neardup fingerprint`.")
@options.path_argument(
    "right", "[F2]", "Second file; pairs are then between the two files.", required=False
)
@options.output_file
@options.option(
    "--max-distance",
    type=int,
    note="all candidates",
    help="Maximum number of differing bits.",
)
@options.flag(
    "--group",
    help="Report identical fingerprints once, and write their groups to a file of their own.",
)
@options.as_json
@options.setting(
    "candidates", help="How to search: auto, or a plan; `neardup plan` compares the plans."
)
@options.setting(
    "memory", help="Memory for the search, in addition to the fingerprints, for example 8GB."
)
@options.settings("threads")
def pairs(
    left: Path,
    right: Path | None,
    output: Path,
    max_distance: int | None,
    group: bool,
    json: bool,
    candidates: str,
    memory: str,
    threads: int | None,
) -> None:
    """Find all pairs of similar fingerprints.

    Writes a Parquet file with the ids and the distance of each pair.

    Example: neardup pairs fps.parquet -o pairs.parquet --max-distance 3
    """
    from neardup.cli.progress import RowProgress
    from neardup.pairs.by_fingerprints.files import find_pairs_in_files

    stopping.writes(output)
    with RowProgress("pairs") as progress:
        summary = find_pairs_in_files(
            left,
            right,
            output,
            max_distance=max_distance,
            candidates=candidates,
            group=group,
            memory=memory,
            threads=threads,
            announce=lambda sentence: say(sentence, err=True),
            progress=progress,
        )
    if json:
        say_json(summary.to_dict())
    else:
        _print(summary)


def _print(summary: PairsSummary) -> None:
    documents = count(summary.documents, "document")
    if summary.empty:
        documents += f" ({summary.empty:,} empty)"
    within = "" if summary.max_distance is None else f" within {summary.max_distance} bits"
    say(f"{count(summary.pairs, 'pair')}{within} of {documents}, in {summary.seconds:.2f} s")
    files = f"{summary.scheme} → {summary.output}"
    for groups in summary.groups_files:
        files += f", {groups}"
    if summary.groups_files:
        files += f" ({summary.identical:,} identical to an earlier one)"
    say(files)
