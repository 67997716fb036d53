"""Tables in full, however narrow the terminal."""

from __future__ import annotations

from rich.console import Console, RenderableType
from rich.measure import Measurement

_WITHOUT_END = 10_000


def print_whole(shown: RenderableType, console: Console) -> None:
    """Print a table over the edge of the terminal rather than cut its numbers off."""
    within = console.width
    without_end = console.options.update(width=_WITHOUT_END)
    console.width = max(within, Measurement.get(console, without_end, shown).maximum)
    console.print(shown)
    console.width = within
