"""The page docs/benchmarks.md, made from the results and from nothing else."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType

from benchmarks import (
    containment,
    contamination,
    corpora,
    dedup,
    dedup_quality,
    distance,
    end_to_end,
    exact,
    explore,
    fingerprint,
    index,
    join,
    labels,
    passages,
    passes,
    serve_section,
    similar_index_section,
    spark_section,
    startup,
    strings,
    sweep,
    tune,
    weighted,
)
from benchmarks.markdown import provenance, table
from benchmarks.result import RESULTS, Json, Result
from benchmarks.targets import OURS, RATE_FIELD, targets

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
BENCHMARKS = (
    fingerprint.BENCHMARK,
    passes.BENCHMARK,
    weighted.BENCHMARK,
    strings.BENCHMARK,
    join.BENCHMARK,
    index.BENCHMARK,
    similar_index_section.BENCHMARK,
    dedup.BENCHMARK,
    dedup_quality.BENCHMARK,
    exact.BENCHMARK,
    sweep.BENCHMARK,
    tune.BENCHMARK,
    distance.BENCHMARK,
    end_to_end.BENCHMARK,
    startup.BENCHMARK,
    # These need wrk, Java, half an hour or labelled data: they are shown where they were measured.
    *(
        name
        for name in (
            serve_section.BENCHMARK,
            serve_section.SOAK,
            explore.BENCHMARK,
            containment.BENCHMARK,
            labels.BENCHMARK,
            spark_section.BENCHMARK,
            passages.BENCHMARK,
            contamination.BENCHMARK,
        )
        if (RESULTS / f"{name}.json").exists()
    ),
)
HEAD = """\
# Benchmarks

This page is generated: `python -m benchmarks.report` makes it from the files in
`benchmarks/results/`, and a test checks that they agree. `make bench` repeats all measurements.

