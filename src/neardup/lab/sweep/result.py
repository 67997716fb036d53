"""The result of a sweep: a row for each plan and threshold, as JSON, CSV, table and plots."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from io import StringIO
from typing import Any, Literal

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from neardup.atomic import FolderKind, replacing_folder
from neardup.figures import INSTALL, can_draw
from neardup.report.spreadsheet import SpreadsheetWriter
from neardup.report.tables import print_whole
from neardup.visible import visible

# The files that a sweep writes; a folder with any other file is never overwritten.
FOLDER = FolderKind(
    marker="sweep.json",
    keys=frozenset({"documents", "scheme", "similarity", "rows"}),
    files=(
        *(r"sweep\.json", r"sweep\.csv"),
        r"(effect-of-k|effect-of-m|precision-recall|time-recall)(-[0-9.e+-]+)?\.(png|svg)",
    ),
)
_COLUMNS = (
    *("plan", "bands", "band_bits", "bits", "threshold", "candidates", "true", "false"),
    *("precision", "recall", "predicted_candidates", "predicted_recall"),
)
_SECONDS = ("fingerprint", "candidates", "verify", "alone")


def sweep_table(sweep: Sweep) -> Group:
    """A table for each threshold, with the measure above and the time of shared steps below."""
    return Group(*_parts(sweep))


def table_text(sweep: Sweep) -> str:
    """The tables as plain text."""
    text = StringIO()
    print_sweep(
        sweep, Console(file=text, color_system=None, highlight=False, markup=False, emoji=False)
    )
    return text.getvalue().rstrip("\n")


def print_sweep(sweep: Sweep, console: Console) -> None:
    """Print the tables; on a narrow console, lines run over rather than lose digits."""
    print_whole(sweep_table(sweep), console)


def _parts(sweep: Sweep) -> Iterator[RenderableType]:
    documents = f"{sweep.documents:,} documents"
    if sweep.empty:
        documents += f" ({sweep.empty:,} empty)"
    yield Text(f"{documents}, {sweep.scheme}")
    for place, threshold in enumerate(sweep.thresholds):
        heading = f"\n{sweep.similarity} ≥ {threshold:g}"
        if sweep.true_pairs is not None:
            heading += (
                f"; {sweep.true_pairs[place]:,} pairs reach it; recall is the share found of them"
            )
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
    """The cells of each column by its heading; a column without values is not shown."""
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


@dataclass(frozen=True)
class SimilarPair:
    """The ids of two documents, and their similarity."""

    a: Any
    b: Any
    similarity: float


@dataclass(frozen=True)
class SweepRow:
    """What one plan found at one threshold, in pairs of documents, and what was predicted.

    `seconds` has `fingerprint` (spent once for all rows), `candidates` and `verify`, as measured in
    this sweep, and `alone`, an estimate of their sum for a run with this plan only, which verifies
    every candidate. `recall` is known only with `exact`.
    """

    plan: str
    bands: int | None
    band_bits: int | None
    bits: int
    threshold: float
    candidates: int
    true: int
    false: int
    precision: float | None
    recall: float | None
    seconds: dict[str, float]
    predicted_candidates: float | None
    predicted_recall: float | None
    top: tuple[SimilarPair, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The row as plain values, for JSON."""
        values = asdict(self)
        values["seconds"] = {name: round(spent, 4) for name, spent in self.seconds.items()}
        if not self.top:
            del values["top"]
        return values


@dataclass(frozen=True, repr=False)
class Sweep:
    """A table of plans over one collection.

    `true_pairs` counts all true pairs at each threshold; None without `exact`. `seconds` has the
    time of steps done once for all rows: read, features, fingerprint, exact, prediction.
    """

    documents: int
    empty: int
    rejected: int
    scheme: str
    similarity: str
    thresholds: tuple[float, ...]
    true_pairs: tuple[int, ...] | None
    seconds: dict[str, float]
    rows: tuple[SweepRow, ...]

    def as_dict(self) -> dict[str, Any]:
        """The sweep as plain values, for JSON; one threshold is a number, several are a list."""
        several = len(self.thresholds) > 1
        pairs = self.true_pairs
        return {
            "documents": self.documents,
            "empty": self.empty,
            "rejected": self.rejected,
            "scheme": self.scheme,
            "similarity": self.similarity,
            "threshold": list(self.thresholds) if several else self.thresholds[0],
            "true_pairs": None if pairs is None else list(pairs) if several else pairs[0],
            "seconds": {name: round(spent, 3) for name, spent in self.seconds.items()},
            "rows": [row.as_dict() for row in self.rows],
        }

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write a folder with sweep.json, sweep.csv and the plots, complete or not at all.

        Without matplotlib there are no plots, and a warning says so.
        """
        with replacing_folder(path, FOLDER, overwrite=overwrite) as folder:
            text = json.dumps(self.as_dict(), indent=2, ensure_ascii=False)
            (folder / "sweep.json").write_text(text + "\n", encoding="utf-8", newline="\n")
            with (folder / "sweep.csv").open("w", encoding="utf-8", newline="") as file:
                writer = SpreadsheetWriter(file)
                writer.rows([[*_COLUMNS, *(f"seconds_{name}" for name in _SECONDS)]])
                writer.rows(map(_values, self.rows))
            drawn = can_draw()
            if drawn:
                from neardup.lab.sweep.plots import draw_sweep

                draw_sweep(self, folder)
        if not drawn:
            warnings.warn(
                f"{os.fspath(path)} has no plots, which need matplotlib; install it with {INSTALL}",
                stacklevel=2,
            )

    def __repr__(self) -> str:
        levels = ", ".join(f"{level:g}" for level in self.thresholds)
        return (
            f"<Sweep of {self.documents:,} documents: {len(self.rows):,} rows, "
            f"{self.similarity} ≥ {levels}>"
        )

    def _repr_html_(self) -> str:
        from neardup.lab.sweep.notebook import sweep_html

        return sweep_html(self)

    def __str__(self) -> str:
        return table_text(self)


def _values(row: SweepRow) -> list[Any]:
    values = row.as_dict()
    seconds = [values["seconds"][name] for name in _SECONDS]
    return [values[name] for name in _COLUMNS] + seconds
