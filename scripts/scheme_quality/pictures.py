"""The pictures of docs/how-it-works/scheme-comparison.md: both distributions, for every scheme."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes
from PIL import Image
from scripts.scheme_quality.distances import COMMON_BITS, Distances, area_under_curve, told_area
from scripts.scheme_quality.results import Json

IMAGES = Path(__file__).parents[2] / "docs" / "images"
COLUMNS = 4
TALLEST = 0.25
TRUE_STYLE: dict[str, Any] = {"facecolor": "0.72", "edgecolor": "0.72", "linewidth": 0.0}
RANDOM_STYLE: dict[str, Any] = {
    "facecolor": "none",
    "edgecolor": "black",
    "hatch": "//////",
    "linewidth": 0.9,
}


def draw_all(corpora: dict[str, Json]) -> None:
    """Draw `docs/images/schemes-CORPUS.png` for each corpus."""
    matplotlib.rcParams.update({"font.size": 9, "hatch.linewidth": 0.4})
    for name, measured in corpora.items():
        path = IMAGES / f"schemes-{name}.png"
        _draw(measured["rows"], path)
        # Grey needs few shades; this takes a third of the space.
        Image.open(path).convert("L").quantize(16).save(path, optimize=True)


def _draw(rows: list[Json], path: Path) -> None:
    lines = -(-(len(rows) + 1) // COLUMNS)  # one place is for the legend
    figure, grid = pyplot.subplots(
        lines, COLUMNS, figsize=(11, 0.5 + 1.75 * lines), sharex=True, sharey=True
    )
    places = list(grid.flat)
    for place, row in zip(places, rows, strict=False):
        handles = _panel(place, row)
    for place in places[len(rows) :]:
        place.axis("off")
    for column in range(COLUMNS):  # the lowest panel of each column shows its numbers
        last = max(i for i in range(len(rows)) if i % COLUMNS == column)
        places[last].tick_params(labelbottom=True)
        places[last].set_xlabel("differing bits (of 64)")
    for line in grid:
        line[0].set_ylabel("share of pairs")
    places[-1].legend(handles, ["true pairs", "random pairs"], loc="center", frameon=False)
    figure.tight_layout(h_pad=0.8, w_pad=0.8)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _panel(place: Axes, row: Json) -> list[object]:
    true, random = (Distances(tuple(row[kind])) for kind in ("true", "random"))
    edges = np.arange(COMMON_BITS + 2) - 0.5
    handles: list[object] = [
        place.stairs(distances.shares(), edges, fill=True, **style)
        for distances, style in ((true, TRUE_STYLE), (random, RANDOM_STYLE))
    ]
    cut = [share for share in true.shares()[:2] if share > TALLEST]
    if cut:  # a bar that does not fit says how tall it is
        told = ", ".join(f"{share:.0%}" for share in cut)
        place.text(len(cut), TALLEST, f"↑ {told}", va="top", fontsize=8)
    area = told_area(area_under_curve(row["true"], row["random"]), 4)
    place.set_title(row["name"], loc="left", fontsize=9, fontweight="bold")
    place.text(0.97, 0.92, f"AUC {area}", transform=place.transAxes, ha="right", va="top")
    place.set_xlim(-1.5, 50.5)
    place.set_ylim(0, TALLEST)
    place.set_xticks(range(0, 51, 10))
    place.yaxis.set_major_formatter(matplotlib.ticker.PercentFormatter(1, 0))
    place.spines[["top", "right"]].set_visible(False)
    return handles
