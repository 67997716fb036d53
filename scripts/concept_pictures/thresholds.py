"""Where the threshold goes."""

from collections import defaultdict
from pathlib import Path

from scripts.concept_pictures.svg import FIFTHS, Picture, Plot

import neardup as nd

SAMPLE = Path(__file__).parents[2] / "examples" / "sample.jsonl"
BARS = 20


def draw_gap() -> Picture:
    """How similar each document of the sample is to its nearest other one."""
    nearest: dict[str, float] = defaultdict(float)
    pairs = nd.exact_pairs(SAMPLE, threshold=0.01, features="word:2")
    for row in pairs.to_pylist():
        for name in (row["a"], row["b"]):
            nearest[name] = max(nearest[name], row["similarity"])
    counts = [0] * BARS
    for value in nearest.values():
        counts[min(BARS - 1, int(value * BARS))] += 1
    picture = Picture(
        760,
        420,
        "How similar each document of the sample is to its most similar other one: many near zero, "
        "many near one, few between; the threshold belongs into the gap",
    )
    top = max(counts)
    plot = Plot(picture, (64, 48, 660, 304), (0, 1), (0, top * 1.08))
    plot.axes(
        "similarity to the most similar other document (Jaccard, word:2)",
        "documents",
        FIFTHS,
        range(0, top + 1, 50 if top > 120 else 20),
    )
    for bar, count in enumerate(counts):
        (x0, y), (x1, base) = plot.at(bar / BARS, count), plot.at((bar + 1) / BARS, 0)
        if count:
            picture.box(x0 + 1.5, y, x1 - x0 - 3, base - y, "blue" if bar >= 10 else "faint")
    plot.curve([(0.8, 0), (0.8, top)], "red", dashed=True)
    plot.label(0.79, top * 0.94, "threshold 0.8", "red", anchor="end")
    return picture
