"""The page docs/start/choosing-settings.md, made from the stored results alone."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks import choosing, dedup_quality, tune
from benchmarks.markdown import table
from benchmarks.result import RESULTS, Json, Result

PAGE = Path(__file__).parents[1] / "docs" / "start" / "choosing-settings.md"
BENCHMARKS = (choosing.BENCHMARK, dedup_quality.BENCHMARK, tune.BENCHMARK)
HEAD = """\
# Choosing settings

This page recommends a command for common kinds of data, with measurements. For other data, run
`neardup tune` ([Tuning](../guides/tune.md)), which recommends settings from a sample of your
documents.
"""
KINDS = {
    "febrl": "5,000 generated persons with typing errors (FEBRL), all columns as one text",
    "tang_poems": "two editions of the Complete Tang Poems, short Chinese texts",
    "django_docs": "pages of the Django documentation in seven releases",
}


def page(results: Mapping[str, Result]) -> str:
    """The whole page in Markdown."""
    labelled = results[choosing.BENCHMARK]
    advice = "".join(f"| {' | '.join(row)} |\n" for row in _advice(results))
    parts = [
        HEAD,
        "## Recommended commands\n",
        f"| data | command | measured |\n|---|---|---|\n{advice}",
    ]
    parts.append(
        "`IN` is your input; add `-o OUT`. F1 is the harmonic mean of precision and recall at the "
        "best threshold tried, against labels that do not depend on the text. Records of persons "
        "have birthdays and numbers that distinguish them. Product titles have less, so start with "
        "a higher threshold there and check the weakest accepted pairs.\n"
    )
    parts += ["## Features and threshold\n", _lesson(labelled)]
    for name, what in KINDS.items():
        rows = [row for row in labelled.rows if row["collection"] == name]
        if rows:
            parts += [f"### {what[0].upper()}{what[1:]}\n", _grid(rows)]
    parts += ["## Search method\n", _search(results)]
    parts.append(
        "This page is generated from `benchmarks/results/` by `python -m "
        "benchmarks.choosing_page`; a test checks that they agree.\n"
    )
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _advice(results: Mapping[str, Result]) -> Iterator[tuple[str, str, str]]:
    labelled = results[choosing.BENCHMARK]
    for name, who in (
        ("febrl", "short product titles, names, addresses: a few words with typing errors"),
        ("tang_poems", "short texts in Chinese, Japanese or Thai"),
        ("django_docs", "pages or articles in several versions"),
    ):
        if any(row["collection"] == name for row in labelled.rows):
            best, others = _ranked(labelled, name)
            beside = ", ".join(f"`{row['features']}` {choosing.f1(row):.3f}" for row in others)
            yield (
                who,
                f"`neardup dedup IN --features {best['features']} --threshold {best['threshold']}`",
                f"{KINDS[name]}: precision {best['precision']:.3f}, recall {best['recall']:.3f}, "
                f"F1 {choosing.f1(best):.3f}; others at their best: {beside}",
            )
    quality, foreseen = results[dedup_quality.BENCHMARK], results[tune.BENCHMARK]
    terms = _truth(quality, "arxiv", 0.8)
    yield (
        "your own vectors: terms with weights",
        "`neardup dedup IN --features terms --similarity cosine --threshold 0.8`",
        f"all {terms['true_pairs']:,} pairs of {terms['documents']:,} abstracts in "
        f"{terms['seconds']:.1f} s, with a join on the terms",
    )
    alike = _truth(quality, "licenses", 0.8)
    yield (
        "texts with much boilerplate: notices, licences, mails with footers",
        "`neardup dedup IN`",
        f"{alike['documents']:,} licences have {alike['true_pairs']:,} pairs with a Jaccard index "
        f"of 0.8 or more, all found in {alike['seconds']:.1f} s; so many pairs form chains, and "
        "stars, the default, split chains",
    )
    bands = [row for row in foreseen.rows if row["ways"] == tune.BANDS and row["chosen"]]
    least = min(bands, key=lambda row: float(row["recall"]))
    yield (
        "fingerprints that you store and search repeatedly",
        "`neardup tune IN --candidates bands -o settings.toml`, then `dedup --config`",
        f"bands chosen on a sample reached the requested recall of {foreseen.conditions['recall']} "
        f"on {_reached(bands, foreseen)} of {len(bands)} collections (lowest: "
        f"{least['recall']:.3f}, {least['collection']})",
    )
    yield (
        "anything else",
        "`neardup tune IN`",
        "it describes your documents and recommends settings, with their expected recall and cost",
    )


def _ranked(result: Result, name: str) -> tuple[Json, list[Json]]:
    """The features with the best F1, each at its best threshold; and the others."""
    rows = [choosing.best(result, name, features) for features in choosing.FEATURES[name]]
    first, *others = sorted(rows, key=choosing.f1, reverse=True)
    return first, others


def _truth(result: Result, collection: str, threshold: float) -> Json:
    rows = (
        row
        for row in result.rows
        if (row["kind"], row["collection"]) == (dedup_quality.TRUTH, collection)
        and (row["threshold"], row["memory"]) == (threshold, dedup_quality.DEFAULT)
    )
    return next(rows)


def _reached(rows: Sequence[Json], result: Result) -> int:
    return sum(row["recall"] >= result.conditions["recall"] for row in rows)


def _lesson(result: Result) -> str:
    usual = result.row(collection="tang_poems", features="word:3", threshold=0.8)  # type: ignore[arg-type]
    best, _ = _ranked(result, "tang_poems")
    return (
        "One changed word changes three shingles of three words. That is negligible on a page of a "
        "thousand words, and most of a line of ten words. Use shorter features and a lower "
        "threshold for shorter texts: on the poems, the default (`word:3`, 0.8) finds "
        f"{usual['recall']:.3f} of the pairs, `{best['features']}` at {best['threshold']} finds "
        f"{best['recall']:.3f}. A lower threshold costs precision and time. Check the weakest "
        "accepted pairs (`result.weakest(10)`, or the report page) before you rely on it.\n"
    )


def _grid(rows: Sequence[Json]) -> str:
    """Precision and recall by features and threshold."""
    features = list(dict.fromkeys(row["features"] for row in rows))
    top = max(rows, key=choosing.f1)
    lines = []
    for threshold in choosing.THRESHOLDS:
        cells = [f"{threshold}"]
        for name in features:
            (row,) = (r for r in rows if (r["features"], r["threshold"]) == (name, threshold))
            told = "–" if row["precision"] is None else f"{row['precision']:.3f}"
            cell = f"{told} / {row['recall']:.3f}"
            cells.append(f"**{cell}**" if row is top else cell)
        lines.append(cells)
    header = ("threshold", *(f"`{name}`" for name in features))
    told = f"{rows[0]['documents']:,} documents, {rows[0]['true_pairs']:,} true pairs."
    return f"{told} Precision / recall; best F1 in bold.\n\n{table(header, lines)}"


def _search(results: Mapping[str, Result]) -> str:
    """When to leave the choice to `auto`, and when not."""
    rows = results[tune.BENCHMARK].rows
    alone = {
        (row["collection"], row["features"]): row["seconds"]
        for row in rows
        if row["plan"] == "exact"
    }
    times = [
        row["seconds"] / alone[row["collection"], row["features"]]
        for row in rows
        if row["plan"] != "exact" and row["ways"] == tune.EVERY_WAY
    ]
    least, most = min(times), max(times)
    lines = [
        (
            f"{row['collection']}, `{row['features']}`",
            f"`{row['plan']}`",
            f"{row['recall']:.3f}",
            f"{row['candidates']:,}",
            f"{row['seconds']:.1f}",
            f"{row['peak_megabytes']:,}",
        )
        for row in rows
        if row["ways"] == tune.EVERY_WAY
    ]
    return (
        "Keep the default, `--candidates auto`: the join on the features finds every pair, within "
        f"any `--memory`. On these collections bands, which miss some pairs, took {least:.1f} to "
        f"{most:.1f} times as long, on a machine that was also busy with other work. Use bands for "
        "fingerprints that you store anyway, and let `tune` choose them.\n\n"
        + table(("", "plan", "recall", "candidates", "s", "peak MB"), lines)
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.choosing_page", description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write")
    chosen = parser.parse_args(arguments)
    results = {name: Result.load(name, chosen.results) for name in BENCHMARKS}
    chosen.page.write_text(page(results), encoding="utf-8")
    print(f"wrote {chosen.page}", file=sys.stderr)


if __name__ == "__main__":
    main()
