"""The page docs/start/choosing-settings.md, made from the stored result alone."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import choosing
from benchmarks.choosing import (
    ADVICE,
    DEFAULTS,
    FORMER,
    FORMER_COLLECTIONS,
    HARMFUL,
    SHORT,
    SHORT_COLLECTIONS,
    Advice,
)
from benchmarks.markdown import provenance, table
from benchmarks.result import RESULTS, Json, Result

PAGE = Path(__file__).parents[1] / "docs" / "start" / "choosing-settings.md"
HEAD = """\
# Choosing settings

What counts as a duplicate depends on your data, and no setting suits all. This page has a command
for each kind of data that we measured, and what it gets wrong. Every command was run on at least
two labelled collections.

The surest way is to label some pairs of your own data: `neardup tune IN` recommends settings and
writes pairs to label, and `neardup tune IN --labels labels.csv` chooses by your labels
([Tuning](../guides/tune.md)). `neardup evaluate OUT --truth labels.csv` says how good a result is.
"""
LESSONS = """\
- The default, `word:3` at 0.8, is for long documents. One changed word changes three shingles of
  three words: little on a page of a thousand words, most of a line of ten.
- Weigh words by their rarity (`--weights tfidf`) where a few rare words tell documents apart:
  names, titles, questions, pages from templates.
