"""HTML for notebooks: tables, plots and diffs, escaped, without scripts or external resources.

Colours are inherited or half transparent, so that light and dark themes work; plots have a white
background.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from neardup.visible import visible

_LONGEST_CELL = 80
_LINE = "1px solid rgba(128,128,128,.4)"
_STYLE = f"""<style>
.neardup {{ font: 13px/1.45 system-ui, sans-serif; max-width: 64em; }}
.neardup table {{ border-collapse: collapse; margin: .5em 0; font: inherit; }}
.neardup th, .neardup td {{ padding: .15em .7em; border: 0; border-bottom: {_LINE};
  text-align: right; vertical-align: top; background: none; color: inherit;
  max-width: 28em; overflow-wrap: break-word; font-variant-numeric: tabular-nums; }}
.neardup th {{ font-weight: 600; vertical-align: bottom; white-space: nowrap; }}
.neardup .text {{ text-align: left; }}
.neardup .plots {{ display: flex; flex-wrap: wrap; gap: .6em; margin: .5em 0; }}
.neardup .plots > * {{ background: #fff; border-radius: 4px; padding: .4em; }}
.neardup .plots svg {{ display: block; width: 340px; fill: #22313f;
  font: 12px system-ui, sans-serif; }}
.neardup .plot-axis {{ stroke: #22313f; }} .neardup .plot-grid {{ stroke: #e1e6eb; }}
.neardup .plot-bar {{ fill: #1f6fb2; }} .neardup .plot-hit {{ fill: none; pointer-events: all; }}
.neardup .plot-mark {{ stroke: #b3263c; stroke-width: 1.6; stroke-dasharray: 5 3; }}
.neardup .plots img {{ display: block; width: 390px; }}
.neardup pre, .neardup .diff {{ margin: .5em 0; padding: .4em .7em; border-left: 3px solid
  rgba(128,128,128,.4); background: none; color: inherit; white-space: pre-wrap;
  overflow-wrap: anywhere; }}
.neardup del {{ background: rgba(217,48,37,.25); }}
.neardup ins {{ background: rgba(24,128,56,.25); text-decoration: none; }}
.neardup .note {{ opacity: .7; }}
</style>"""


def block(*parts: str) -> str:
    """Wrap parts, made by the functions below, into one element with its styles."""
    return f'<div class="neardup">{_STYLE}\n' + "\n".join(filter(None, parts)) + "\n</div>"


def shown(text: Any) -> str:
    """Escape untrusted text for HTML, with control characters made visible."""
    return escape(visible(str(text)))


def heading(text: str) -> str:
    """A heading."""
    return f"<div><b>{shown(text)}</b></div>"


def note(text: str) -> str:
    """A line in a paler colour."""
    return f'<div class="note">{shown(text)}</div>'


def items(texts: Iterable[str]) -> str:
    """A list of sentences; "" if there are none."""
    lines = "".join(f"<li>{shown(text)}</li>" for text in texts)
    return lines and f"<ul>{lines}</ul>"


def code(text: str) -> str:
    """Preformatted lines to copy."""
    return "<pre>" + "\n".join(map(shown, text.splitlines())) + "</pre>"


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table; texts are left-aligned and shortened, numbers right-aligned, None is empty.

    >>> table(["id", "words"], [["<a>", 1200]]).count("&lt;a&gt;")
    1
    """
    held = [list(row) for row in rows]
    texts = [any(isinstance(row[at], str) for row in held) for at in range(len(columns))]
    classes = [' class="text"' if is_text else "" for is_text in texts]
    head = "".join(f"<th{c}>{shown(name)}</th>" for c, name in zip(classes, columns, strict=True))
    lines = [
        "".join(f"<td{c}>{_cell(value)}</td>" for c, value in zip(classes, row, strict=True))
        for row in held
    ]
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"


def plots(drawings: Iterable[str | None]) -> str:
    """Drawings side by side (trusted SVG, or images), without None; "" if there are none."""
    found = "".join(f"<div>{drawing}</div>" for drawing in drawings if drawing)
    return found and f'<div class="plots">{found}</div>'


def image(svg: str, label: str) -> str:
    """An SVG as an image, so that its styles do not affect the rest of the page."""
    data = b64encode(svg.encode()).decode()
    return f'<img alt="{shown(label)}" src="data:image/svg+xml;base64,{data}">'


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4f}"
    text = str(value)
    return shown(text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…")
