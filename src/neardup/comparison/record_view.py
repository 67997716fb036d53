"""Two records on the terminal: a table of their fields, and the score as a sum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from neardup.comparison.diff_text import DiffCounts, DiffStyle, diff_text, one_side
from neardup.comparison.record_result import (
    ComparedField,
    RecordComparison,
    shown_adds,
    shown_evidence,
    shown_total,
    shown_weight,
    verdict,
)
from neardup.visible import visible

_LONGEST_NAME = 40
_WIDE = 100  # columns, from which on a column says how fields are compared
_LONGEST_CELL = 160  # characters; longer values are compared below the table


@dataclass(frozen=True)
class RecordView:
    """A comparison of records for `rich`: print it on any console.

    `names` are shown above the values; `context` is the number of equal words shown around a
    change, and `full` leaves nothing out. `limit` is the threshold, as in "jaccard ≥ 0.8".
    """

    comparison: RecordComparison
    names: tuple[str, str] = ("", "")
    context: int = 10
    full: bool = False
    limit: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the table; differences have colour if the console has it, else marks."""
        colour = console.color_system is not None and not console.no_color
        style = DiffStyle(colour=colour, context=self.context, full=self.full)
        yield self._table(style, is_wide=options.max_width >= _WIDE)
        sentences = list(verdict(self.comparison, self.limit))
        yield from map(Text, ["", *sentences] if sentences else [])
        for field in self.comparison.fields:
            if _is_long(field) and field.differs:
                yield from _long(field, style)

    def _table(self, style: DiffStyle, *, is_wide: bool) -> Table:
        comparison = self.comparison
        table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
        table.add_column("field" if comparison.has_fields else "part", max_width=30)
        if comparison.has_fields:
            for letter, name in zip("AB", self.names, strict=True):
                table.add_column(Text(f"{letter}  {_short(name)}".rstrip()), overflow="fold")
        if self._has_hows(is_wide):
            table.add_column("compared by", max_width=30)
        for heading in self._numbers:
            table.add_column(heading, justify="right", no_wrap=True)
        for field in comparison.fields:
            table.add_row(*self._row(field, style, is_wide=is_wide))
        if "adds" in self._numbers:
            between = [""] * (len(table.columns) - 2)
            total = Text(shown_total(comparison), style="bold")
            table.add_row(Text("sum", style="bold"), *between, total)
        return table

    def _row(self, field: ComparedField, style: DiffStyle, *, is_wide: bool) -> Iterator[Text]:
        has_fields = self.comparison.has_fields
        name = Text(_short(field.name), style="bold")
        how = Text(visible(field.how), style="not bold dim")
        has_column = self._has_hows(is_wide)
        has_line = not has_column and field.has_values and field.how
        yield name if not has_line else name.append("\n").append_text(how)
        if has_fields:
            yield from _values(field, style) if field.has_values else (Text(), Text())
        if has_column:
            yield how
        numbers = (shown_evidence(field), shown_weight(field), shown_adds(field.adds))
        yield from map(Text, numbers[: len(self._numbers)])

    def _has_hows(self, is_wide: bool) -> bool:
        """Whether a column says how fields are compared; else it is below their names."""
        return (is_wide or not self.comparison.has_fields) and self.comparison.is_compared

    @property
    def _numbers(self) -> tuple[str, ...]:
        if not self.comparison.is_compared:
            return ()
        adds = ("adds",) if self.comparison.is_sum else ()
        return ("similarity", "weight", *adds)


def _values(field: ComparedField, style: DiffStyle) -> Iterator[Text]:
    if _is_long(field):
        yield from (Text(word, style="dim") for word in _size(field))
        return
    edits = field.diff
    for side, text in (("a", field.a or ""), ("b", field.b or "")):
        yield one_side(edits, side, style) if text.strip() else Text("(empty)", style="dim")


def _is_long(field: ComparedField) -> bool:
    return max(len(field.a or ""), len(field.b or "")) > _LONGEST_CELL


def _size(field: ComparedField) -> Iterator[str]:
    below = ", below" if field.differs else ", the same text"
    yield f"{len(field.a or ''):,} characters{below}"
    yield f"{len(field.b or ''):,} characters"


def _long(field: ComparedField, style: DiffStyle) -> Iterator[Text]:
    edits = field.diff
    yield Text()
    yield Text(_short(field.name), style="bold").append(
        f"  {DiffCounts.of(edits)}", style="not bold dim"
    )
    yield diff_text(edits, style)


def _short(name: str) -> str:
    shown = visible(name)
    return shown if len(shown) <= _LONGEST_NAME else f"{shown[: _LONGEST_NAME - 1]}…"
