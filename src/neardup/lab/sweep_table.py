"""The table of a sweep, as a terminal shows it."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from typing import Literal

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from neardup.lab.sweep_result import Sweep, SweepRow
from neardup.report.visible import visible
from neardup.report.whole import print_whole


def sweep_table(sweep: Sweep) -> Group:
    """A table for each threshold, with what it counts above and where time went below."""
    return Group(*_parts(sweep))


def table_text(sweep: Sweep) -> str:
    """The same as plain text."""
    text = StringIO()
    print_sweep(
        sweep, Console(file=text, color_system=None, highlight=False, markup=False, emoji=False)
    )
    return text.getvalue().rstrip("\n")


def print_sweep(sweep: Sweep, console: Console) -> None:
    """Print it; a console that is too narrow lets lines run over rather than losing digits."""
    print_whole(sweep_table(sweep), console)


def _parts(sweep: Sweep) -> Iterator[RenderableType]:
    documents = f"{sweep.documents:,} documents"
    if sweep.empty:
        documents += f" ({sweep.empty:,} empty)"
    yield Text(f"{documents}, {sweep.scheme}")
    for place, threshold in enumerate(sweep.thresholds):
        heading = f"\n{sweep.similarity} ≥ {threshold:g}"
        if sweep.true_pairs is not None:
            heading += f"; true pairs in all: {sweep.true_pairs[place]:,}"
        yield Text(heading, style="bold")
        yield _table([row for row in sweep.rows if row.threshold == threshold])
        for row in sweep.rows:
            if row.threshold == threshold and row.top:
                yield from _top(row)
    spent = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in sweep.seconds.items())
    yield Text(f"\nonce for all rows: {spent}", style="dim")


def _table(rows: list[SweepRow]) -> Table:
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
    columns = {name: cells for name, cells in _columns(rows).items() if any(cells)}
    for name in columns:
        justify: Literal["left", "right"] = "left" if name == "\nplan" else "right"
        table.add_column(name, justify=justify, no_wrap=True)
    for cells in zip(*columns.values(), strict=True):
        table.add_row(*cells)
    return table


def _columns(rows: list[SweepRow]) -> dict[str, list[str]]:
    """The cells of each column by its heading; one without any is not shown."""
    named = any(row.bands is None for row in rows)
    return {
        "\nplan": [row.plan if named else "" for row in rows],
        "\nM": [_cell(row.bands, "d") for row in rows],
        "\nK": [_cell(row.band_bits, "d") for row in rows],
        "\nbits": [f"{row.bits}" for row in rows],
        "\ncandidates": [f"{row.candidates:,}" for row in rows],
        "\ntrue": [f"{row.true:,}" for row in rows],
        "\nfalse": [f"{row.false:,}" for row in rows],
        "\nprecision": [_cell(row.precision, ".4f") for row in rows],
        "\nrecall": [_cell(row.recall, ".4f") for row in rows],
        "predicted\ncandidates": [_cell(row.predicted_candidates, ",.0f") for row in rows],
        "predicted\nrecall": [_cell(row.predicted_recall, ".4f") for row in rows],
        "seconds\ncandidates": [f"{row.seconds['candidates']:.2f}" for row in rows],
        "seconds\nverify": [f"{row.seconds['verify']:.2f}" for row in rows],
        "seconds\nalone": [f"{row.seconds['alone']:.2f}" for row in rows],
    }


def _cell(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _top(row: SweepRow) -> Iterator[Text]:
    yield Text(f"\n{row.plan}, the most similar pairs")
    for place, pair in enumerate(row.top, 1):
        yield Text(
            f"{place:>4}  {pair.similarity:.6f}  {visible(str(pair.a))}  {visible(str(pair.b))}"
        )
