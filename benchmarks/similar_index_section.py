"""The part of the benchmarks page about the similarity index: tables, picture and targets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import similar_index_tools as tools
from benchmarks.markdown import provenance, table
from benchmarks.result import Json, Result
from benchmarks.similar_index_once import (
    AT_THRESHOLD,
    BANDS,
    EDITED_PAGE,
    EDITED_TEMPLATE,
    NEW_PAGE,
    TEMPLATE_PAGE,
    band_name,
)
from benchmarks.similar_index_pages import ORDINARY, TEMPLATES
from benchmarks.similar_index_runs import (
    BATCHES,
    BENCHMARK,
    CHECK,
    CORPORA,
    GROWTH,
    MILLION,
    RECALL,
    SPEED,
    THREADS,
    THRESHOLD,
    THRESHOLDS,
    UNSYNCED,
)
from benchmarks.target import Target

__all__ = ["BENCHMARK", "PICTURE", "draw", "section", "targets"]

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "similar-index.png"
LEAST_RECALL, TIMES_FASTER, MOST_BYTES, P99 = 0.99, 5, 1_200, 400
SAME_RECALL = 0.001


def rows_of(result: Result, part: str, **wanted: Any) -> list[Json]:
    """The rows of a part that hold these values."""
    rows = (row for row in result.rows if row["part"] == part)
    return [row for row in rows if wanted.items() <= row.items()]


def section(result: Result) -> str:
    """The part of the page."""
    parts = ["## The similarity index\n", provenance(result)]
    for said, part in (
        (_recall, RECALL),
        (_speed, SPEED),
        (_check, CHECK),
        (_growth, GROWTH),
    ):
        if rows_of(result, part):
            parts += said(result)
    absent = result.conditions["absent"]
    parts += [f"{tool} was left out: {why}.\n" for tool, why in absent.items()]
    return "\n".join(parts)


def _recall(result: Result) -> Iterator[str]:
    yield (
        "**Recall by similarity.** All documents of a collection are added, then each is queried "
        "for. The truth is every pair from `exact_pairs`, Jaccard on `word:3`; licences are the "
        "English ones of 20 words or more; generated edits are pages of about 300 words, each "
        "with a copy in which 0.3–5.8 % of the words are exchanged. `neardup, memory` is the "
        "default with this threshold, `neardup, complete` has `complete=True`. A peer is used "
        "with its own parameters for the threshold and 128 hashes, and once more, *for recall*, "
        "with bands that find 0.999 of the pairs at the threshold. datasketch and rensa return "
        "whatever shares a band, gaoya what it estimates above the threshold (for recall: "
        f"{tools.ALLOWANCE} less); precision is the share of the returned pairs that reach it. "
        "Peers get the texts without punctuation here, so that their words are the same.\n"
    )
    for threshold in THRESHOLDS:
        measured = rows_of(result, RECALL, threshold=threshold)
        if not measured:
            continue
        at = band_name(threshold, threshold + AT_THRESHOLD)
        bands = [band_name(*band) for band in BANDS if band[0] >= threshold]
        yield f"Threshold {threshold}:\n"
        lines: list[Sequence[str]] = []
        for corpus in CORPORA:
            rows = [row for row in measured if row["corpus"] == corpus]
            if not rows:
                continue
            counts = [f"{rows[0]['bands'][band]['pairs']:,}" for band in (at, *bands)]
            lines.append((f"*{corpus}, pairs*", *counts, "", ""))
            for row in rows:
                cells = [_share(row["bands"][band]["recall"]) for band in (at, *bands)]
                both = (_share(row["recall"]), _share(row["precision"]))
                lines.append((_bold(row["tool"]), *cells, *both))
        yield table(("", f"at it: {at}", *bands, "all", "precision"), lines)


def _speed(result: Result) -> Iterator[str]:
    rounds, large = result.conditions["rounds"], result.conditions["large_rounds"]
    yield (
        f"**Speed and size**, threshold {THRESHOLD}, pages of about 300 words (2 kB), one thread. "
        "From text to matches, tokenising and sketching included. Adds and queries in bulk use "
        "CPU time; single queries, new pages / pages with 1–3.5 % of the words exchanged, use "
        "wall time. Half of the pages in bulk are edited ones; recall is of these. Bytes per "
        "document are the growth of the process without mapped files. Only neardup keeps the "
        "features and verifies its matches by them. The time and memory of the "
        "Redis server count as well. Best of "
        f"{rounds} rounds, with 10^6 documents of {large}.\n"
    )
    lines: list[Sequence[str]] = []
    stopped = []
    for row in rows_of(result, SPEED):
        if "stopped_after" in row:
            stopped.append(
                f"{row['tool']} was stopped after {row['stopped_after']:g} seconds with "
                f"{row['documents']:,} of {row['n']:,} documents added."
            )
            continue
        lines.append(
            (
                _bold(row["tool"]),
                f"{row['n']:,}",
                f"{row['adds_per_second']:,.0f}",
                f"{row['queries_per_second']:,.0f}",
                f"{row['new_p50_microseconds']:.0f} / {row['edited_p50_microseconds']:.0f}",
                f"{row['new_p99_microseconds']:.0f} / {row['edited_p99_microseconds']:.0f}",
                f"{row['recall']:.4f}",
                f"{row['bytes_each']:,.0f}",
            )
        )
    yield table(
        ("", "n", "adds/s", "queries/s in bulk", "p50 µs", "p99 µs", "recall", "bytes"), lines
    )
    if stopped:
        yield "\n".join(stopped) + "\n"
    sized = [row for row in rows_of(result, SPEED) if row.get("parts")]
    if sized:
        yield "Bytes per document, by neardup's own count, with and without the features:\n"
        yield table(
            ("", "n", "with", "without", "on disk", "parts"),
            [
                (
                    row["tool"],
                    f"{row['n']:,}",
                    f"{_own_bytes(row):,.0f}",
                    f"{_own_bytes(row) - _feature_bytes(row):,.0f}",
                    f"{row['parts']['disk']:,.0f}" if "disk" in row["parts"] else "",
                    ", ".join(
                        f"{name} {size:,.0f}"
                        for name, size in row["parts"].items()
                        if name not in WHOLES
                    ),
                )
                for row in sized
            ],
        )


WHOLES = ("disk", "file", "total")


def _own_bytes(row: Json) -> float:
    return float(sum(size for name, size in row["parts"].items() if name not in WHOLES))


def _feature_bytes(row: Json) -> float:
    return float(sum(size for name, size in row["parts"].items() if name.startswith("feature")))


def _check(result: Result) -> Iterator[str]:
    rows = rows_of(result, CHECK)
    yield (
        f"**Checks** against a folder with {rows[0]['n']:,} pages; half of the checked pages are "
        "stored ones with edits. By the clock, on all cores. Where `sync` is not False, a call "
        "returns when its page is durable; one wait for this disk takes "
        f"{result.conditions['sync_microseconds']:,.0f} µs. The last two columns: the share of "
        "edited pages that was recognised, and of new pages that was called new.\n"
    )
    yield table(
        ("", "checks/s", "p50 µs", "p99 µs", "CPU µs", "edited: seen", "new: new"),
        [
            (
                row["mode"],
                f"{row['checks_per_second']:,.0f}",
                f"{row['p50_microseconds']:,.0f}" if "p50_microseconds" in row else "",
                f"{row['p99_microseconds']:,.0f}" if "p99_microseconds" in row else "",
                f"{row['cpu_microseconds']:,.0f}",
                f"{row['edited_seen']:.4f}",
                f"{row['new_new']:.4f}",
            )
            for row in rows
        ],
    )


def _growth(result: Result) -> Iterator[str]:
    yield (
        "**Growth.** Single queries, wall time, p50 / p99 in µs. In the second collection a fifth "
        "of the pages are one template: any two of these have a Jaccard index of 0.6, and a query "
        "for a new one matches none of them.\n"
    )
    yield f"![Time of a query against the number of documents](images/{PICTURE.name})\n"
    rows = rows_of(result, GROWTH)
    sizes = sorted({row["n"] for row in rows})
    kinds = dict.fromkeys((row["tool"], row["collection"], row["query"]) for row in rows)
    lines = []
    for tool, collection, query in kinds:
        by_size = {
            row["n"]: f"{row['p50_microseconds']:.0f} / {row['p99_microseconds']:.0f}"
            for row in rows_of(result, GROWTH, tool=tool, collection=collection, query=query)
        }
        lines.append((tool, collection, query, *(by_size.get(n, "") for n in sizes)))
    yield table(("", "collection", "query", *(f"{n:,}" for n in sizes)), lines)


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _bold(tool: str) -> str:
    return f"**{tool}**" if tool in tools.OURS else tool


def draw(result: Result, path: Path) -> None:
    """The time of a query against the number of documents, for both collections."""
    rows = rows_of(result, GROWTH)
    if not rows:
        return
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    styles = {
        NEW_PAGE: ("o", "black"),
        EDITED_PAGE: ("s", "0.5"),
        TEMPLATE_PAGE: ("^", "tab:red"),
        EDITED_TEMPLATE: ("v", "tab:orange"),
    }
    both = figure.subplots(1, 2, sharey=True)
    for axes, collection in zip(both, (ORDINARY, TEMPLATES), strict=True):
        for tool, line in ((tools.MEMORY, "-"), (tools.FOLDER, "--")):
            for query, (marker, color) in styles.items():
                of = {"tool": tool, "collection": collection, "query": query}
                points = rows_of(result, GROWTH, **of)
                if not points:
                    continue
                n = [row["n"] for row in points]
                shared: dict[str, Any] = {"marker": marker, "color": color}
                label = f"{query}, {tool.removeprefix('neardup, ')}"
                p50 = [row["p50_microseconds"] for row in points]
                axes.plot(n, p50, linestyle=line, label=label, **shared)
                p99 = [row["p99_microseconds"] for row in points]
                axes.plot(n, p99, linestyle="none", fillstyle="none", **shared)
        titles = {ORDINARY: "ordinary pages", TEMPLATES: "a fifth of the pages are one template"}
        axes.set(xscale="log", yscale="log", xlabel="documents", title=titles[collection])
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("{x:g}")
        axes.grid(True, which="major", color="0.9")
        axes.legend(frameon=False, fontsize="small")
    both[0].set_ylabel("µs a query: p50 (filled), p99 (hollow)")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def targets(result: Result) -> Iterator[Target]:
    """What the similarity index set out to reach."""
    yield from _recall_targets(result)
    yield from _speed_targets(result)
    yield from _check_targets(result)
    yield _template_target(result)


def _recall_targets(result: Result) -> Iterator[Target]:
    for threshold in THRESHOLDS:
        at = band_name(threshold, threshold + AT_THRESHOLD)
        what, wanted = f"Similarity index, threshold {threshold}", f"recall ≥ {LEAST_RECALL} at it"
        found = [
            (row["bands"][at]["recall"], row["corpus"])
            for row in rows_of(result, RECALL, tool=tools.MEMORY, threshold=threshold)
            if row["bands"][at]["recall"] is not None
        ]
        if not found:
            yield Target(what, wanted, "not measured", None)
            continue
        least, corpus = min(found)
        yield Target(what, wanted, f"{least:.4f} ({corpus})", least >= LEAST_RECALL)
    precise = [
        row["precision"]
        for row in rows_of(result, RECALL, tool=tools.MEMORY)
        if row["precision"] is not None
    ]
    yield _judged("Similarity index", "precision 1", min(precise, default=None), 1, True)


def _speed_targets(result: Result) -> Iterator[Target]:
    for tool, most in ((tools.MEMORY, 60), (tools.FOLDER, 100)):
        what = f"Similarity index, 10^6 pages, {tool.removeprefix('neardup, ')}"
        row = next(iter(rows_of(result, SPEED, tool=tool, n=MILLION)), {})
        for percentile, limit in (("p50", most), ("p99", P99)):
            names = [f"{kind}_{percentile}_microseconds" for kind in (NEW_PAGE, EDITED_PAGE)]
            slowest = max((row[name] for name in names if name in row), default=None)
            yield _judged(what, f"query {percentile} ≤ {limit} µs", slowest, limit, False)
        size = row.get("bytes_each") if tool == tools.MEMORY else row.get("parts", {}).get("disk")
        yield _judged(what, f"≤ {MOST_BYTES:,} bytes per document", size, MOST_BYTES, False)
    row = next(iter(rows_of(result, SPEED, tool=tools.MEMORY, n=MILLION)), {})
    what = "Similarity index, 10^6 pages, memory"
    rate = row.get("adds_per_second")
    yield _judged(what, "`add_many` ≥ 25,000/s a core", rate, 25_000, True)
    yield _peer_target(result)


def _peer_target(result: Result) -> Target:
    """Against the fastest peer whose recall is not better by more than a thousandth."""
    wanted = f"≥ {TIMES_FASTER} × the queries/s of the best peer at equal or better recall"
    for ours in reversed(rows_of(result, SPEED, tool=tools.MEMORY)):
        peers = [
            row
            for row in rows_of(result, SPEED, n=ours["n"])
            if row["tool"] in tools.PEERS and row.get("recall", 2) <= ours["recall"] + SAME_RECALL
        ]
        if peers:
            best = max(peers, key=lambda row: float(row["queries_per_second"]))
            times = ours["queries_per_second"] / best["queries_per_second"]
            shown = f"{times:.1f} × ({best['tool']}, {ours['n']:,} pages)"
            return Target("Similarity index", wanted, shown, times >= TIMES_FASTER)
    return Target("Similarity index", wanted, "not measured", None)


def _check_targets(result: Result) -> Iterator[Target]:
    for mode, least in ((THREADS, 3_000), (UNSYNCED, 6_000), (BATCHES, 20_000)):
        row = next(iter(rows_of(result, CHECK, mode=mode.name, n=MILLION)), {})
        rate = row.get("checks_per_second")
        what = f"`check`, 10^6 pages, {mode.name}"
        yield _judged(what, f"≥ {least:,}/s", rate, least, True)


def _template_target(result: Result) -> Target:
    """The largest collection: a query for a page of the template does not look at all of them."""
    rows = rows_of(result, GROWTH, collection=TEMPLATES, query=TEMPLATE_PAGE)
    most = max((row["n"] for row in rows), default=MILLION)
    slow = [row["p99_microseconds"] for row in rows if row["n"] == most]
    what = f"Similarity index, {most:,} pages, a fifth of one template"
    wanted = f"query for a template page p99 ≤ {P99} µs"
    return _judged(what, wanted, max(slow, default=None), P99, False)


def _judged(what: str, wanted: str, value: float | None, limit: float, is_least: bool) -> Target:
    if value is None:
        return Target(what, wanted, "not measured", None)
    met = value >= limit if is_least else value <= limit
    shown = f"{value:,.0f}" if value >= 100 else f"{value:.4g}"
    return Target(what, wanted, shown, met)
