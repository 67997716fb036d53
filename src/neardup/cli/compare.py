"""`neardup compare`: explain one pair."""

from __future__ import annotations

from typing import Annotated

import typer

from neardup.cli import options
from neardup.cli.files import STANDARD_INPUT, read_text
from neardup.cli.terminal import plain_console, say_json
from neardup.errors import SettingError


def compare(
    documents: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="A B",
            help="Two files of plain text in UTF-8, each one document; - is standard input.",
            show_default=False,
        ),
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option(help="A text to compare, instead of files; give it twice.", metavar="TEXT"),
    ] = None,
    features: options.Features = "word:3",
    weights: options.Weights = None,
    idf: options.Idf = None,
    bits: options.Bits = 64,
    hash: options.Hash = "nd1",
    tie: options.Tie = ">0",
    projection: options.Projection = None,
    context: Annotated[
        int, typer.Option(help="Equal words shown on each side of a change.", min=0)
    ] = 10,
    full: Annotated[bool, typer.Option("--full", help="Show the whole diff.")] = False,
    json: options.Json = False,
) -> None:
    """Explain one pair: features, bits, distance, similarity, diff.

    Example: neardup compare draft.txt final.txt --features word:2
    """
    from neardup.comparison.compare import compare as compare_texts

    names, texts = _two_texts(documents or [], text or [])
    comparison = compare_texts(
        *texts,
        features=features,
        weights=weights,
        bits=bits,
        hash=hash,
        tie=tie,
        projection=projection,
        idf=idf,
    )
    if json:
        say_json(comparison.to_dict())
        return
    from neardup.comparison.view import ComparisonView

    plain_console().print(ComparisonView(comparison, names, context, full))


def _two_texts(files: list[str], texts: list[str]) -> tuple[tuple[str, str], tuple[str, str]]:
    if not files and len(texts) == 2:
        return ("", ""), (texts[0], texts[1])
    if texts or len(files) != 2:
        raise SettingError(
            f"compare needs two files or two --text, not {len(files)} and {len(texts)}; "
            "for example: neardup compare a.txt b.txt"
        )
    if files == [STANDARD_INPUT, STANDARD_INPUT]:
        raise SettingError("only one of the two documents can come from standard input (-)")
    return (files[0], files[1]), (read_text(files[0]), read_text(files[1]))
