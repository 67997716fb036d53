"""Write what passages were found in real collections into docs/guides/passages.md, and draw it.

    python -m scripts.passages_page PYTHON/lib/python3.8 PYTHON/lib/python3.9 ...

The folders are standard libraries of Python; the other collections are those of `../shared/data`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import neardup as nd
from neardup.figures import new_figure, write_figure

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "guides" / "passages.md"
PICTURE = ROOT / "docs" / "images" / "passages.png"
DATA = ROOT.parent / "shared" / "data"
BEGIN, END = "<!-- found: scripts.passages_page -->\n", "<!-- end of what was found -->\n"
_ASIDE = {"site-packages", "test", "tests", "idlelib", "lib2to3"}
_SHOWN, _EXCERPT = 4, 90


def collections(libraries: Sequence[str]) -> dict[str, pa.Table]:
    """The collections by name."""
    found = {f"Python's standard library, {len(libraries)} versions": _libraries(libraries)}
    for name, folder in (
        ("Rust's documentation, HTML pages", "rustdoc"),
        ("Django's documentation, seven releases", "django_docs"),
        ("Complete Tang poems, two editions", "tang_poems"),
    ):
        found[name] = pq.read_table(DATA / folder / "docs.parquet", columns=["text"])
    return found


def _libraries(folders: Sequence[str]) -> pa.Table:
    texts, names = [], []
    for folder in map(Path, folders):
        for path in sorted(folder.rglob("*.py")):
            inside = path.relative_to(folder)
            if not _ASIDE & set(inside.parts):
                texts.append(path.read_text(encoding="utf-8", errors="replace"))
                names.append(f"{folder.name}/{inside}")
    return pa.table({"id": names, "text": texts})


def measured(table: pa.Table) -> dict[str, Any]:
    """What is found with the defaults, and what exact copies alone would be."""
    near, exact = nd.passages(table), nd.passages(table, threshold=1)
    summary = near.summary
    families = near.families
    return {
        **summary,
        "share": summary["repeated_bytes"] / summary["text_bytes"],
        "exact_share": exact.summary["repeated_bytes"] / summary["text_bytes"],
        "spread": families["documents"].to_numpy(),
        "largest": families.slice(0, _SHOWN).to_pylist(),
    }


def block(found: dict[str, dict[str, Any]]) -> str:
    """The figures of the page."""
    columns = ["collection", "documents", "text", "passages", "of these repeated", "families"]
    columns += ["text repeated", "by exact copies alone"]
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for name, one in found.items():
        lines.append(
            f"| {name} | {one['documents']:,} | {one['text_bytes'] / 1e6:,.0f} MB | "
            f"{one['passages']:,} | {one['repeated_passages']:,} | {one['families']:,} | "
            f"{one['share']:.0%} | {one['exact_share']:.0%} |"
        )
    lines += ["", "The largest families of each:", ""]
    lines += ["| documents | words | text |", "|---|---|---|"]
    for name, one in found.items():
        lines.append(f"| | | **{name}** |")
        for family in one["largest"]:
            lines.append(
                f"| {family['documents']:,} | {family['words']:,} | {_cell(family['text'])} |"
            )
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    flat = " ".join(text.split()).replace("|", "\\|").replace("`", "'")
    return f"`{flat[:_EXCERPT]}{'…' if len(flat) > _EXCERPT else ''}`"


def draw(found: dict[str, dict[str, Any]], path: Path) -> None:
    """How much is repeated, and in how many documents."""
    figure = new_figure(9, 3.6)
    left, right = figure.subplots(1, 2)
    names = [name.partition(",")[0].replace("Complete ", "") for name in found]
    places = np.arange(len(found))
    for shift, key, label, colour in (
        (-0.2, "exact_share", "exact copies", "0.75"),
        (0.2, "share", "with near ones", "tab:blue"),
    ):
        shares = [100 * one[key] for one in found.values()]
        left.barh(places + shift, shares, 0.38, label=label, color=colour)
    left.set_yticks(places, names)
    left.invert_yaxis()
    left.set(xlabel="% of the text that is repeated")
    left.legend(frameon=False)
    for name, one in zip(names, found.values(), strict=True):
        values, counts = np.unique(one["spread"], return_counts=True)
        right.loglog(values, counts, ".", label=name, markersize=4)
    right.set(xlabel="documents of a family", ylabel="families")
    right.legend(frameon=False, fontsize=8)
    write_figure(figure, path, "png")


def main(libraries: Sequence[str]) -> None:
    """Measure, draw and write."""
    found = {name: measured(table) for name, table in collections(libraries).items()}
    draw(found, PICTURE)
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(before + BEGIN + block(found) + END + after, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
