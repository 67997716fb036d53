"""The page docs/choosing.md, made from the results and from nothing else."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks import choosing, dedup_quality, tune
from benchmarks.markdown import table
from benchmarks.result import RESULTS, Json, Result

PAGE = Path(__file__).parents[1] / "docs" / "choosing.md"
BENCHMARKS = (choosing.BENCHMARK, dedup_quality.BENCHMARK, tune.BENCHMARK)
HEAD = """\
# Choosing: from what you have to a command line

This page is generated: `python -m benchmarks.choosing_page` makes it from `benchmarks/results/`,
and a test fails where the two differ. Whoever has data of another kind asks `neardup tune`
([tune.md](tune.md)), which looks at it.
"""
KINDS = {
    "febrl": "5,000 made-up persons with typing errors (FEBRL), all columns as one text",
    "tang_poems": "two editions of the Complete Tang Poems, short Chinese texts",
    "django_docs": "pages of seven releases of a documentation",
}


def page(results: Mapping[str, Result]) -> str:
    """The whole page in Markdown."""
    labelled = results[choosing.BENCHMARK]
    advice = "".join(f"| {' | '.join(row)} |\n" for row in _advice(results))
    parts = [HEAD, "## What to type\n", f"| you have | type | because |\n|---|---|---|\n{advice}"]
    parts.append(
        "`IN` is your input and `-o OUT` goes without saying. F1 is the harmonic mean of precision "
        "and recall, at the best of the thresholds tried, against labels that no one made from the "
        "text. The persons have birthdays and numbers that tell them apart; product titles have "
        "less, so begin with a higher threshold there and look at the weakest accepted pairs.\n"
    )
    parts += ["## How much the threshold matters\n", _lesson(labelled)]
    for name, what in KINDS.items():
        rows = [row for row in labelled.rows if row["collection"] == name]
        if rows:
            parts += [f"### {what[0].upper()}{what[1:]}\n", _grid(rows)]
    parts += ["## Which way to search\n", _search(results)]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _advice(results: Mapping[str, Result]) -> Iterator[tuple[str, str, str]]:
    labelled = results[choosing.BENCHMARK]
    for name, who in (
        ("febrl", "short product titles, names, addresses: a few words, typing errors"),
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
        "vectors of your own: terms with weights",
        "`neardup dedup IN --features terms --similarity cosine --threshold 0.8`",
        f"all {terms['true_pairs']:,} pairs of {terms['documents']:,} abstracts in "
        f"{terms['seconds']:.1f} s, by a join on the terms",
    )
    alike = _truth(quality, "licenses", 0.8)
    yield (
        "boilerplate: notices, licences, mails with footers",
        "`neardup dedup IN --cluster star`",
        f"{alike['documents']:,} licences have {alike['true_pairs']:,} pairs of 0.8 or more, all "
        f"found in {alike['seconds']:.1f} s; so many pairs make chains, which stars cut",
    )
    bands = [row for row in foreseen.rows if row["ways"] == tune.BANDS and row["chosen"]]
    least = min(bands, key=lambda row: float(row["recall"]))
    yield (
        "fingerprints are kept anyway, and searched again and again",
        "`neardup tune IN --candidates bands -o settings.toml`, then `dedup --config`",
        f"bands chosen on a sample reached the wanted recall of {foreseen.conditions['recall']} on "
        f"{_reached(bands, foreseen)} of {len(bands)} collections (the least: "
        f"{least['recall']:.3f}, {least['collection']})",
    )
    yield (
        "no idea",
        "`neardup tune IN`",
        "it says what your documents are like, what to take, what it will find and cost",
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
        "One changed word changes three shingles of three words. On a page of a thousand words "
        "that is nothing, on a line of ten it is most of it. So the shorter the texts, the shorter "
        "the features and the lower the threshold: on the poems the default (`word:3`, 0.8) finds "
        f"{usual['recall']:.3f} of the pairs, `{best['features']}` at {best['threshold']} finds "
        f"{best['recall']:.3f}. A lower threshold costs precision and time: look at the weakest "
        "accepted pairs (`result.weakest(10)`, or the report page) before you believe it.\n"
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
        "Leave `--candidates` alone (`auto`): the join on the features finds every pair, within "
        f"any `--memory`. On these collections bands, which miss some, took {least:.1f} to "
        f"{most:.1f} times as long, on a machine that had other work too. Bands are for "
        "fingerprints that are there anyway; let `tune` choose them.\n\n"
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
