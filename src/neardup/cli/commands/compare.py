"""`neardup compare`: explain one pair."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from neardup.cli import options
from neardup.cli.command import Command
from neardup.cli.files import STANDARD_INPUT, read_text
from neardup.cli.terminal import plain_console, say_json
from neardup.errors import SettingError


@click.command(cls=Command)
@options.argument(
    "documents",
    "Two plain text files in UTF-8, one document each; - is standard input.",
    metavar="A B",
    nargs=-1,
)
@options.option(
    "--text",
    multiple=True,
    help="Text to compare, instead of a file; give this option twice.",
)
@options.option(
    "--context",
    type=click.IntRange(min=0),
    default=10,
    help="Unchanged words to show on each side of a change.",
)
@options.flag("--full", help="Show the whole diff.")
@options.as_json
@options.settings("features", "weights")
@options.idf
@options.settings("bits", "hash", "tie", "projection")
def compare(
    documents: tuple[str, ...],
    text: tuple[str, ...],
    context: int,
    full: bool,
    json: bool,
    idf: Path | None,
    **recipe: Any,
) -> None:
    """Explain one pair: features, distance, similarity and diff.

    Example: neardup compare draft.txt final.txt --features word:2
    """
    from neardup.comparison.compare import compare as compare_texts

    names, texts = _two_texts(documents, text)
    comparison = compare_texts(*texts, idf=idf, **recipe)
    if json:
        say_json(comparison.to_dict())
        return
    from neardup.comparison.view import ComparisonView

    plain_console().print(ComparisonView(comparison, names, context, full))


def _two_texts(
    files: tuple[str, ...], texts: tuple[str, ...]
) -> tuple[tuple[str, str], tuple[str, str]]:
    if not files and len(texts) == 2:
        return ("", ""), (texts[0], texts[1])
    if texts or len(files) != 2:
        raise SettingError(
            f"compare needs two files or two --text, not {len(files)} and {len(texts)}; "
            "for example: neardup compare a.txt b.txt"
        )
    if files == (STANDARD_INPUT, STANDARD_INPUT):
        raise SettingError("only one of the two documents can come from standard input (-)")
    return (files[0], files[1]), (read_text(files[0]), read_text(files[1]))
