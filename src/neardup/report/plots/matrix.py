"""Which source repeats which: a table with the darker cells for the larger numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import takewhile

from neardup.report.markup import Markup, fill, joined
from neardup.visible import visible

_STEPS = 5
_LONGEST_ROW, _LONGEST_COLUMN = 60, 26  # characters
_TABLE = """\
<div class="scroll"><table class="matrix">
<caption>{caption}</caption>
<thead><tr><td></td>{columns}</tr></thead>
<tbody>
{rows}</tbody></table></div>
"""
_COLUMN = '<th scope="col" title="{whole}"><span>{number}<bdi>{name}</bdi></span></th>'
_ROW = '<tr><th scope="row" title="{whole}">{number}<bdi>{name}</bdi></th>{cells}</tr>\n'
_CELL = '<td class="heat-{step}">{count}</td>'
_LINK = '<a href="{link}">{count}</a>'


def matrix_table(
    rows: Sequence[str],
    columns: Sequence[str],
    counts: Sequence[Sequence[int]],
    *,
    caption: str = "Removed documents by source (rows) and the source of the document they repeat.",
    link: Callable[[str, str], str] | None = None,
) -> Markup | None:
    """Counts by the names of rows and columns, as HTML; None if all are 0.

    A cell has the class `heat-0` for no document, and `heat-1` to `heat-5` by the logarithm of its
    count; `link` returns where the count leads, given the names of its row and its column, or "".
    Where rows and columns have the same names, both are numbered, so that long names are found.
    """
    most = max((count for row in counts for count in row), default=0)
    if not most:
        return None
    folder = common_folder([*rows, *columns])
    most_names = max(len(rows), len(columns))
    numbers = [""] * most_names
    if list(rows) == list(columns):
        numbers = [f"{number} " for number in range(1, most_names + 1)]

    def cell(row: str, column: str, count: int) -> Markup:
        shown: str = f"{count:,}" if count else "·"
        target = link(row, column) if count and link is not None else ""
        if target:
            shown = fill(_LINK, link=target, count=shown)
        return fill(_CELL, step=heat(count, most), count=shown)

    return fill(
        _TABLE,
        caption=caption,
        columns=joined(
            _named(_COLUMN, name, folder, _LONGEST_COLUMN, number=number)
            for number, name in zip(numbers, columns, strict=False)
        ),
        rows=joined(
            _named(
                _ROW,
                row,
                folder,
                _LONGEST_ROW,
                number=number,
                cells=joined(
                    cell(row, column, count) for column, count in zip(columns, line, strict=True)
                ),
            )
            for number, row, line in zip(numbers, rows, counts, strict=False)
        ),
    )


def heat(count: int, most: int) -> int:
    """The step of a count on a logarithmic scale: 0 for none, 5 for the largest.

    >>> [heat(count, 10_000) for count in (0, 1, 20, 500, 5_000, 10_000)]
    [0, 1, 2, 4, 5, 5]
    """
    if not count:
        return 0
    return min(_STEPS, 1 + int(_STEPS * math.log(count) / math.log(most))) if most > 1 else _STEPS


def common_folder(names: Sequence[str]) -> str:
    """The folder that all names begin with, of those that have a folder.

    >>> common_folder(["data/news/a.jsonl", "data/news/b.jsonl", "other"])
    'data/news/'
    """
    folders = [name.split("/")[:-1] for name in names if "/" in name]
    shared = takewhile(lambda parts: len(set(parts)) == 1, zip(*folders, strict=False))
    return "".join(f"{parts[0]}/" for parts in shared)


def shortened(name: str, longest: int) -> str:
    """A name without its middle, if it is too long: both ends of a path tell it from others.

    >>> shortened("crawl/part-00001/pages.jsonl", 21)
    'crawl/part…ages.jsonl'
    """
    if len(name) <= longest:
        return name
    half = (longest - 1) // 2
    return f"{name[: longest - 1 - half]}…{name[-half:]}"


def _named(template: str, name: str, folder: str, longest: int, **more: object) -> Markup:
    """A header with a short name, without the common folder."""
    short = visible(name.removeprefix(folder) or name)
    return fill(template, whole=visible(name), name=shortened(short, longest), **more)
