"""Output of commands: lines, tables and JSON in which no input can control the terminal.

File names, ids, columns and texts may contain escape sequences, line ends and characters that
change the writing direction. In lines they are made visible, in JSON they are escaped.
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
    r"""Print one JSON value; every command prints JSON this way.

    It is ASCII, with everything else as `\uXXXX`: valid in any encoding of the output, and unable
    to control a terminal. NaN and infinities, which JSON does not have, are null.
    """
    import json

    text = json.dumps(_plain(value), indent=indent, allow_nan=False)
    click.echo(text.replace("\x7f", "\\u007f"))


def plain_console() -> Console:
    """A console on standard output that prints text literally: `[bold]` in a name is no markup."""
    from rich.console import Console

    spell_out_the_unprintable()
    return Console(highlight=False, markup=False, emoji=False)


def count(number: int, noun: str) -> str:
    """`1 row`, `2,000 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def size(number: float) -> str:
    """A number of bytes in a suitable unit: `12 bytes`, `3.4 kB`, `56.7 MB`, `8.9 GB`."""
    if number < 1000:
        return f"{number:.0f} bytes"
    for unit in ("kB", "MB", "GB"):
        number /= 1000
        if number < 999.95 or unit == "GB":
            break
    return f"{number:,.1f} {unit}"


def say_rejected(rows: int, files: int, listed: str | os.PathLike[str] | None) -> None:
    """Print how many rows were rejected and files left out, and where they are listed.

    If the output is a device, there is no list.
    """
    if rows:
        where = (
            f" → {listed}" if listed else "; name a file as output to have them listed beside it"
        )
        say(f"{count(rows, 'row')} rejected{where}", err=True)
    if files:
        say(f"{count(files, 'file')} left out → {listed}", err=True)


def spell_out_the_unprintable() -> None:
    """Escape characters that the encoding of standard output lacks, instead of failing."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors != "backslashreplace":
        sys.stdout.reconfigure(errors="backslashreplace")


def replace_closed_streams() -> None:
    """Replace closed standard streams (`>&-`), and open /dev/null on their descriptors.

    Otherwise the next file that is opened gets the descriptor of a standard stream, and printed
    output goes into that file.
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
    if sys.stderr is None:  # errors cannot be printed, only the exit code tells
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for as long as we run


class _ClosedOutput(io.TextIOBase):
    """Replaces a closed standard output; writing to it raises an error."""

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
