"""Hash families on the terminal: numbers, the load as bars, and the bits, in 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from neardup.hashes.measurement import Measurement

_BARS = " ▁▂▃▄▅▆▇█"
_ASCII_BARS = " .:-=+*%#"
_WEAK = "bold yellow"
_VERDICTS = {
    True: Text("fit"),
    False: Text("unfit", style=_WEAK),
    None: Text("too few words to tell", style="dim"),
}
_WIDEST_PLOT = 100
# The load of a random hash exceeds this less than once in 30,000 times.
_UNEVEN = 4.0


@dataclass(frozen=True)
class HashesView:
    """Measurements over one list of words and one table, for `rich`."""

    measurements: Sequence[Measurement]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The numbers, then the bars."""
        load = self.measurements[0].load
        yield Text(
            f"{load.words:,} words in {load.slots:,} slots, of which they would take "
            f"{load.expected_distinct:,.1f} at random"
        )
        yield Text()
        yield self._numbers()
        yield Text("z: the chi-square in standard deviations from a random load", style="dim")
        yield from _heading("load of the table")
        yield from self._bars(options)
        yield from _heading("bits")
        yield self._bits()
        yield Text(
            "worst bit: how many words set it, fair is 50%; worst pair: its correlation",
            style="dim",
        )
        if any(one.balance.flaw for one in self.measurements):
            yield from _heading("unfit for fingerprints")
            yield self._flaws()

    def _numbers(self) -> Table:
        table = _table()
        for heading in ("distinct", "collisions", "longest", "chi-sq", "z", "terms/s"):
            table.add_column(heading, justify="right", no_wrap=True)
        for one in self.measurements:
            load = one.load
            table.add_row(
                one.family.name,
                f"{load.distinct:,}",
                f"{load.collisions:,}",
                f"{load.longest_chain:,}",
                f"{load.chi_square:,.0f}",
                Text(f"{load.z_score:.1f}", style=_WEAK if load.z_score > _UNEVEN else ""),
                _short(one.terms_per_second),
            )
        return table

    def _bars(self, options: ConsoleOptions) -> Iterator[Text]:
        label = max(len(one.family.name) for one in self.measurements) + 2
        bars = _ASCII_BARS if options.ascii_only else _BARS
        room = max(8, min(_WIDEST_PLOT, options.max_width - label))
        slots = self.measurements[0].load.slots
        yield Text(
            f"each column is {_columns(slots, room)}; the lower line is full at an even load, "
            "the upper one at twice that or more",
            style="dim",
        )
        for one in self.measurements:
            loads = one.load.grouped(room)
            style = _WEAK if one.load.z_score > _UNEVEN else ""
            for name, floor in (("", 1.0), (one.family.name, 0.0)):
                line = "".join(bars[_level(load - floor)] for load in loads)
                yield Text(f"{name:<{label}}", no_wrap=True).append(line, style=style)

    def _bits(self) -> Table:
        table = _table()
        for heading in ("bits", "worst bit", "worst pair"):
            table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("for fingerprints", no_wrap=True)
        for one in self.measurements:
            bits, balance = one.family.bits, one.balance
            table.add_row(
                one.family.name,
                "any" if bits is None else str(bits),
                f"{balance.worst_share:.1%}",
                f"{balance.worst_correlation:.2f}" if balance.worst_pair else "none",
                _VERDICTS[balance.fit],
            )
        return table

    def _flaws(self) -> Table:
        table = _table(header=False)
        table.add_column("")
        for one in self.measurements:
            if one.balance.flaw:
                table.add_row(one.family.name, one.balance.flaw)
        return table


def _table(header: bool = True) -> Table:
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim", show_header=header)
    table.add_column("family", no_wrap=True)
    return table


def _heading(title: str) -> Iterator[RenderableType]:
    yield Text()
    yield Rule(Text(title, style="bold"), align="left", style="dim")


def _columns(slots: int, room: int) -> str:
    if slots <= room:
        return "a slot"
    fewest, rest = divmod(slots, room)
    return f"{fewest} or {fewest + 1} slots" if rest else f"{fewest} slots"


def _level(height: float) -> int:
    """The bar for a height from 0 to 1; every height above 0 is visible."""
    if height <= 0:
        return 0
    return max(1, min(8, round(8 * height)))


def _short(number: float) -> str:
    """`950`, `12 k`, `3.4 M`."""
    if number < 1000:
        return f"{number:.0f}"
    return f"{number / 1e3:.0f} k" if number < 1e6 else f"{number / 1e6:.1f} M"
