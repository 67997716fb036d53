"""One line for each document with its duplicates, longest lines first; and sizes as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from neardup.pipeline.dedup.result import Result


def write_levels(result: Result, folder: Path) -> None:
    """At each level a text file of duplicates, and the cluster sizes of all as one picture."""
    levels = result.settings.levels
    if not levels:
        return
    stricter = {level: result.rethreshold(level) for level in levels}
    for level, one in stricter.items():
        with (folder / f"duplicates-{level:g}.txt").open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in duplicate_lines(one))
    _draw({level: one.groups.sizes for level, one in stricter.items()}, folder)


def duplicate_lines(result: Result) -> Iterator[str]:
    """A document, then all that it was paired with, with tabs between.

    Exact copies have no lines of their own: they stand in that of the first of their kind, and
    beside it wherever that is a duplicate of another.
    """
    found, ids = result.found, result.collected.ids
    members, firsts = result.collected.repeats()
    copies: dict[int, list[int]] = {}
    for member, first in zip(members.tolist(), firsts.tolist(), strict=True):
        copies.setdefault(first, []).append(member)
    others: dict[int, list[int]] = {first: list(same) for first, same in copies.items()}
    for a, b in zip(found.a.tolist(), found.b.tolist(), strict=True):
        others.setdefault(a, []).extend((b, *copies.get(b, ())))
        others.setdefault(b, []).extend((a, *copies.get(a, ())))
    order = sorted(others, key=lambda place: (-len(others[place]), place))
    for place in order:
        yield "\t".join(str(ids[one]) for one in (place, *sorted(others[place])))


def _draw(sizes: dict[float, np.ndarray], folder: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4 * len(sizes), 3.2), layout="constrained")
    many = figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
    for axes, (level, found) in zip(many, sizes.items(), strict=True):
        values, counts = np.unique(found, return_counts=True)
        axes.bar(np.arange(len(values)), counts, color="0.6", edgecolor="black")
        shown = np.arange(0, len(values), max(1, len(values) // 8))
        axes.set_xticks(shown, [str(values[place]) for place in shown])
        axes.set(title=f"threshold {level:g}", xlabel="documents in a cluster", yscale="log")
        if not len(values):
            axes.text(0.5, 0.5, "no duplicates", ha="center", transform=axes.transAxes)
    many[0].set_ylabel("clusters")
    figure.savefig(folder / "cluster-sizes.png", dpi=120)
