"""`neardup plan`: search plans, their guarantees and their costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options
from neardup.cli.command import Command
from neardup.cli.terminal import plain_console, say_json, size
from neardup.errors import SettingError

if TYPE_CHECKING:
    from rich.table import Table

    from neardup.pairs.by_fingerprints import Plan


@click.command(cls=Command)
@options.argument(
    "plans",
    "Plans to compare, for example bands:4x16 rotate:16:4.",
    metavar="[PLAN...]",
    nargs=-1,
    default_note="one of each kind",
)
@options.option("--n", default="1e6", metavar="N", help="Number of fingerprints, for example 1e7.")
@options.option(
    "--max-distance",
    type=click.IntRange(min=0),
    default=3,
    help="Maximum number of differing bits.",
)
@options.setting("bits", section="Options")
@options.option(
    "--similarity",
    type=float,
    metavar="COSINE",
    help="Also show the expected share of pairs with this cosine similarity that are found.",
)
@options.as_json
def plan(
    plans: tuple[str, ...],
    n: str,
    max_distance: int,
    bits: int,
    similarity: float | None,
    json: bool,
) -> None:
    """Compare search plans by guarantee, memory and time.

    Shows each plan's tables, guarantee, expected candidates, memory and seconds, and which plan
    `auto` chooses.

    Example: neardup plan --n 1e7 --max-distance 6 --similarity 0.95
    """
    from neardup.fingerprints import Scheme
    from neardup.pairs.by_fingerprints import choose, plan_of

    number = _number(n)
    Scheme.of(bits=bits)
    choice = choose(number, max_distance, bits)
    complete = [estimate.plan for estimate in choice.alternatives]
    named = [plan_of(name, bits) for name in plans or _one_of_each(bits)]
    chosen = [*complete, *(one for one in named if one.name not in {p.name for p in complete})]
    rows = [_row(one, number, similarity) for one in chosen]
    if json:
        found: dict[str, Any] = {
            "n": number,
            "bits": bits,
            "max_distance": max_distance,
            "similarity": similarity,
            "choice": choice.plan.name,
            "reason": choice.reason,
            "plans": rows,
        }
        say_json(found)
        return
    console = plain_console()
    console.print(
        f"{number:,} fingerprints of {bits} bits, pairs within {max_distance}; one thread\n"
    )
    console.print(_table(rows, similarity is not None))
    console.print(f"\nauto takes {choice.reason}\n")
    for promise in dict.fromkeys(row["promise"] for row in rows):
        names = ", ".join(row["plan"] for row in rows if row["promise"] == promise)
        console.print(f"{names}: {promise}")


def _number(text: str) -> int:
    try:
        number = float(text.replace(",", "").replace("_", ""))
    except ValueError:
        number = -1.0
    if not 0 <= number < 2**32 or number != int(number):
        raise SettingError(f"--n {text} must be a whole number below 2^32, for example 1e7")
    return int(number)


def _one_of_each(bits: int) -> list[str]:
    """The plans with weaker guarantees, in a typical size for that many bits."""
    width = min(16, bits)
    return [
        f"bands:{bits // width}x{width}",
        f"rotate:{min(16, bits)}:4",
        f"prefix:{width}",
        "length:0.2",
    ]


def _row(plan: Plan, n: int, similarity: float | None) -> dict[str, Any]:
    from neardup.pairs.costs import Costs

    row: dict[str, Any] = {
        "plan": plan.name,
        "tables": plan.tables,
        "guarantee": plan.guarantee,
        "expected_candidates": plan.expected_candidates(n),
        "memory_bytes": plan.memory(n),
        "seconds": plan.seconds(n, Costs.load()),
        "promise": plan.promise,
    }
    if similarity is not None:
        row["recall"] = plan.recall(similarity, n)
    return row


def _table(rows: list[dict[str, Any]], with_recall: bool) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
    table.add_column("plan", no_wrap=True)
    headings = ["tables", "guarantee", "candidates", "memory", "seconds"]
    for heading in [*headings, "found"] if with_recall else headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        cells = [
            row["plan"],
            f"{row['tables']:,}",
            _or_unknown(row["guarantee"], "≤ {}", "none"),
            _or_unknown(row["expected_candidates"], "{:,.3g}"),
            size(row["memory_bytes"]),
            _or_unknown(row["seconds"], "{:,.3g}"),
        ]
        if with_recall:
            cells.append(_or_unknown(row["recall"], "{:.3f}"))
        table.add_row(*cells)
    return table


def _or_unknown(value: float | None, form: str, unknown: str = "?") -> str:
    return unknown if value is None else form.format(value)