- `--cluster dense` joins documents that chains of pairs connect, if enough of them are similar to
  each other. It finds more of names and questions, where a document has several variants. Where
  different documents are variants of each other, as titles of offers are, it joins them, too, and
  stars, the default, are better ([measured](#one-setting-for-all-short-texts)).
- `--cluster components` joins everything that a chain of pairs connects. At low thresholds that is
  most of the collection.
- Look at the weakest accepted pairs on the report page before you rely on a result, or measure it
  with `neardup evaluate OUT --truth labels.csv`.
"""


def page(result: Result) -> str:
    """The whole page in Markdown."""
    parts = [HEAD, "## Recommended commands\n", _overview(result), _READING]
    parts += ["## Rules of thumb\n", LESSONS, "## What each command finds\n"]
    for advice in ADVICE:
        parts += [f"### {advice.data[0].upper()}{advice.data[1:]}\n", _section(advice, result)]
    parts += ["## One setting for all short texts\n", _short(result)]
    parts += ["## A line that is no longer here\n", _former(result)]
    parts += ["## The collections\n", _collections(result)]
    parts += [
        "## Search method\n",
        "Keep the default, `--candidates auto`: the join on the features finds every pair, within "
        "any `--memory`. [Plans](../reference/plans.md) has the others. For `--features terms`, "
        "documents that bring their own terms and weights, the measure is cosine and the labels "
        "are yours: [Input](../guides/input.md).\n",
        "---\n",
        provenance(result),
        "This page is generated from `benchmarks/results/choosing.json` by `python -m "
        "benchmarks.choosing_page`; tests check that they agree and run every command.\n",
    ]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def command(options: str) -> str:
    """A command of the page; IN is the input."""
    return " ".join(("neardup dedup IN", *([options] if options else []), "-o OUT"))


def _rows(result: Result, advice: Advice) -> list[Json]:
    return [result.row(collection=name, kind=advice.kind) for name in advice.collections]


def _overview(result: Result) -> str:
    lines = []
    for advice in ADVICE:
        found = ", ".join(f"{row['collection']} {row['f1']:.2f}" for row in _rows(result, advice))
        usual = (result.row(collection=name, kind=DEFAULTS) for name in advice.collections)
        before = ", ".join(f"{row['f1']:.2f}" for row in usual)
        lines.append(f"| {advice.data} | `{command(advice.options)}` | {found} | {before} |\n")
    head = "| data | command | F1 | F1 of the defaults |\n|---|---|---|---|\n"
    return head + "".join(lines)


_READING = """\
`IN` is your input, `OUT` the folder to write; put in the names of your columns. F1 is the harmonic
mean of precision and recall of the pairs of documents in one cluster, by labels.

**Expect less on your data.** Each command was chosen among twelve to thirty that were tried on the
very collections it is scored on, and more than half of the [collections](#the-collections) are made
by rules. Four of the made ones were changed after a first measurement: topics of questions that are
alike were left out (`close_questions` still has them), so were poems and offers that were
duplicates before anything was made of them, and the margin of the shop's pages was narrowed.
"""


def _section(advice: Advice, result: Result) -> str:
    rows = _rows(result, advice)
    lines = [
        (
            row["collection"],
            f"{row['documents']:,}",
            _rate(row["precision"]),
            _rate(row["recall"]),
            _rate(row["f1"]),
            f"{row['removed']:,}",
            f"{row['largest']:,}",
            f"{row['seconds']:.1f}",
            f"{row['peak_megabytes']:,}",
        )
        for row in rows
    ]
    rates = ("precision", "recall", "F1", "removed", "largest cluster")
    header = ("collection", "documents", *rates, "s", "peak MB")
    parts = [f"    {command(advice.options)}\n"]
    for name, options in advice.fields.items():
        parts.append(f"On `{name}`:\n\n    {command(options)}\n")
    parts += [table(header, lines), f"**What it gets wrong.** {advice.wrong}\n"]
    examples = [line for row in rows for line in _examples(row)]
    if examples:
        parts.append("".join(examples))
    return "\n".join(parts)


def _examples(row: Json) -> Iterator[str]:
    for kind, said in (("wrong", "taken for the same"), ("missed", "missed")):
        if row[kind] is not None:
            a, b = (_quoted(text) for text in row[kind])
            yield f"- {row['collection']}, {said}: {a} · {b}\n"


def _quoted(text: str) -> str:
    """Text as code, so that no character of it is markup."""
    ticks = "``" if "`" in text else "`"
    inner = f" {text} " if "`" in text else text
    return f"{ticks}{inner.replace('|', '¦')}{ticks}"


def _rate(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _short(result: Result) -> str:
    """Settings that differ by threshold and clusters, beside the best row for a collection."""
    lines, sums = [], [0.0] * (len(SHORT) + 2)
    for name in SHORT_COLLECTIONS:
        own = max(
            result.row(collection=name, kind=advice.kind)["f1"]
            for advice in ADVICE
            if name in advice.collections
        )
        kinds = (DEFAULTS, *SHORT)
        rates = [*(result.row(collection=name, kind=kind)["f1"] for kind in kinds), own]
        sums = [total + rate for total, rate in zip(sums, rates, strict=True)]
        lines.append((name, *(f"{rate:.3f}" for rate in rates)))
    lines.append(("mean", *(f"{total / len(SHORT_COLLECTIONS):.3f}" for total in sums)))
    low, high = (result.row(collection="offers", kind=f"short {at}") for at in (0.3, 0.4))
    return (
        "If you know no more than that your texts are short, words weighed by tf-idf are a better "
        "start than the defaults. No threshold and no way to cluster is best for all:\n\n"
        + table(("F1", "defaults", *(f"`{o}`" for o in SHORT.values()), "best row above"), lines)
        + f"\nOn the offers, precision is {_rate(low['precision'])} at 0.3 and "
        f"{_rate(high['precision'])} at 0.4, recall {_rate(low['recall'])} and "
        f"{_rate(high['recall'])}. Only labels tell which threshold is yours.\n"
    )


def _former(result: Result) -> str:
    rows = [result.row(collection=name, kind=HARMFUL) for name in FORMER_COLLECTIONS]
    lines = [
        (
            row["collection"],
            f"{row['removed']:,} of {row['documents']:,}",
            f"{row['largest']:,}",
            _rate(row["precision"]),
            _rate(row["f1"]),
            _rate(result.row(collection=row["collection"], kind="titles")["f1"]),
        )
        for row in rows
    ]
    header = ("collection", "removed", "largest cluster", "precision", "F1", "F1 of the row above")
    return (
        f"For names, addresses and titles, this page once recommended `{FORMER}`. It was measured "
        "on one collection of persons, whose records have numbers that tell them apart. Among "
        "titles, many different ones share 0.4 of their pairs of letters, and connected components "
        "join whatever a chain of such pairs connects:\n\n" + table(header, lines)
    )


def _collections(result: Result) -> str:
    seen: dict[str, Json] = {}
    for row in result.rows:
        seen.setdefault(row["collection"], row)
    lines = [
        f"| `{name}` | {row['about']} | {row['documents']:,} | {row['true_pairs']:,} | "
        f"{row['truth']} |\n"
        for name, row in seen.items()
    ]
    head = "| name | documents | number | true pairs | truth |\n|---|---|---|---|---|\n"
    return (
        "Collections that are made follow rules that are written in "
        "`benchmarks/choosing_collections.py`. They show what a command does with such changes, "
        "not how often these occur.\n\n" + head + "".join(lines)
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.choosing_page", description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write")
    chosen = parser.parse_args(arguments)
    result = Result.load(choosing.BENCHMARK, chosen.results)
    chosen.page.write_text(page(result), encoding="utf-8")
    print(f"wrote {chosen.page}", file=sys.stderr)


if __name__ == "__main__":
    main()
