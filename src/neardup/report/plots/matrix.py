"""Which source repeats which: a table with the darker cells for the larger numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from neardup.report.markup import Markup, fill, joined
from neardup.visible import visible

_STEPS = 5
_LONGEST_NAME = 60
_TABLE = """\
<div class="scroll"><table class="matrix">
<caption>{caption}</caption>
<thead><tr><td></td>{columns}</tr></thead>
<tbody>
{rows}</tbody></table></div>
"""
_COLUMN = '<th scope="col" title="{whole}"><span><bdi>{name}</bdi></span></th>'
_ROW = '<tr><th scope="row" title="{whole}"><bdi>{name}</bdi></th>{cells}</tr>\n'
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
    count; `link` returns where the count leads, given the names of its row and its column.
    """
    most = max((count for row in counts for count in row), default=0)
    if not most:
        return None

    def cell(row: str, column: str, count: int) -> Markup:
        shown: str = f"{count:,}" if count else "·"
        if count and link is not None:
            shown = fill(_LINK, link=link(row, column), count=shown)
        return fill(_CELL, step=heat(count, most), count=shown)

    return fill(
        _TABLE,
        caption=caption,
        columns=joined(_named(_COLUMN, name) for name in columns),
        rows=joined(
            _named(
                _ROW,
                row,
                cells=joined(
                    cell(row, column, count) for column, count in zip(columns, line, strict=True)
                ),
            )
            for row, line in zip(rows, counts, strict=True)
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


def _named(template: str, name: str, **more: Markup) -> Markup:
    whole = visible(name)
    # The end of a path says more than its beginning.
    short = whole if len(whole) <= _LONGEST_NAME else "…" + whole[1 - _LONGEST_NAME :]
    return fill(template, whole=whole, name=short, **more)
