"""The tables of docs/how-it-works/reproductions.md, from the results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from benchmarks.markdown import table
from scripts.reproductions_page.pictures import NAMES, rare_share
from scripts.reproductions_page.results import Json
from scripts.scheme_quality.distances import Distances

from neardup.cli.commands.reproduce import _cell_text


def beside(reproduced: Json, place: int) -> str:
    """One table of a reproduction, its published values and ours."""
    shown = reproduced["tables"][place]
    return told(shown["columns"].values(), (row.values() for row in shown["rows"]))


def merged(reproduced: Json) -> str:
    """The tables of three columns of a reproduction, as one."""
    lines = [
        (f"{shown['title']}: {row['what']}", row["published"], row["ours"])
        for shown in reproduced["tables"]
        if set(shown["columns"]) == {"what", "published", "ours"}
        for row in shown["rows"]
    ]
    pairs = [
        (f"Jaccard index: {row['pair']}", row["published"], row["ours"])
        for row in reproduced["tables"][0]["rows"]
    ]
    return told(("what", "published", "ours"), [*pairs, *lines])


def rotation_table(measured: Json) -> str:
    """A line for each recipe and corpus: windows of 1, 4 and 32."""
    shown = [measured["windows"].index(window) for window in (1, 4, 32)]
    lines = []
    for row in measured["rows"]:
        cells = [
            " / ".join(share(row["recall"][place][kind]) for place in shown) for kind in range(5)
        ]
        about = f"{row['recipe']}, ≤ {row['limit']} of {row['bits']}"
        lines.append((f"{NAMES[row['corpus']]}: {about}", f"{row['pairs'][-1]:,}", *cells))
    header = ("windows of 1 / 4 / 32", "near pairs", "isolated", "3 to 5", "6 to 20", "larger")
    return told((*header, "all"), lines)


def edits_table(measured: Json) -> str:
    """A line for each range of the Jaccard index, a column for each recipe."""
    names = list(dict.fromkeys(row["recipe"] for row in measured["rows"]))
    first, last = 0, len(measured["limits"]) - 1
    lines = []
    ranges = sorted(measured["rows"], key=lambda row: row["low"])
    for (low, high), rows in groupby(ranges, key=lambda row: (row["low"], row["high"])):
        same = {row["recipe"]: row for row in rows}
        cells = (
            f"{share(same[name]['within'][first])} ({share(same[name]['within'][last])})"
            for name in names
        )
        lines.append((f"{low:g} to {high:g}", f"{same[names[0]]['pairs']:,}", *cells))
    recipes = ["the blog's recipe" if name == "blog" else f"`{name}`" for name in names]
    return told(("Jaccard of the words", "changed pairs", *recipes), lines)


def borders_table(measured: Json) -> str:
    """A line for each corpus."""
    lines = []
    for row in measured["rows"]:
        lost = [share(lost / pairs) for lost, pairs in zip(row["lost"], row["pairs"], strict=True)]
        lines.append(
            (
                NAMES[row["corpus"]],
                *(f"{row[key]:,}" for key in ("documents", "windows", "in_windows")),
                f"{row['similar_lengths']:,}",
                *lost,
                f"{row['known_lost']:,} of {row['known_similar']:,} "
                f"({share(row['known_lost'] / row['known_similar'])})",
            )
        )
    header = ("", "documents", "windows", "comparisons in windows", "without borders")
    limits = (f"lost within {limit}" for limit in measured["rows"][0]["limits"])
    return told((*header, *limits, "known pairs of similar lengths lost"), lines)


def dimensions_table(measured: Json) -> str:
    """A line for each number of dimensions."""
    corpora = list(dict.fromkeys(row["corpus"] for row in measured["rows"]))
    kinds = list(dict.fromkeys(row["projection"] for row in measured["rows"]))
    lines = []
    for kind in kinds:
        cells: list[str] = []
        for corpus in corpora:
            (row,) = (
                row
                for row in measured["rows"]
                if row["corpus"] == corpus and row["projection"] == kind
            )
            cells += [share(float(rare_share(row))), f"{scatter(row['random']):.2f}"]
        lines.append(("64 plain bits" if kind is None else f"`{kind}`", *cells))
    header = [
        heading
        for corpus in corpora
        for heading in (
            f"{NAMES[corpus]}: found at 1 in 10,000",
            "standard deviation of random pairs (bits)",
        )
    ]
    return told(("", *header), lines)


def scatter(counts: Sequence[int]) -> float:
    """The standard deviation of distances."""
    distances = Distances(tuple(counts))
    variance = sum(count * (k - distances.mean) ** 2 for k, count in enumerate(counts))
    return float((variance / distances.pairs) ** 0.5)


def share(value: float | None) -> str:
    """A share as a percentage, none where there is nothing to share."""
    return "–" if value is None else f"{value:.1%}".replace("%", " %")


def told(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A Markdown table of cells as the terminal shows them."""
    return table(list(header), [[_cell_text(cell) for cell in row] for row in rows]).rstrip("\n")
