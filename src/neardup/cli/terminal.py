"""What commands print: lines, tables and JSON in which no text from outside steers the terminal.

File names, ids, columns and texts of documents may hold escape sequences, line ends and characters
that turn the direction of writing. In lines they are made visible, in JSON they are escaped.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

import typer

from neardup.visible import visible

if TYPE_CHECKING:
    from rich.console import Console


def say(line: str = "", *, err: bool = False) -> None:
    """Print one line."""
    _spell_out_the_unprintable()
    typer.echo(visible(line), err=err)


def say_lines(text: str) -> None:
    """Print a text of several lines."""
    for line in text.split("\n"):
        say(line)


def say_columns(cells: Iterable[str]) -> None:
    """Print one line of columns with tabs between them, for `cut` and `awk`."""
    _spell_out_the_unprintable()
    typer.echo("\t".join(map(visible, cells)))


def say_json(value: Any, *, indent: int | None = 2) -> None:
    r"""Print one JSON value: the only way in which commands do.

    It is ASCII, with everything else as `\uXXXX`: valid whatever the encoding of the output, and
    no character of it can steer a terminal. NaN and infinities, which JSON does not have, are null.
    """
    text = json.dumps(_plain(value), indent=indent, allow_nan=False)
    typer.echo(text.replace("\x7f", "\\u007f"))


def plain_console() -> Console:
    """A console on standard output that takes text as it is: `[bold]` in a name is no markup."""
    from rich.console import Console

    _spell_out_the_unprintable()
    return Console(highlight=False, markup=False, emoji=False)


def _spell_out_the_unprintable() -> None:
    """Let what an old terminal's encoding cannot show be spelled out, not be an error."""
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors != "backslashreplace":
        sys.stdout.reconfigure(errors="backslashreplace")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
