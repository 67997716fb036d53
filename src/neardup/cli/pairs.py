"""`neardup pairs`: fingerprints in, pairs of near documents out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neardup.cli import options
from neardup.cli.quantities import count
from neardup.cli.terminal import say, say_json

if TYPE_CHECKING:
    from neardup.pairs.by_fingerprints.files import PairsSummary


def pairs(
    left: Annotated[
        Path,
        typer.Argument(
            parser=options.path,
            metavar="F",
            help="A file that `neardup fingerprint` wrote.",
            show_default=False,
        ),
    ],
    output: options.OutputFile,
    right: Annotated[
        Path | None,
        typer.Argument(
            parser=options.path,
            metavar="[F2]",
            help="A second one: pairs are then between the two.",
            show_default=False,
        ),
    ] = None,
    max_distance: Annotated[
        int | None,
        typer.Option(help="The most bits that may differ.", show_default="all candidates"),
    ] = None,
    candidates: Annotated[
        str,
        typer.Option(help="How to search; `neardup plan` compares the ways."),
    ] = "auto",
    group: Annotated[
        bool,
        typer.Option("--group", help="Keep identical fingerprints apart, as groups in a file."),
    ] = False,
    memory: Annotated[
        str, typer.Option(help="Memory for the search, beside the fingerprints, such as 8GB.")
    ] = "2GB",
    threads: options.Threads = None,
    json: options.Json = False,
) -> None:
    """Find all pairs of near fingerprints: ids and distance, as Parquet.

    Example: neardup pairs fps.parquet -o pairs.parquet --max-distance 3
    """
    from neardup.cli import stopping
    from neardup.pairs.by_fingerprints.files import find_pairs_in_files

    stopping.writes(output)
    with _Progress() as progress:
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


class _Progress:
    """How many rows are done, on a terminal; a search in one pass only shows that it goes on."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
        )

        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self._task = self._bar.add_task("pairs", total=None)

    def __call__(self, done: int, total: int) -> None:
        """Show where the run is."""
        self._bar.update(self._task, completed=done, total=total)

    def __enter__(self) -> _Progress:
        self._bar.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._bar.stop()
