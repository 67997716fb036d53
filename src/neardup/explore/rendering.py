"""Templates: every value is escaped, and an unknown name is an error.

A page gives its template finished values; what is here is how values look: numbers, similarities,
durations, and text from documents, whose control characters are made visible.
"""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from neardup import __version__
from neardup.report.dedup_page.diff import direction
from neardup.report.plots.curves import percent
from neardup.report.plots.seconds import duration
from neardup.visible import shown_similarity, visible, visible_lines

_LONGEST_ID = 80


def rendered(template: str, **context: Any) -> str:
    """The text of a template with these values."""
    return _environment().get_template(template).render(context)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("neardup.explore", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {
        "around": around,
        "change": change,
        "counted": counted,
        "dir": direction,
        "duration": duration,
        "ending": ending,
        "lines": visible_lines,
        "moment": moment,
        "number": number,
        "percent": percent,
        "short": short,
        "shown": visible,
        "similarity": shown_similarity,
        "size": size,
    }
    environment.globals |= {"version": __version__}
    return environment


def number(value: float) -> str:
    """A number with thousands separators.

    >>> number(1234567), number(1234.5)
    ('1,234,567', '1,234.5')
    """
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def counted(value: int, noun: str, nouns: str = "") -> str:
    """A number of things.

    >>> counted(1, "cluster"), counted(2000, "copy", "copies")
    ('1 cluster', '2,000 copies')
    """
    return f"{value:,} {noun if value == 1 else nouns or noun + 's'}"


def change(value: int | None, before: int | None) -> str:
    """By how much a number grew.

    >>> change(12, 10), change(1, 2000), change(1, 1), change(None, 1)
    ('+2', '−1,999', '', '')
    """
    if value is None or before is None or value == before:
        return ""
    return f"{'+' if value > before else '−'}{abs(value - before):,}"


def moment(written: str) -> str:
    """A moment in ISO 8601, to the minute.

    >>> moment("2026-11-17T16:42:34.500Z"), moment("2026-11-17T16:42:34+05:30"), moment("soon")
    ('2026-11-17 16:42 UTC', '2026-11-17 16:42 +05:30', 'soon')
    """
    try:
        # Python 3.10 does not read the Z of UTC.
        found = datetime.fromisoformat(f"{written[:-1]}+00:00" if written[-1:] == "Z" else written)
    except ValueError:
        return written
    zone = "" if found.tzinfo is None else written[19:].lstrip(".0123456789")
    return f"{found:%Y-%m-%d %H:%M} {'UTC' if zone in ('Z', '+00:00') else zone}".rstrip()


def size(value: float) -> str:
    """A number of bytes.

    >>> size(999), size(15_360), size(2.5e9)
    ('999 bytes', '15.4 kB', '2.5 GB')
    """
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= unit:
            return f"{value / unit:,.1f} {name}"
    return f"{value:,} bytes"


def short(text: object, most: int = _LONGEST_ID) -> str:
    """The beginning of a text, visible, on one line."""
    whole = str(text)
    shown = visible(whole[: most + 1])
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def ending(text: str, most: int = _LONGEST_ID) -> str:
    """The end of a text, as of a path, whose end says more than its beginning."""
    shown = visible(text[-most - 1 :])
    return shown if len(shown) <= most else "…" + shown[1 - most :]


def around(page: int, last: int) -> list[int | None]:
    """The numbers to link to from a page; None where some are left out.

    >>> around(5, 9), around(1, 2), around(7, 1_000)
    ([1, None, 4, 5, 6, None, 9], [1, 2], [1, None, 6, 7, 8, None, 1000])
    """
    near = sorted({1, last, *(each for each in (page - 1, page, page + 1) if 1 <= each <= last)})
    shown: list[int | None] = []
    for number in near:
        if shown and number - (shown[-1] or 0) > 1:
            shown.append(None)
        shown.append(number)
    return shown
