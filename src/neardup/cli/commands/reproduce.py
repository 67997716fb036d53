"""`neardup reproduce`: published systems, run again with their own parameters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup.cli import options
from neardup.cli.command import Command
from neardup.cli.terminal import plain_console, say_json
from neardup.errors import SettingError
from neardup.visible import visible

if TYPE_CHECKING:
    from rich.table import Table

    from neardup.lab.reproduce.report import BesideTable, Cell, Reproduction

_NAMES = ("caim", "irrs", "slides", "blog", "sphere")
_WITH_TRUTH = ("blog", "sphere")
_FORMER = {"s0": "caim", "s1": "slides", "s2": "blog", "s3": "irrs", "s4": "sphere"}


@click.command(cls=Command)
@options.argument(
    "preset",
    "caim, irrs, slides, blog or sphere; `neardup presets` says what they are.",
    metavar="PRESET",
    shell_complete=options.one_of(_NAMES),
)
@options.argument(
    "inputs",
    "Data to run on: for caim and irrs tf-idf vectors with the columns id, terms and weights, for "
    "blog Chinese texts, for sphere articles; slides has its own examples.",
    metavar="[INPUT...]",
    nargs=-1,
    default_note="generated articles",
)
@options.path(
    "--truth",
    help="Known near-duplicates, for blog and sphere: a Parquet file with their ids in the columns "
    "a and b.",
)
@options.as_json
@options.settings("text", "id", "threads")
def reproduce(
    preset: str,
    inputs: tuple[str, ...],
    truth: Path | None,
    json: bool,
    text: str | None,
    id: str | None,
    threads: int | None,
) -> None:
    """Run a published system again, beside its published values.

    Example: neardup reproduce caim
    """
    _check(preset, inputs, {"--truth": truth, "--text": text, "--id": id})
    done = _run(preset, list(inputs), truth, text, id, threads)
    if json:
        say_json(done.as_dict())
    else:
        _print(done)


def _check(preset: str, inputs: tuple[str, ...], about: dict[str, object]) -> None:
    if preset in _FORMER:
        raise SettingError(f"{preset} is now called {_FORMER[preset]}; give that name")
    if preset not in _NAMES:
        raise SettingError(f"{preset!r} cannot be reproduced; choose {', '.join(_NAMES)}")
    if inputs and preset == "slides":
        raise SettingError(f"{preset} runs on its own examples; omit {inputs[0]}")
    if about["--truth"] is not None and preset not in _WITH_TRUTH:
        raise SettingError(
            f"{preset} has no use for --truth: "
            + ("it has its own values" if preset == "slides" else "it finds every true pair itself")
        )
    for option, value in about.items():
        if value is not None and not inputs:
            raise SettingError(f"{option} {value} is about INPUT; give INPUT, or omit {option}")


def _run(
    preset: str,
    inputs: list[str],
    truth: Path | None,
    text: str | None,
    id: str | None,
    threads: int | None,
) -> Reproduction:
    if preset == "slides":
        from neardup.lab.reproduce.slides import reproduce_slides

        return reproduce_slides(threads=threads)
    if preset in _WITH_TRUTH:
        from neardup.lab.reproduce.blog import reproduce_blog
        from neardup.lab.reproduce.sphere import reproduce_articles

        run = reproduce_blog if preset == "blog" else reproduce_articles
        known = None if truth is None else str(truth)
        return run(inputs, text=text, id=id, truth=known, threads=threads)
    from neardup.lab.reproduce.bands import reproduce_bands
    from neardup.lab.reproduce.published import CAIM, IRRS

    lab = CAIM if preset == "caim" else IRRS
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
        numbers = all(isinstance(row[place], int | float | None) for row in table.rows)
        shown.add_column(
            Text(column.heading),
            justify="right" if numbers else "left",
            vertical="bottom",
            no_wrap=numbers,
        )
    for row in table.rows:
        shown.add_row(*(Text(visible(_cell_text(cell))) for cell in row))
    return shown


def _cell_text(cell: Cell) -> str:
    """A number with thousands separators, a share with three digits, nothing for None."""
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.3f}" if abs(cell) < 10 else f"{cell:,.1f}"
    return f"{cell:,}" if isinstance(cell, int) else cell
