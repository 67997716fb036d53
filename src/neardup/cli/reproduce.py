"""`neardup reproduce`: the systems this project began with, run again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neardup.cli import options
from neardup.cli.terminal import plain_console, say_json
from neardup.errors import SettingError
from neardup.visible import visible

if TYPE_CHECKING:
    from rich.table import Table

    from neardup.lab.reproduce.report import BesideTable, Cell, Reproduction

_TERMS = "documents with the columns id, terms and weights, such as tf-idf vectors of abstracts"
_NEEDS = {
    "s0": _TERMS,
    "s1": "",
    "s2": "Chinese texts: files, a folder, or a Parquet file with a column text",
    "s3": _TERMS,
    "s4": "articles: a folder of text files, or a Parquet file with a column text",
}
_WITH_TRUTH = ("s2", "s4")


def reproduce(
    seed: Annotated[
        str, typer.Argument(metavar="SEED", help="s0, s1, s2, s3 or s4.", show_default=False)
    ],
    inputs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[INPUT...]", help="The data to run it on; s1 brings its own."),
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option(
            parser=options.path,
            metavar="PATH",
            help="Known near-duplicates for s2 and s4: a Parquet file with their ids as a and b.",
            show_default="none",
        ),
    ] = None,
    text: options.Text = None,
    id: options.Id = None,
    threads: options.Threads = None,
    json: options.Json = False,
) -> None:
    """Run a seed's system with its own parameters, its published values beside ours.

    Example: neardup reproduce s0 arxiv-features.parquet
    """
    _check(seed, inputs or [], truth)
    done = _run(seed, inputs or [], truth, text, id, threads)
    if json:
        say_json(done.as_dict())
    else:
        _print(done)


def _check(seed: str, inputs: list[str], truth: Path | None) -> None:
    if seed not in _NEEDS:
        raise SettingError(f"{seed!r} is no seed; choose {', '.join(_NEEDS)}")
    if _NEEDS[seed] and not inputs:
        raise SettingError(f"{seed} needs data: give {_NEEDS[seed]}")
    if inputs and not _NEEDS[seed]:
        raise SettingError(f"{seed} runs on its own examples; leave {inputs[0]} away")
    if truth is not None and seed not in _WITH_TRUTH:
        raise SettingError(
            f"{seed} has no use for --truth: "
            + ("it has its own values" if seed == "s1" else "it finds every true pair itself")
        )


def _run(
    seed: str,
    inputs: list[str],
    truth: Path | None,
    text: str | None,
    id: str | None,
    threads: int | None,
) -> Reproduction:
    if seed == "s1":
        from neardup.lab.reproduce.slides import reproduce_slides

        return reproduce_slides(threads=threads)
    if seed in _WITH_TRUTH:
        from neardup.lab.reproduce.blog import reproduce_blog
        from neardup.lab.reproduce.sphere import reproduce_articles

        run = reproduce_blog if seed == "s2" else reproduce_articles
        known = None if truth is None else str(truth)
        return run(inputs, text=text, id=id, truth=known, threads=threads)
    from neardup.lab.reproduce.bands import reproduce_bands
    from neardup.lab.reproduce.published import CAIM, IRRS

    lab = CAIM if seed == "s0" else IRRS
    return reproduce_bands(lab, inputs, text=text, id=id, threads=threads)


def _print(done: Reproduction) -> None:
    from rich.text import Text

    from neardup.report.tables import print_whole

    console = plain_console()
    console.print(Text(done.system))
    console.print(Text(visible(f"on {done.data}, in {done.seconds:.2f} s"), style="dim"))
    for table in done.tables:
        console.print()
        console.print(Text(visible(table.title), style="bold"))
        print_whole(_shown(table), console)
    console.print()
    for sentence in done.differences:
        console.print(Text(visible(f"· {sentence}")))


def _shown(table: BesideTable) -> Table:
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
    for place, column in enumerate(table.columns):
        told = [row[place] for row in table.rows]
        numbers = all(isinstance(cell, int | float | None) for cell in told)
        shown.add_column(
            Text(column.heading),
            justify="right" if numbers else "left",
            vertical="bottom",
            no_wrap=numbers,
        )
    for row in table.rows:
        shown.add_row(*(Text(visible(told_cell(cell))) for cell in row))
    return shown


def told_cell(cell: Cell) -> str:
    """A number with its thousands apart, a share with three digits, nothing for nothing."""
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.3f}" if abs(cell) < 10 else f"{cell:,.1f}"
    return f"{cell:,}" if isinstance(cell, int) else cell
