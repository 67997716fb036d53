"""Draw the picture of docs/how-it-works/clusters.md: seven records by star, components and dense.

    python scripts/clusters_picture.py

The pairs and clusters are those that `neardup.dedup` finds in examples/addresses.jsonl.
"""

from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import neardup as nd
from neardup.figures import INK, new_figure, write_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "images" / "clusters.png"
RECORDS = ROOT / "examples" / "addresses.jsonl"
THRESHOLD = 0.4
WAYS = ("star", "components", "dense")
# Where the records stand, so that no two lines cross.
PLACES = {
    "a1": (0.0, 1.0),
    "a2": (1.0, 1.75),
    "a3": (1.0, 0.25),
    "a4": (2.0, 1.0),
    "b1": (3.5, 1.0),
    "b2": (4.5, 1.75),
    "b3": (4.5, 0.25),
}
SHADES = ("#d5e4f1", "#f6dbd3", "#d8ebdf")
EDGES = ("#1f5a92", "#c2452d", "#2f7d4f")


def clustered(way: str) -> nd.Result:
    """The records in clusters of one kind."""
    return nd.dedup(RECORDS, features="word:1", threshold=THRESHOLD, cluster=way, pairs="all")


def main() -> None:
    """Draw one panel for each kind of cluster."""
    figure = new_figure(12, 2.6)
    for axes, way in zip(figure.subplots(1, len(WAYS)), WAYS, strict=True):
        _draw(axes, clustered(way), way)
    write_figure(figure, PICTURE, "png")


def _draw(axes: "Axes", result: nd.Result, way: str) -> None:
    rows = result.clusters.to_pylist()
    cluster = {row["id"]: row["cluster"] for row in rows}
    kept = {row["id"] for row in rows if row["kept"]}
    for number in sorted(set(cluster.values())):
        _shade(axes, [PLACES[id] for id in cluster if cluster[id] == number], SHADES[number])
    for pair in result.pairs.to_pylist():
        (x, y), (other_x, other_y) = PLACES[pair["a"]], PLACES[pair["b"]]
        inside = cluster[pair["a"]] == cluster[pair["b"]]
        axes.plot(
            (x, other_x),
            (y, other_y),
            color=INK if inside else "#7d8a96",
            linewidth=1.6 if inside else 1.2,
            linestyle="-" if inside else (0, (4, 3)),
            zorder=2,
        )
        axes.text(
            (x + other_x) / 2,
            (y + other_y) / 2,
            f"{pair['similarity']:.2f}",
            fontsize=8,
            ha="center",
            va="center",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0, "alpha": 0.85},
            zorder=3,
        )
    for id, (x, y) in PLACES.items():
        colour = EDGES[cluster[id]]
        axes.scatter(
            [x],
            [y],
            s=420,
            facecolor=colour if id in kept else "white",
            edgecolor=colour,
            linewidth=1.8,
            zorder=4,
        )
        ink = "white" if id in kept else INK
        axes.text(x, y, id, fontsize=9.5, ha="center", va="center_baseline", color=ink, zorder=5)
    count = len(result.clustering)
    axes.set_title(f"{way}: {count} cluster{'s' if count > 1 else ''}", fontsize=11)
    axes.set_xlim(-0.75, 5.25)
    axes.set_ylim(-0.4, 2.4)
    axes.set_aspect("equal")
    axes.axis("off")


def _shade(axes: "Axes", points: list[tuple[float, float]], colour: str) -> None:
    """A soft shape around the points of a cluster: thick lines, and what is between them."""
    for (x, y), (other_x, other_y) in combinations(points, 2):
        axes.plot(
            (x, other_x),
            (y, other_y),
            color=colour,
            linewidth=40,
            solid_capstyle="round",
            zorder=0,
        )
    for corners in combinations(points, 3):
        axes.fill(*zip(*corners, strict=True), color=colour, linewidth=0, zorder=0)


if __name__ == "__main__":
    main()
