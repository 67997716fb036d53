"""`neardup index query`: what is near a text, or near each of many."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neardup.cli import options
from neardup.cli.terminal import say_columns, say_json

if TYPE_CHECKING:
    from neardup.index import Match

_SHOWN = 40


def query(
    path: Annotated[
        Path,
        typer.Argument(
            parser=options.path, metavar="PATH", help="The folder of the index.", show_default=False
        ),
    ],
    document: Annotated[
        str | None,
        typer.Argument(metavar="[TEXT]", help="The text to ask about.", show_default=False),
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            "-i",
            metavar="INPUT",
            help="Many documents: a file, folder, glob or URL, or - for standard input.",
        ),
    ] = None,
    max_distance: Annotated[
        int | None,
        typer.Option(help="The most bits that may differ.", show_default="that of the index"),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="The least true similarity; the index must store texts or features."),
    ] = None,
    limit: Annotated[int, typer.Option(help="How many matches to give at most.")] = 10,
    text: options.Text = None,
    id: options.Id = None,
    max_document: options.MaxDocument = "64MB",
    threads: options.Threads = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object in a line for each document.")
    ] = False,
) -> None:
    """Find the documents near a text, or near each of many: nearest first.

    Without a text and without --input, one text is read from standard input.

    Example: neardup index query seen.index "To be, or not to be"
    """
    from neardup.cli.files import STANDARD_INPUT, read_text
    from neardup.errors import SettingError
    from neardup.index import Index
    from neardup.index.files import query_files
    from neardup.pairs.memory import bytes_of

    if document is not None and inputs:
        raise SettingError("give a text or --input, not both")
    if not inputs and (text is not None or id is not None):
        raise SettingError("--text and --id name columns of --input; give --input, or leave them")
    with Index(path, readonly=True, create=False, threads=threads) as opened:
        found: Iterable[tuple[Any, list[Match]]]
        if inputs:
            found = query_files(
                inputs,
                opened,
                text=text,
                id=id,
                max_distance=max_distance,
                threshold=threshold,
                limit=limit,
                max_document=bytes_of(max_document, "max_document"),
            )
        else:
            asked = read_text(STANDARD_INPUT) if document is None else document
            found = [(None, opened.query(asked, max_distance, threshold, limit))]
        if json:
            _print_lines(found)
        else:
            _print_table(found)


def _print_lines(found: Iterable[tuple[Any, list[Match]]]) -> None:
    for asked, matches in found:
        line = {"query": asked, "matches": [match._asdict() for match in matches]}
        say_json(line, indent=None)


def _print_table(found: Iterable[tuple[Any, list[Match]]]) -> None:
    """Columns parted by tabs; the query first where there are many."""
    for asked, matches in found:
        front = [] if asked is None else [str(asked)]
        if not matches:
            say_columns([*front, "no match"])
        for match in matches:
            similarity = "-" if match.similarity is None else f"{match.similarity:.4f}"
            parts = [*front, str(match.id), str(match.distance), similarity]
            if match.metadata is not None:
                parts.append(str(match.metadata)[:_SHOWN])
            say_columns(parts)
