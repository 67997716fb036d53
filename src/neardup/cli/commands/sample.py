"""`neardup sample`: data to try neardup with."""

from __future__ import annotations

from pathlib import Path

import click

from neardup.cli import options, stopping
from neardup.cli.command import Command
from neardup.cli.terminal import count, say
from neardup.samples.kinds import KINDS, kind_of

_STANDARD_OUTPUT = Path("-")


@click.command(cls=Command)
@options.argument(
    "kind",
    f"Kind of data: {'; '.join(f'{name}, {kind.about}' for name, kind in KINDS.items())}.",
    metavar="[KIND]",
    required=False,
    default="texts",
    default_note="texts",
    shell_complete=options.one_of(tuple(KINDS)),
)
@options.path(
    "--output",
    "-o",
    note="standard output, as JSON lines",
    help="File to write: .jsonl, .csv or .parquet; for code and notebooks also a folder. A file "
    "with other content is not replaced.",
)
def sample(kind: str, output: Path | None) -> None:
    """Write sample data: texts, code, records, labels and notebooks.

    Example: neardup sample texts -o sample.jsonl
    """
    from neardup.samples.write import json_lines, write_sample

    if output is None or output == _STANDARD_OUTPUT:
        click.echo(json_lines(kind_of(kind).rows()).encode(), nl=False)
        return
    stopping.writes(output)
    rows = write_sample(kind, output)
    say(f"{count(rows, 'row')} → {output}")
