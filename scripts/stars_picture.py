"""Draw the picture of docs/guides/dedup.md: what stars and components remove from real data.

    python scripts/stars_picture.py ../shared/data/licenses/docs.parquet

The collection is 39,066 licence texts and notices. Prints the numbers that the page names.
"""

import sys
from pathlib import Path

import numpy as np

import neardup as nd
from neardup.figures import new_figure, write_figure
from neardup.settings import Clustering

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "stars.png"
THRESHOLD = 0.7
WAYS: tuple[Clustering, ...] = ("components", "star")
COLOURS = {"star": "#2a6f97", "components": "#c8553d"}


def main() -> None:
    """Run both, print their numbers and draw the similarities of removed to kept documents."""
    figure = new_figure(9, 3.4)
    many = figure.subplots(1, 2, sharey=True)
    bins = np.arange(51) / 50
    for axes, way in zip(many, WAYS, strict=True):
        result = nd.dedup(sys.argv[1], threshold=THRESHOLD, cluster=way)
        similarity = result.removed["similarity"].to_numpy()
        summary = result.summary
        print(
            f"{way}: {summary['documents']:,} documents, {summary['removed']:,} removed, "
            f"{summary['unproven']:,} of them below {THRESHOLD} (least similarity "
            f"{similarity.min():.2f}), {summary['clusters']:,} clusters, the largest of "
            f"{result.clustering.sizes.max():,}"
        )
        axes.hist(similarity, bins, color=COLOURS[way])
        axes.axvline(THRESHOLD, color="black", linewidth=1)
        axes.text(
            THRESHOLD - 0.01,
            0.96,
            "threshold",
            ha="right",
            va="top",
            fontsize=9,
            transform=axes.get_xaxis_transform(),
        )
        below = (
            f"{summary['unproven']:,} below the threshold" if summary["unproven"] else "all proven"
        )
        axes.set_title(f"{way}: {summary['removed']:,} removed, {below}", fontsize=10)
        axes.set_xlabel("similarity to the kept document")
        axes.spines[["top", "right"]].set_visible(False)
    many[0].set_ylabel("removed documents")
    write_figure(figure, PICTURE, "png")


if __name__ == "__main__":
    main()
