"""Templates: every value is escaped, and an unknown name is an error.

A page gives its template finished values; what is here is how values look: numbers, similarities,
durations, and text from documents, whose control characters are made visible.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from neardup import __version__
from neardup.report.dedup_page.diff import direction
from neardup.report.dedup_page.plots import duration, percent
from neardup.visible import visible

_LINE_ENDS = re.compile(r"\r\n?|\n")
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
        "counted": counted,
        "dir": direction,
        "duration": duration,
        "lines": lines,
        "number": number,
        "percent": percent,
        "short": short,
        "shown": visible,
        "similarity": similarity,
        "size": size,
    }
    environment.globals |= {"version": __version__, "svg": Markup}
    return environment


def number(value: float) -> str:
    """A number with thousands separators.

    >>> number(1234567), number(1234.5)
    ('1,234,567', '1,234.5')
    """
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def counted(value: int, noun: str, nouns: str = "") -> str:
    """A number of things.

    >>> counted(1, "cluster"), counted(2000, "copy", "copies")
    ('1 cluster', '2,000 copies')
    """
    return f"{value:,} {noun if value == 1 else nouns or noun + 's'}"


def similarity(value: float | None) -> str:
    """A similarity with four digits, cut off, so that it never seems to reach a threshold.

    >>> similarity(0.79999), similarity(1.0), similarity(None)
    ('0.7999', '1.0000', '–')
    """
    # What is a hair below four digits by the arithmetic of floats has reached them.
    return "–" if value is None else f"{int(value * 1e4 + 1e-6) / 1e4:.4f}"


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


def lines(text: str) -> str:
    r"""A whole text, with its lines and tabs; other control characters are visible.

    >>> lines("a\r\n\tb\x00")
    'a\n\tb␀'
    """
    shown = (visible(line).replace("␉", "\t") for line in _LINE_ENDS.split(text))
    return "\n".join(shown)
