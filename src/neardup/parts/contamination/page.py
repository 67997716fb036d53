"""report.html: a table of benchmarks, the shares of their items, and the worst items in context."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.parts.contamination import templates
from neardup.parts.contamination.result import WorstItem
from neardup.report.look import stylesheet
from neardup.report.markup import Markup, fill, joined
from neardup.report.plots.histograms import share_plot
from neardup.visible import visible, visible_lines

_OPEN = 5  # items that are shown at once
_MOST_PLOTS = 12


def contamination_page(
    summary: Mapping[str, Any], items: pa.Table, worst: Sequence[WorstItem]
) -> str:
    """One self-contained HTML page: no network, no scripts, no other files.

    Text from documents and items is escaped, and its control characters are made visible.
    """
    benchmarks = summary["benchmarks"]
    return fill(
        templates.PAGE,
        style=Markup(stylesheet()),
        title="Contamination",
        headline=headline(summary),
        about=_about(summary),
        rows=joined(_rows(benchmarks)),
        common=_common(summary),
        plots=joined(_plots(benchmarks, items)),
        worst_heading=_worst_heading(summary, worst),
        worst=joined(_worst(worst)),
    )


def headline(summary: Mapping[str, Any]) -> str:
    """What was found, in a sentence."""
    rows = summary["benchmarks"]
    total, hit, whole = (sum(one[name] for one in rows) for name in ("items", "hit", "whole"))
    return (
        f"{hit:,} of {total:,} items occur in {summary['documents_with_hits']:,} of "
        f"{summary['documents']:,} documents; {whole:,} of them whole"
    )


def common_lines(summary: Mapping[str, Any]) -> list[str]:
    """What is said of words that too many items share; nothing if there are none."""
    common, settings = summary["common"], summary["settings"]
    if not common["runs"]:
        return []
    lines = [
        f"{common['runs']:,} runs of {settings['min_words']} words are in more than "
        f"{settings['max_items']:,} items each, and are no hit by themselves:"
    ]
    return lines + [f"“{one['words']}” ({one['items']:,} items)" for one in common["examples"]]


def _about(summary: Mapping[str, Any]) -> str:
    settings = summary["settings"]
    said = (
        f"An item occurs in a document if both have the same {settings['min_words']} words in a "
        "row. Its share is how many of its words are in such runs."
    )
    if settings["remove"]:
        removed = [
            f"{summary[name]:,} {name.replace('_', ' ')}"
            for name in ("removed_documents", "changed_documents", "removed_passages")
            if name in summary
        ]
        said += f" For a share of {settings['remove_share']:g} or more: {', '.join(removed)}."
    return said


def _rows(benchmarks: Sequence[Mapping[str, Any]]) -> Iterator[Markup]:
    for one in benchmarks:
        counts = {
            name: f"{one[name]:,}"
            for name in ("items", "hit", "half", "most", "whole", "too_short")
        }
        yield fill(
            templates.ROW,
            name=visible(one["name"]),
            columns=visible(", ".join(one["columns"])),
            **counts,
        )


def _common(summary: Mapping[str, Any]) -> Markup:
    lines = common_lines(summary)
    if not lines:
        return Markup("")
    parts = joined(fill(templates.ITEM, text=visible(line)) for line in lines[1:])
    return fill(templates.COMMON, text=lines[0], items=parts)


def _plots(benchmarks: Sequence[Mapping[str, Any]], items: pa.Table) -> Iterator[Markup]:
    names = items["benchmark"].cast(pa.string()).to_numpy(zero_copy_only=False)
    share, documents = items["share"].to_numpy(), items["documents"].to_numpy()
    hit = [one for one in benchmarks if one["hit"]]
    for number, one in enumerate(hit[:_MOST_PLOTS]):
        shares = share[(names == one["name"]) & (documents > 0)]
        svg = share_plot(np.asarray(shares), one["items"], name=f"shares-{number}")
        yield fill(
            templates.FIGURE,
            heading=visible(one["name"]),
            svg=svg,
            text=f"{one['hit']:,} of {one['items']:,} items, by the largest share that is in one "
            "document.",
        )


def _worst_heading(summary: Mapping[str, Any], worst: Sequence[WorstItem]) -> str:
    if not worst:
        return "No item occurs in any document."
    hit = sum(one["hit"] for one in summary["benchmarks"])
    which = "all" if hit <= len(worst) else f"the {len(worst):,} worst"
    return (
        f"Of {hit:,} items {which}, by the share that is in one document; the longest run of "
        "words is marked. items.parquet and hits.parquet have all."
    )


def _worst(worst: Sequence[WorstItem]) -> Iterator[Markup]:
    for place, one in enumerate(worst):
        others = one.documents - 1
        yield fill(
            templates.WORST,
            opened=" open" if place < _OPEN else "",
            share=shown_share(one.share),
            benchmark=visible(one.benchmark),
            item=visible(one.item),
            document=visible(str(one.document)),
            words=f"{one.longest:,} words in a row",
            others=f" · {others:,} more document{'' if others == 1 else 's'}" if others else "",
            text=visible_lines(one.text),
            before=visible_lines(one.before),
            run=visible_lines(one.run),
            after=visible_lines(one.after),
        )


def shown_share(share: float) -> str:
    """A share with two digits; 1.00 only if it is whole.

    >>> shown_share(1.0), shown_share(0.9999), shown_share(0.123)
    ('1.00', '0.99', '0.12')
    """
    return "1.00" if share >= 1 else f"{min(share, 0.99):.2f}"
