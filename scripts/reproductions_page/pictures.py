"""The pictures of docs/how-it-works/reproductions.md, readable in black and white."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import log
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter, StrMethodFormatter
from PIL import Image
from scripts.reproductions_page.results import Json
from scripts.scheme_quality import results as scheme_results
from scripts.scheme_quality.distances import Distances

from neardup.figures import line_style, new_figure, tidy, write_figure
from neardup.pairs.by_fingerprints import plan_of

IMAGES = Path(__file__).parents[2] / "docs" / "images"
NAMES = {
    "arxiv": "arXiv abstracts",
    "django_docs": "Django pages",
    "licenses": "licences",
    "tang_poems": "Tang poems",
}
# What the page on schemes measured, by the names it has there.
SCHEMES = {
    "the blog's recipe": "keywords:50 string64",
    "word:3": "word:3",
    "word:1, tfidf": "word:1 tfidf",
    "the homework's recipe": "word:1 count md5 sphere",
}
RARE = Fraction(1, 10_000)


def draw_all(parts: dict[str, Json]) -> None:
    """Draw `docs/images/reproduction-PART.png` for each finding."""
    for name, draw in {
        "recall": draw_recall,
        "rotation": draw_rotation,
        "borders": draw_borders,
        "edits": draw_edits,
        "dimensions": draw_dimensions,
    }.items():
        figure = draw(parts)
        path = IMAGES / f"reproduction-{name}.png"
        write_figure(figure, path, "png")
        # A page needs no more than 64 colours; this takes a third of the space.
        Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)


def draw_recall(parts: dict[str, Json]) -> Figure:
    """Recall by cosine, measured and by the formula; and how many pairs there are."""
    measured = parts["recall"]
    figure = new_figure(9.5, 4)
    left, right = figure.subplots(1, 2, width_ratios=(1.7, 1))
    cosines = np.linspace(0.7, 1, 200)
    for number, name in enumerate(measured["plans"]):
        style = line_style(number)
        points = [(row["mean"], row[name]["recall"]) for row in measured["rows"]]
        plan = plan_of(name, 90)
        left.plot(cosines, [plan.recall(c) for c in cosines], **{**style, "marker": ""})
        left.plot(*zip(*points, strict=True), **{**style, "linestyle": ""}, label=_told_plan(name))
    tidy(left, "cosine of the pair", "share found")
    left.yaxis.set_major_formatter(PercentFormatter(1, 0))
    left.legend(frameon=False, title="marks: measured; lines: formula", fontsize=9)
    rows = measured["rows"]
    right.barh([_told_range(row) for row in rows], [row["pairs"] for row in rows], color="0.7")
    tidy(right, "true pairs", "cosine")
    for place, row in enumerate(rows):
        right.text(row["pairs"], place, f" {row['pairs']:,}", va="center", fontsize=9)
    right.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    right.set_xticks(range(0, 12_001, 4000))
    right.set_xlim(0, 1.25 * max(row["pairs"] for row in rows))
    return figure


def _told_plan(name: str) -> str:
    bands, width = name.removeprefix("bands:").split("x")
    return f"M = {bands}, K = {width}"


def _told_range(row: Json) -> str:
    return "1" if row["low"] > 0.999 else f"from {row['low']:g}"


def draw_rotation(parts: dict[str, Json]) -> Figure:
    """Recall by window, for isolated pairs and for crowds."""
    measured = parts["rotation"]
    rows = [row for row in measured["rows"] if row["corpus"] in ("arxiv", "licenses")]
    figure = new_figure(9.5, 7)
    labels = ("isolated pairs", "clusters of 3 to 5", "clusters of 6 to 20", "larger clusters")
    grid = list(figure.subplots(2, 2, sharex=True, sharey=True).flat)
    for axes, row in zip(grid, rows, strict=True):
        for number, label in enumerate(labels):
            shares = [recall[number] for recall in row["recall"]]
            if shares[0] is not None:
                told = f"{label} ({row['pairs'][number]:,})"
                axes.plot(measured["windows"], shares, **line_style(number), label=told)
        axes.set_xscale("log", base=2)
        axes.set_xticks(measured["windows"], map(str, measured["windows"]))
        axes.set_ylim(0, 1.03)
        axes.yaxis.set_major_formatter(PercentFormatter(1, 0))
        tidy(axes, "window: neighbours compared in each sorting", "share of near pairs found")
        axes.set_title(
            f"{NAMES[row['corpus']]}, {row['recipe']}:\nwithin {row['limit']} of {row['bits']} "
            f"bits, {row['bits']} rotations",
            fontsize=10,
        )
        axes.legend(frameon=False, fontsize=9, loc="lower right")
    return figure


def draw_borders(parts: dict[str, Json]) -> Figure:
    """The share of known pairs of similar lengths that a border keeps apart, by ratio."""
    measured = parts["borders"]
    figure = new_figure(7.5, 4.2)
    axes = figure.subplots()
    ratios = np.linspace(1, 1.2, 50)
    axes.plot(ratios, [log(r) / log(1.2) for r in ratios], "k:", label="ln ratio / ln 1.2")
    middles = [(low + high) / 2 for low, high in pairwise(measured["ratios"])]
    for number, row in enumerate(measured["rows"]):
        points = [
            (middle, apart / pairs)
            for middle, (pairs, apart) in zip(middles, row["by_ratio"], strict=True)
            if pairs >= 20
        ]
        style = {**line_style(number), "linestyle": "-", "linewidth": 0.6}
        axes.plot(*zip(*points, strict=True), **style, label=NAMES[row["corpus"]])
    tidy(axes, "words of the longer / words of the shorter", "known pairs kept apart")
    axes.yaxis.set_major_formatter(PercentFormatter(1, 0))
    axes.legend(frameon=False, fontsize=9)
    return figure


def draw_edits(parts: dict[str, Json]) -> Figure:
    """The share of changed true pairs within k bits, by k, for recipes and corpora."""
    known = scheme_results.load()
    figure = new_figure(10.5, 3.9)
    panels = figure.subplots(1, 3, sharey=True)
    for axes, corpus in zip(panels, ("django_docs", "arxiv", "tang_poems"), strict=True):
        rows = {row["name"]: row for row in known[corpus]["rows"]}
        for number, (label, name) in enumerate(SCHEMES.items()):
            counts = np.cumsum(rows[name]["true"]) / sum(rows[name]["true"])
            style = {**line_style(number), "markevery": 3, "markersize": 4.5}
            axes.plot(range(21), counts[:21], **style, label=label)
        axes.axvline(3, color="0.5", linewidth=0.9)
        axes.set_xticks((0, 3, 5, 10, 15, 20))
        axes.set_ylim(0, 1.02)
        axes.yaxis.set_major_formatter(PercentFormatter(1, 0))
        tidy(axes, "limit: differing bits of 64", "")
        axes.set_title(NAMES[corpus], fontsize=10)
    panels[0].set_ylabel("true, changed pairs found")
    panels[0].legend(frameon=False, fontsize=9, loc="lower right")
    return figure


def draw_dimensions(parts: dict[str, Json]) -> Figure:
    """What is found at 1 random pair in 10,000, by dimensions, beside plain bits."""
    measured = parts["dimensions"]
    figure = new_figure(7.5, 4.2)
    axes = figure.subplots()
    for number, corpus in enumerate(("arxiv", "tang_poems")):
        rows = [row for row in measured["rows"] if row["corpus"] == corpus]
        plain, *spheres = [float(rare_share(row)) for row in rows]
        style = line_style(number)
        axes.plot(measured["dimensions"], spheres, **style, label=f"{NAMES[corpus]}: sphere")
        axes.axhline(
            plain,
            color=style["color"],
            linestyle=":",
            linewidth=1.2,
            label=f"{NAMES[corpus]}: 64 plain bits",
        )
    axes.axvline(42, color="0.5", linewidth=0.9)
    axes.set_xticks(measured["dimensions"])
    tidy(axes, "dimensions of the sphere (64 bits from each)", "true pairs found")
    axes.yaxis.set_major_formatter(PercentFormatter(1, 0))
    axes.legend(frameon=False, fontsize=9, loc="center right")
    return figure


def rare_share(row: Json) -> Fraction:
    """The share of true pairs within the distance that 1 random pair in 10,000 keeps."""
    limit = Distances(tuple(row["random"])).limit(RARE)
    return Fraction(0) if limit is None else Distances(tuple(row["true"])).within(limit)
