"""`neardup compare`: explain one pair."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from neardup.cli import options
from neardup.errors import InputError, SettingError

_STANDARD_INPUT = "-"


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
    weights: options.Weights = "set",
    bits: options.Bits = 64,
    hash: options.Hash = "nd1",
    tie: options.Tie = ">0",
    context: Annotated[
        int, typer.Option(help="Equal words shown on each side of a change.", min=0)
    ] = 10,
    full: Annotated[bool, typer.Option("--full", help="Show the whole diff.")] = False,
    json: options.Json = False,
) -> None:
    """Explain one pair: features, bits, distance, similarity, diff.

    Example: neardup compare draft.txt final.txt --features word:2
    """
    from neardup.comparison import compare as compare_texts

    names, texts = _two_texts(documents or [], text or [])
    comparison = compare_texts(
        *texts, features=features, weights=weights, bits=bits, hash=hash, tie=tie
    )
    if json:
        from json import dumps

        # ASCII, so that no byte of a document can steer the terminal.
        typer.echo(dumps(comparison.to_dict(), indent=2))
        return
    from rich.console import Console

    from neardup.report.comparison import ComparisonView

    if isinstance(sys.stdout, TextIOWrapper):  # what an old terminal cannot show is spelled out
        sys.stdout.reconfigure(errors="backslashreplace")
    Console(highlight=False).print(ComparisonView(comparison, names, context, full))


def _two_texts(files: list[str], texts: list[str]) -> tuple[tuple[str, str], tuple[str, str]]:
    if not files and len(texts) == 2:
        return ("", ""), (texts[0], texts[1])
    if texts or len(files) != 2:
        raise SettingError(
            f"compare needs two files or two --text, not {len(files)} and {len(texts)}; "
            "for example: neardup compare a.txt b.txt"
        )
    if files == [_STANDARD_INPUT, _STANDARD_INPUT]:
        raise SettingError("only one of the two documents can come from standard input (-)")
    return (files[0], files[1]), (_document(files[0]), _document(files[1]))


def _document(name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == _STANDARD_INPUT else Path(name).read_bytes()
    except FileNotFoundError:
        raise InputError(f"there is no file {name}") from None
    except IsADirectoryError:
        raise InputError(f"{name} is a folder; compare takes two files") from None
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}") from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start} "
            "is out of place; convert the file first, for example with iconv"
        ) from None