A rate is megabytes (10⁶ bytes) of UTF-8 text per second. Every number is the best of several
rounds. A round runs all rows one after the other, so that noise affects them equally. Ratios carry
over from machine to machine better than seconds.
"""
VERDICTS = {True: "met", False: "**not met**", None: "not measured"}


def page(results: Mapping[str, Result]) -> str:
    """The whole page in Markdown."""
    sections = (
        HEAD,
        _targets(results),
        _fingerprint(results[fingerprint.BENCHMARK]),
        passes.section(results[passes.BENCHMARK]),
        weighted.section(results[weighted.BENCHMARK]),
        strings.section(results[strings.BENCHMARK]),
        join.section(results[join.BENCHMARK]),
        index.section(results[index.BENCHMARK]),
        *_similar_index(results),
        *_serve(results),
        *_explore(results),
        dedup.section(results[dedup.BENCHMARK]),
        dedup_quality.section(results[dedup_quality.BENCHMARK]),
        *_spark(results),
        exact.section(results[exact.BENCHMARK]),
        *_of(containment, results),
        sweep.section(results[sweep.BENCHMARK]),
        tune.section(results[tune.BENCHMARK]),
        *_of(labels, results),
        *_of(passages, results),
        *_of(contamination, results),
        _distance(results[distance.BENCHMARK]),
        _end_to_end(results[end_to_end.BENCHMARK]),
        _startup(results[startup.BENCHMARK]),
    )
    return "\n".join(section.rstrip("\n") + "\n" for section in sections)


def _similar_index(results: Mapping[str, Result]) -> Iterator[str]:
    if similar_index_section.BENCHMARK in results:
        yield similar_index_section.section(results[similar_index_section.BENCHMARK])


def _serve(results: Mapping[str, Result]) -> Iterator[str]:
    if serve_section.BENCHMARK in results:
        yield serve_section.section(results[serve_section.BENCHMARK])
    if serve_section.SOAK in results:
        yield serve_section.soak_section(results[serve_section.SOAK])


def _explore(results: Mapping[str, Result]) -> Iterator[str]:
    if explore.BENCHMARK in results:
        yield explore.section(results[explore.BENCHMARK])


def _spark(results: Mapping[str, Result]) -> Iterator[str]:
    if spark_section.BENCHMARK in results:
        yield spark_section.section(results[spark_section.BENCHMARK])


def _of(benchmark: ModuleType, results: Mapping[str, Result]) -> Iterator[str]:
    """The section of a benchmark, if it was run."""
    if benchmark.BENCHMARK in results:
        yield benchmark.section(results[benchmark.BENCHMARK])


def _targets(results: Mapping[str, Result]) -> str:
    rows = [
        (target.what, target.wanted, target.measured, VERDICTS[target.met])
        for target in targets(results)
    ]
    return f"## Targets\n\n{table(('what', 'wanted', 'measured', ''), rows)}"


def _fingerprint(result: Result) -> str:
    parts = ["## Text to fingerprints, one thread\n", provenance(result)]
    parts.append(
        "Rates use CPU time. neardup reads an Arrow array; peers get Python strings, created "
        "before the clock starts, for the first megabytes of the corpus. A word of Chinese is one "
        "character, so peers get runs of three characters where neardup uses `word:3`. simhash "
        "fails on source code: it cannot count a shingle more than 255 times. Rows with an "
        "instruction set are neardup's kernel with that set; the others use the best one of the "
        "machine.\n"
    )
    described = result.conditions["corpora"]
    rows = [
        (c["name"], c["source"], f"{c['documents']:,}", f"{c['megabytes']:.1f}") for c in described
    ]
    parts.append(table(("corpus", "source", "documents", "MB"), rows))
    for task in (fingerprint.WORDS, fingerprint.CHARACTERS):
        for corpus in corpora.NAMES:
            parts.append(f"### `{task}`, {corpus}\n")
            parts.append(_contest(result, corpus, task))
    parts += ["### Weights and widths\n", _widths(result)]
    parts += ["### How each package is used\n", _uses(result)]
    parts += ["### Where a peer is ahead\n", _defeats(result)]
    return "\n".join(parts)


def _contest(result: Result, corpus: str, task: str) -> str:
    ours = result.row(corpus=corpus, task=task, name=OURS)
    rows = [
        (
            f"**{row['name']}**" if row is ours else row["name"],
            f"{row[RATE_FIELD]:.1f}",
            "" if _is_ours(row) else f"{ours[RATE_FIELD] / row[RATE_FIELD]:.1f} ×",
            f"{row['megabytes']:.1f}",
            f"{row['cpu_seconds']:.3f}",
            f"{row['wall_seconds']:.3f}",
        )
        for row in _rows(result, corpus, task)
    ]
    return table(("", "MB/s", "neardup is", "MB measured", "CPU s", "wall s"), rows)


def _rows(result: Result, corpus: str, task: str) -> list[Json]:
    return [row for row in result.rows if (row["corpus"], row["task"]) == (corpus, task)]


def _is_ours(row: Json) -> bool:
    return bool(row["name"].startswith(OURS))


def _widths(result: Result) -> str:
    rows = []
    for task in fingerprint.OURS:
        cells = [f"`{task}`"]
        for corpus in corpora.NAMES:
            plain = result.row(corpus=corpus, task=fingerprint.WORDS, name=OURS)
            row = result.row(corpus=corpus, task=task, name=OURS)
            times = row["cpu_seconds"] / plain["cpu_seconds"]
            cells += [f"{row[RATE_FIELD]:.0f}", f"{times:.2f} ×"]
        rows.append(cells)
    header = ["neardup"]
    for corpus in corpora.NAMES:
        header += [f"{corpus} MB/s", "time"]
    return table(header, rows)


def _uses(result: Result) -> str:
    uses = dict.fromkeys(
        (row["task"].split("/")[0], row["name"], row["use"]) for row in result.rows
    )
    return "\n".join(f"- {name}, `{task}`: {use}" for task, name, use in uses) + "\n"


def _defeats(result: Result) -> str:
    found = []
    for corpus in corpora.NAMES:
        for task in (fingerprint.WORDS, fingerprint.CHARACTERS):
            ours = result.row(corpus=corpus, task=task, name=OURS)[RATE_FIELD]
            found += [
                f"- {corpus}, `{task}`: {row['name']} does {row[RATE_FIELD]:.1f} MB/s, "
                f"neardup {ours:.1f}"
                for row in _rows(result, corpus, task)
                if not _is_ours(row) and row[RATE_FIELD] > ours
            ]
    return "\n".join(found or ["Nowhere in this run."]) + "\n"


def _distance(result: Result) -> str:
    rows = [
        (
            f"`{row['task']}`",
            f"{row['pairs']:,}",
            f"{row['mean']:.2f}",
            f"{row['variance']:.2f}",
            str(row["smallest"]),
        )
        for row in result.rows
    ]
    (corpus,) = result.conditions["corpora"]
    return "\n".join(
        (
            "## Distance of unrelated documents\n",
            provenance(result),
            f"Hamming distance of random pairs of {corpus['source']} ({corpus['documents']:,} "
            "documents), without known near-duplicates. Fair coins would give a mean of 32 "
            "and a variance of 16.\n",
            table(("scheme", "pairs", "mean", "variance", "smallest"), rows),
        )
    )


def _end_to_end(result: Result) -> str:
    kernel = result.row(name=end_to_end.KERNEL)
    rows = [
        (
            "kernel, text in memory" if row is kernel else f"Parquet with {row['name']}",
            f"{row['megabytes']:,.0f}",
            f"{row['documents']:,}",
            f"{row['wall_seconds']:.2f}",
            f"{row['cpu_seconds']:.2f}",
            f"{row[RATE_FIELD]:.0f}",
            f"{row[RATE_FIELD] / kernel[RATE_FIELD]:.2f}",
            "" if row is kernel else f"{row['peak_megabytes']:.0f}",
        )
        for row in result.rows
    ]
    header = ("", "MB", "documents", "wall s", "CPU s", "MB/s", "of kernel", "peak MB")
    return "\n".join(
        (
            f"## From a Parquet file to stored fingerprints, {result.conditions['threads']} "
            "threads\n",
            provenance(result),
            "`neardup fingerprint` as a separate process, from start to end, with the file in the "
            "page cache. Rates use wall time; peak MB is the peak memory of the process.\n",
            table(header, rows),
        )
    )


def _startup(result: Result) -> str:
    rows = [
        (
            f"`{row['name']}`",
            f"{row['milliseconds']:.0f}",
            f"{row['ratio']:.1f}",
            f"{row['cpu_seconds']:.2f}",
        )
        for row in result.rows
    ]
    return "\n".join(
        (
            "## Startup\n",
            provenance(result),
            f"Wall time of a process, best of {result.conditions['rounds']} runs: what each adds "
            f"to `{startup.BARE}`, the ratio of the two, and the CPU seconds of the process.\n",
            table(("", "ms", "ratio", "CPU s"), rows),
        )
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report", description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write")
    chosen = parser.parse_args(arguments)
    results = {name: Result.load(name, chosen.results) for name in BENCHMARKS}
    chosen.page.write_text(page(results), encoding="utf-8")
    print(f"wrote {chosen.page}", file=sys.stderr)


if __name__ == "__main__":
    main()
