"""Output of commands: lines, tables and JSON in which no input can control the terminal.

File names, ids, columns and texts may contain escape sequences, line ends and characters that
change the writing direction. In lines they are made visible, in JSON they are escaped.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.streams import spell_out_the_unprintable

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


_NAMED = 4
# Formats of which a file is a document, and formats by names for people.
_WHOLE = ("text", "html", "pdf")
_FORMATS = {
    "html": "HTML",
    "pdf": "PDF",
    "warc": "WARC",
    "jsonl": "JSON lines",
    "json": "JSON",
    "csv": "CSV",
    "tsv": "TSV",
    "parquet": "Parquet",
    "arrow": "Arrow",
    "sniff": "what their first bytes say",
}


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


def say_files(files: Mapping[str, Any] | None) -> None:
    """Print how many files were read as what."""
    for line in files_lines(files):
        say(line)


def files_lines(files: Mapping[str, Any] | None) -> list[str]:
    """How many files were read as what; nothing if it is one file of rows."""
    if files is None:
        return []
    formats, why = files["formats"], files["left_out"]
    whole = any(name in formats for name in _WHOLE)
    if not whole and not why and sum(formats.values()) < 2 and not files["passed_over"]:
        return []
    parts: list[str] = []
    for name, number in formats.items():
        files_of = count(number, "file") if not parts else f"{number:,}"
        parts.append(f"{files_of} as {_FORMATS.get(name, name)}")
    said = ", ".join(parts) or "nothing"
    suffixes = files["suffixes"]
    if len(suffixes) > 1:
        said += f" ({_most(suffixes, ' ')})"
    if why:
        said += f"; left out {sum(why.values()):,} ({_most(why, ' × ')})"
    if files["passed_over"]:
        said += f"; {files['passed_over']:,} with other suffixes not read"
    lines = [f"Read {said}"]
    if formats == {"text": 1}:
        lines.append("One file is one document; --as lines makes each of its lines a document")
    return lines


def _most(counts: Mapping[str, int], sign: str) -> str:
    """The most frequent of some names with their numbers, and how many are of others."""
    ranked = sorted(counts.items(), key=lambda one: (one[0] == "others", -one[1]))
    named = [f"{number:,}{sign}{name or 'without suffix'}" for name, number in ranked[:_NAMED]]
    rest = sum(number for _, number in ranked[_NAMED:])
    return ", ".join([*named, f"{rest:,} others"] if rest else named)


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


def _plain(value: Any) -> Any:
    from math import isfinite

    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value
