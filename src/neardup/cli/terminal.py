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

from neardup.report.visible import STEERING, visible

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

    Characters that steer a terminal are written as `\uXXXX`, which reads back as the same text.
    Numbers that JSON does not have (NaN, infinities) are null.
    """
    _spell_out_the_unprintable()
    text = json.dumps(_plain(value), indent=indent, ensure_ascii=False, allow_nan=False)
    typer.echo(_escaped(text))


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


def _escaped(text: str) -> str:
    """JSON text with every steering character inside its strings as an escape."""
    lines = text.split("\n")  # json itself escapes line ends within strings
    return "\n".join(STEERING.sub(lambda found: json.dumps(found[0])[1:-1], line) for line in lines)
