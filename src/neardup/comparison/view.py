"""A comparison on the terminal: numbers, bits, features and diff on one page of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from neardup.comparison.diff_text import DiffCounts, DiffStyle, diff_text
from neardup.comparison.result import ComparedDocument, Comparison
from neardup.visible import visible

_GROUP = 8
_DIFFERENT = "not dim bold yellow"


_MISSING = "–"
_LONGEST_EXAMPLE = 60


def bit_lines(
    a: int | None, b: int | None, bits: int, differing: Sequence[int], width: int
) -> Iterator[Text]:
    """The bits of two fingerprints in lines of up to `width` columns; a dash for a missing one."""
    label = 3 if bits <= _bits_per_line(width - 3) else 8
    step = _bits_per_line(width - label)
    marks = ["0"] * bits
    for place in differing:
        marks[place] = "1"
    digits = [None if value is None else f"{value:0{bits}b}" for value in (a, b)]
    for first in range(0, bits, step):
        offset = "" if label == 3 else f"{first:>4} "
        part = slice(first, first + step)
        flags = [mark == "1" for mark in marks[part]]
        for name, row in zip("AB", digits, strict=True):
            yield Text(f"{offset}{name}  ", style="dim").append_text(
                Text("–") if row is None else _grouped(row[part], flags)
            )
            offset = " " * len(offset)
        if any(flags):
            carets = _grouped("".join("^" if flag else " " for flag in flags), flags)
            carets.rstrip()
            yield Text(" " * label).append_text(carets)


def _bits_per_line(room: int) -> int:
    groups = max(1, (room + 1) // (_GROUP + 1))
    return (groups - groups % _GROUP if groups > _GROUP else groups) * _GROUP


def _grouped(row: str, flags: Sequence[bool]) -> Text:
    text = Text(no_wrap=True)
    for place, (char, flag) in enumerate(zip(row, flags, strict=True)):
        if place and place % _GROUP == 0:
            text.append(" ")
        text.append(char, style=_DIFFERENT if flag else "")
    return text


@dataclass(frozen=True)
class ComparisonView:
    """A comparison for `rich`: print it on any console.

    `names` are shown beside A and B; `context` is the number of equal words shown around a
    change, and `full` leaves nothing out.
    """

    comparison: Comparison
    names: tuple[str, str] = ("", "")
    context: int = 10
    full: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the comparison; the diff uses colour if the console has it, else marks."""
        comparison = self.comparison
        colour = console.color_system is not None and not console.no_color
        yield self._documents()
        yield Text()
        if comparison.reason:
            yield Text(f"{comparison.reason}\n", style="bold yellow")
        yield from self._similarities()
        yield from _heading("fingerprints")
        yield from self._bits(options.max_width)
        if comparison.only_a or comparison.only_b:
            yield from _heading("features")
            yield from self._examples(console, options.max_width)
        yield from _heading("diff")
        yield from self._diff(DiffStyle(colour=colour, context=self.context, full=self.full))

    def _documents(self) -> Table:
        table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
        table.add_column(str(self.comparison.scheme), no_wrap=True, overflow="ellipsis")
        for heading in ("words", "features", "shared", "only here"):
            table.add_column(heading, justify="right", no_wrap=True)
        comparison = self.comparison
        for letter, name, side, alone in (
            ("A", self.names[0], comparison.a, comparison.only_a),
            ("B", self.names[1], comparison.b, comparison.only_b),
        ):
            numbers = (side.words, side.features, comparison.shared, alone)
            table.add_row(
                Text(letter, style="bold").append(f"  {visible(name)}", style="not bold"),
                *(f"{number:,}" for number in numbers),
            )
        return table

    def _similarities(self) -> Iterator[Text]:
        comparison = self.comparison
        bits, distance = comparison.scheme.bits, comparison.distance
        weighted = comparison.weighted
        for label, value in (
            ("Hamming distance", _MISSING if distance is None else f"{distance} of {bits} bits"),
            (f"{weighted}Jaccard", _decimal(comparison.jaccard)),
            (f"{weighted}cosine", _decimal(comparison.cosine)),
            (f"{weighted}containment", _containment(comparison)),
            ("cosine, estimated from the bits", _decimal(comparison.estimated_cosine)),
        ):
            yield Text(f"{label:<33}", style="dim").append(value, style="not dim bold")

    def _bits(self, width: int) -> Iterator[Text]:
        comparison = self.comparison
        yield from bit_lines(
            _bits_of(comparison.a),
            _bits_of(comparison.b),
            comparison.scheme.bits,
            comparison.differing_bits,
            width,
        )

    def _examples(self, console: Console, width: int) -> Iterator[Text]:
        comparison = self.comparison
        for letter, side, alone in (
            ("A", comparison.a, comparison.only_a),
            ("B", comparison.b, comparison.only_b),
        ):
            if not alone:
                continue
            shown = Text(" · ", style="dim").join(map(self._example, side.examples))
            if alone > len(side.examples):
                shown.append(f" · {alone - len(side.examples):,} more", style="dim")
            label = f"only in {letter}  "
            for line in shown.wrap(console, max(1, width - len(label))):
                line.rstrip()
                yield Text(label, style="dim").append_text(line)
                label = " " * len(label)

    def _example(self, feature: str) -> Text:
        if len(feature) > _LONGEST_EXAMPLE:
            feature = feature[: _LONGEST_EXAMPLE - 1] + "…"
        kind = self.comparison.scheme.features.shingle
        if kind is not None and kind.unit == "char":
            feature = feature.replace(" ", "␣")
        return Text(visible(feature), style="not dim")

    def _diff(self, style: DiffStyle) -> Iterator[Text]:
        comparison = self.comparison
        yield Text(str(DiffCounts.of(comparison.diff)), style="dim")
        if not comparison.diff_complete:
            yield Text(
                "the texts are too long and too different for a full search: some stretches "
                "are shown as replaced although they share words",
                style="yellow",
            )
        yield Text()
        yield diff_text(comparison.diff, style)


def _heading(title: str) -> Iterator[RenderableType]:
    yield Text()
    yield Rule(Text(title, style="bold"), align="left", style="dim")


def _bits_of(side: ComparedDocument) -> int | None:
    return None if side.empty else side.fingerprint


def _containment(comparison: Comparison) -> str:
    """The larger inclusion, and both."""
    if comparison.containment is None:
        return _MISSING
    a, b = _decimal(comparison.inclusion_a), _decimal(comparison.inclusion_b)
    return f"{_decimal(comparison.containment)} (of A in B {a}, of B in A {b})"


def _decimal(value: float | None) -> str:
    return _MISSING if value is None else f"{value:.4f}"
