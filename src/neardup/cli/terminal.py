"""What commands print: lines, tables and JSON in which no text from outside steers the terminal.

File names, ids, columns and texts of documents may hold escape sequences, line ends and characters
that turn the direction of writing. In lines they are made visible, in JSON they are escaped.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from neardup.errors import NeardupError

if TYPE_CHECKING:
    from rich.console import Console


def say(line: str = "", *, err: bool = False) -> None:
    """Print one line."""
    from neardup.visible import visible

    spell_out_the_unprintable()
    click.echo(visible(line), err=err)


def say_lines(text: str) -> None:
    """Print a text of several lines."""
    for line in text.split("\n"):
        say(line)


def say_columns(cells: Iterable[str]) -> None:
    """Print one line of columns with tabs between them, for `cut` and `awk`."""
    from neardup.visible import visible

    spell_out_the_unprintable()
    click.echo("\t".join(map(visible, cells)))


def say_json(value: Any, *, indent: int | None = 2) -> None:
    r"""Print one JSON value: the only way in which commands do.

    It is ASCII, with everything else as `\uXXXX`: valid whatever the encoding of the output, and
    no character of it can steer a terminal. NaN and infinities, which JSON does not have, are null.
    """
    import json

    text = json.dumps(_plain(value), indent=indent, allow_nan=False)
    click.echo(text.replace("\x7f", "\\u007f"))


def plain_console() -> Console:
    """A console on standard output that takes text as it is: `[bold]` in a name is no markup."""
    from rich.console import Console

    spell_out_the_unprintable()
    return Console(highlight=False, markup=False, emoji=False)


def count(number: int, noun: str) -> str:
    """`1 row`, `2,000 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def size(number: float) -> str:
    """Bytes in the unit that suits them: `12 bytes`, `3.4 kB`, `56.7 MB`, `8.9 GB`."""
    if number < 1000:
        return f"{number:.0f} bytes"
    for unit in ("kB", "MB", "GB"):
        number /= 1000
        if number < 999.95 or unit == "GB":
            break
    return f"{number:,.1f} {unit}"


def say_rejected(rows: int, files: int, listed: str | os.PathLike[str] | None) -> None:
    """Say how many rows were rejected and files left out, and where they are listed.

    Beside a device there is no place for a list.
    """
    if rows:
        where = (
            f" → {listed}" if listed else "; name a file as output to have them listed beside it"
        )
        say(f"{count(rows, 'row')} rejected{where}", err=True)
    if files:
        say(f"{count(files, 'file')} left out → {listed}", err=True)


def spell_out_the_unprintable() -> None:
    """Let what an old terminal's encoding cannot show be spelled out, not be an error."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors != "backslashreplace":
        sys.stdout.reconfigure(errors="backslashreplace")


def replace_closed_streams() -> None:
    """Give standard streams that are closed (`>&-`) a stand-in, and their numbers to /dev/null.

    Otherwise the next file that is opened gets the number of a standard stream, and what is
    printed goes into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
    if sys.stdout is None:
        sys.stdout = _ClosedOutput()
    if sys.stderr is None:  # nobody can be told, the exit code must do
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for as long as we run


class _ClosedOutput(io.TextIOBase):
    """In place of a standard output that is closed: whoever prints is told so."""

    encoding = "utf-8"

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        raise NeardupError(
            "standard output is closed, so nothing can be printed; send it to a file or to "
            "/dev/null"
        )


def _plain(value: Any) -> Any:
    from math import isfinite

    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value
