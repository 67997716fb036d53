"""The result of a benchmark: scores of neardup, published scores of others, as table and JSON."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from neardup import __version__
from neardup.atomic import replacing
from neardup.frozen import dataclass
from neardup.visible import visible

if TYPE_CHECKING:
    from rich.table import Table

    from neardup.lab.benchmark.task import Score, Scores


@dataclass(frozen=True)
class Measured:
    """One way to run neardup: its settings beside the defaults, its scores, and its time.

    `seconds` is the time of `dedup`, `tune_seconds` that of `tune` before it.
    """

    method: str
    settings: Mapping[str, Any]
    scores: Mapping[str, Score]
    documents: int
    seconds: float
    tune_seconds: float | None = None


@dataclass(frozen=True)
class BenchmarkResult:
    """The rows of a benchmark: ours are measured, those of others published."""

    name: str
    about: str
    data: str
    documents: int
    columns: Mapping[str, str]
    rows: tuple[Measured, ...]
    published: tuple[Scores, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON; None where nothing can be said."""
        values = asdict(self)
        values["columns"] = {
            key: heading.replace("\n", " ") for key, heading in self.columns.items()
        }
        values["rows"] = [asdict(row) for row in self.rows]
        plain: dict[str, Any] = _plain({"neardup": __version__, **values})
        return plain

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of it as JSON; the file appears complete or not at all."""
        with replacing(path) as temporary:
            temporary.write_text(
                json.dumps(self.to_dict(), indent=2) + "\n", encoding="utf-8", newline="\n"
            )

    def table(self) -> Table:
        """Ours first, then the published rows; a published row names its source."""
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
        table.add_column("method", vertical="bottom", no_wrap=True)
        for heading in (*self.columns.values(), "seconds"):
            table.add_column(Text(heading), justify="right", vertical="bottom", no_wrap=True)
        table.add_column("settings, or source", vertical="bottom")
        for cells in self._lines():
            table.add_row(*(Text(visible(cell)) for cell in cells))
        return table

    def _lines(self) -> Iterator[tuple[str, ...]]:
        for row in self.rows:
            yield (
                row.method,
                *(_cell(row.scores.get(key)) for key in self.columns),
                f"{row.seconds:,.2f}",
                _command(row.settings),
            )
        for other in self.published:
            seconds = other.get("seconds")
            yield (
                str(other["method"]),
                *(_cell(other.get(key)) for key in self.columns),
                f"{seconds:,.2f}" if isinstance(seconds, float) else "",
                str(other["source"]),
            )


def _cell(value: Score) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.4f}" if isinstance(value, float) else f"{value:,}"


def _command(settings: Mapping[str, Any]) -> str:
    """The settings as options of `neardup dedup`."""
    options = (f"--{name.replace('_', '-')} {value}" for name, value in settings.items())
    return " ".join(options)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
