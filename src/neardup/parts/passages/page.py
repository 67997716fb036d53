"""The page of a search for passages: the largest pieces of boilerplate, with their texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.report.code import is_code
from neardup.report.dedup_page.clusters import shown_name
from neardup.report.dedup_page.diff import direction
from neardup.report.dedup_page.templates import DRAWING, FIGURE, SETTING_ROW, TABLE, TILE
from neardup.report.look import stylesheet
from neardup.report.markup import Markup, fill, joined
from neardup.report.page_head import PAGE_HEAD
from neardup.report.plots.histograms import cluster_plot
from neardup.visible import visible, visible_lines

_PAGE = (
    PAGE_HEAD
    + """\
<p class="soft">Run started <time datetime="{started}">{started}</time></p>
</header>
<main>
<section>
<dl class="tiles">
{tiles}</dl>
</section>
{plots}<section>
<h2>The largest pieces of boilerplate</h2>
<p class="soft">{about}</p>
{families}</section>
<section>
<h2>The run</h2>
<div class="columns">
<div>
<h3>Settings</h3>
{settings}</div>
<div>
<h3>Seconds</h3>
{seconds}</div>
</div>
{command}</section>
</main>
</body>
</html>"""
)
_PLOTS = """\
<section>
<h2>How far passages are spread</h2>
<div class="plots">
{figure}</div>
</section>
"""
_FAMILY = """\
<details class="card"{opened}>
<summary><b>{documents} documents</b> · {repeated} repeated · {words} words{domains} · \
<bdi class="soft">{excerpt}</bdi></summary>
<div class="text{code}" dir="{direction}">{text}</div>
<p class="small soft">First in <bdi class="id">{document}</bdi>, characters {start} to {end}; \
family {family}{occurs}.{where}</p>
</details>
"""
_WHERE = " Most often in <bdi>{names}</bdi>."
_NONE = """\
<p class="empty">No {unit} of {least} words or more occurs in two documents.</p>
"""
_COMMAND = """\
<h3>Repeat the run</h3>
<pre><code>{command}</code></pre>
"""
_OPEN, _EXCERPT, _SHOWN_CHARACTERS = 5, 90, 3_000
_UNSHOWN = frozenset({"text", "id", "threads"})


def passages_page(
    summary: Mapping[str, Any],
    largest: Sequence[Mapping[str, Any]],
    documents: NDArray[np.int64],
    name: str,
) -> str:
    """One self-contained HTML page; `documents` has the number of documents of each family.

    Text from documents is escaped, and its control characters are made visible.
    """
    settings = summary["settings"]
    return fill(
        _PAGE,
        style=Markup(stylesheet()),
        title=f"Passages of {shown_name(name)}",
        headline=_headline(summary),
        started=summary["started"],
        tiles=joined(fill(TILE, label=label, value=value) for label, value in _tiles(summary)),
        plots=_plots(documents),
        about=_about(summary, len(largest)),
        families=joined(_family(one, place < _OPEN) for place, one in enumerate(largest))
        or fill(_NONE, unit=settings["unit"], least=settings["min_words"]),
        settings=_table(
            (key.replace("_", " "), str(value))
            for key, value in settings.items()
            if value is not None and key not in _UNSHOWN
        ),
        seconds=_table((stage, f"{spent:.2f}") for stage, spent in summary["seconds"].items()),
        command=fill(_COMMAND, command=visible_lines(summary["command"]))
        if summary.get("command")
        else "",
    )


def _headline(summary: Mapping[str, Any]) -> str:
    share = summary["repeated_bytes"] / max(1, summary["text_bytes"])
    return f"{share:.1%} of the text stands in other documents, too"


def _tiles(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = [
        ("documents", f"{summary['documents']:,}"),
        (f"passages ({summary['settings']['unit']})", f"{summary['passages']:,}"),
        ("of these in several documents", f"{summary['repeated_passages']:,}"),
        ("families", f"{summary['families']:,}"),
        ("text", _megabytes(summary["text_bytes"])),
        ("repeated text", _megabytes(summary["repeated_bytes"])),
    ]
    if "removed_passages" in summary:
        found += [
            ("passages removed", f"{summary['removed_passages']:,}"),
            ("text removed", _megabytes(summary["removed_bytes"])),
            ("documents changed", f"{summary['changed_documents']:,}"),
            ("of these empty now", f"{summary['emptied_documents']:,}"),
        ]
    return found


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1_000_000 else f"{size / 1e3:,.1f} kB"


def _plots(documents: NDArray[np.int64]) -> Markup:
    drawn = cluster_plot(documents, "passage")
    if drawn is None:
        return Markup("")
    figure = fill(
        FIGURE,
        heading="Passages by the number of documents they occur in",
        drawing=fill(DRAWING, svg=drawn),
        text="A family of passages that are alike counts as one. Those at the right are menus, "
        "headers, licences; those at the left may be quotations and copies.",
    )
    return fill(_PLOTS, figure=figure)


def _about(summary: Mapping[str, Any], shown: int) -> str:
    if not summary["families"]:
        return ""
    rest = summary["families"] - shown
    more = f" families.parquet has {rest:,} more." if rest else ""
    return (
        "By the number of documents times the length, of which 500 bytes count at most: long "
        f"passages in few documents are copies rather than boilerplate.{more}"
    )


def _family(family: Mapping[str, Any], opened: bool) -> Markup:
    text = family["text"]
    flat = " ".join(text[:_SHOWN_CHARACTERS].split())
    cut = text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
    count, names = family["domains"], [name for name in family["top_domains"] if name]
    more = family["passages"] - family["documents"]
    return fill(
        _FAMILY,
        opened=Markup(" open") if opened else "",
        documents=f"{family['documents']:,}",
        repeated=_megabytes(family["repeated_bytes"]),
        words=f"{family['words']:,}",
        domains=f" · {count:,} places" if count > 1 else "",
        excerpt=visible(flat[:_EXCERPT] + ("…" if len(flat) > _EXCERPT else "")),
        code=" code" if is_code(text) or "\n" in text else "",
        direction=direction(text),
        text=visible_lines(cut),
        document=shown_name(str(family["document"])),
        start=f"{family['start']:,}",
        end=f"{family['end']:,}",
        family=family["family"],
        occurs=f", {family['passages']:,} times in all" if more else "",
        where=fill(_WHERE, names=shown_name(", ".join(names))) if count > 1 and names else "",
    )


def _table(rows: Iterable[tuple[str, str]]) -> Markup:
    lines = joined(fill(SETTING_ROW, name=name, value=visible(value)) for name, value in rows)
    return fill(TABLE, rows=lines)
