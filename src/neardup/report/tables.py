"""Tables that are wider than the terminal."""

from __future__ import annotations

from rich.console import Console, RenderableType
from rich.measure import Measurement

_WITHOUT_END = 10_000


def print_whole(shown: RenderableType, console: Console) -> None:
    """Print a table beyond the width of the terminal instead of truncating its numbers."""
    within = console.width
    without_end = console.options.update(width=_WITHOUT_END)
    console.width = max(within, Measurement.get(console, without_end, shown).maximum)
    console.print(shown)
    console.width = within
