"""The living index: filled and asked, beside peers, in memory and in a folder, up to 10^7."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from math import comb
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.markdown import provenance, table
from benchmarks.result import Json, Result, package_versions
from benchmarks.target import Target

BENCHMARK = "index"
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "index.png"
MEMORY, DURABLE = "neardup, memory", "neardup, durable"
FAISS, GAOYA, SIMHASH, DATASKETCH = "faiss multihash", "gaoya", "simhash", "datasketch"
BLOCKS, WIDER, BANDS = "blocks:3", "blocks:6", "bands:40x16"
MILLION, LARGEST = 10**6, 10**7


@dataclass(frozen=True)
class Run:
    """What is filled and asked: a tool, with so many fingerprints of so many bits."""

    tool: str
    n: int
    bits: int = 64
    k: int = 3
    plan: str = BLOCKS


CONTEST = [
    *(Run(tool, LARGEST) for tool in (MEMORY, DURABLE, FAISS, GAOYA)),
    *(Run(tool, MILLION) for tool in (MEMORY, DURABLE, FAISS, GAOYA, SIMHASH)),
    *(Run(tool, 10**5) for tool in (MEMORY, DURABLE, FAISS, GAOYA, SIMHASH, DATASKETCH)),
]
CURVE = [Run(tool, 10**power) for tool in (MEMORY, DURABLE) for power in (4, 5, 6, 7)]
PLANS = [
    Run(tool, MILLION, bits, k, plan)
    for tool in (MEMORY, DURABLE)
    for bits, k, plan in (
        (64, 3, BLOCKS),
        (64, 3, "blocks:3/6"),
        (64, 6, WIDER),
        (64, 6, "blocks:6/9"),
        (640, 39, BANDS),
    )
]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = measure.options(BENCHMARK, __doc__, rounds=3)
    parser.add_argument("--largest", type=int, default=LARGEST, help="leave out larger n (10^7)")
    chosen = parser.parse_args(arguments)
    runs = [run for run in dict.fromkeys([*CONTEST, *CURVE, *PLANS]) if run.n <= chosen.largest]
    rows = [best_of(run, chosen.rounds if run.n <= MILLION else 1) for run in runs]
    versions = package_versions(["neardup", "numpy", "faiss-cpu", "gaoya", "simhash", "datasketch"])
    result = Result.of(BENCHMARK, arguments, versions, {"rounds": chosen.rounds}, rows)
    result.save(chosen.out)
    draw(result, PICTURE)


def best_of(run: Run, rounds: int) -> Json:
    """The best of several runs, each in a process of its own."""
    done = [_run(run) for _ in range(rounds)]
    best: Json = {
        "tool": run.tool,
        "n": run.n,
        "bits": run.bits,
        "k": run.k,
        "plan": run.plan,
        "matches": done[0]["matches"],
    }
    for name in done[0]:
        if name != "matches":
            choose = max if name.endswith("_second") else min
            best[name] = round(choose(each[name] for each in done), 4)
    return best


def _run(run: Run) -> dict[str, Any]:
    print(run, file=sys.stderr)
    command = [sys.executable, "-m", "benchmarks.index_once", *map(str, astuple(run))]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return dict(json.loads(done.stdout))


def find(result: Result, run: Run) -> Json | None:
    """The row of a run, where it was measured."""
    wanted = dict(zip(("tool", "n", "bits", "k", "plan"), astuple(run), strict=True))
    rows = (row for row in result.rows if all(row[key] == wanted[key] for key in wanted))
    return next(rows, None)


def looked_at(n: int, bits: int, plan: str) -> float:
    """How many of n random fingerprints a query meets in the tables of a plan.

    >>> round(looked_at(10**6, 64, "blocks:3"))
    61
    """
    kind, numbers = plan.split(":")
    if kind == "bands":
        tables, width = map(int, numbers.split("x"))
        return n * tables * 2.0**-width
    k, _, blocks = numbers.partition("/")
    cut = int(blocks or int(k) + 1)
    return float(n * comb(cut, int(k)) * 2.0 ** (-bits * (cut - int(k)) / cut))


def section(result: Result) -> str:
    """The part of the page."""
    contest = [row for row in (find(result, run) for run in CONTEST) if row]
    return "\n".join(
        (
            "## The index, one thread\n",
            provenance(result),
            "Random fingerprints of 64 bits, k = 3; half of the queries are near a document. Bulk "
            "adds and queries use CPU time, single queries wall time, all from Python. Bytes are "
            "the growth of the process per document, ids included. gaoya gets documents of one "
            "token and hashes them; datasketch gets ready MinHash sketches (it has no SimHash). "
            "Both are queried for documents that are in the index.\n",
            table(
                ("", "n", "adds/s", "queries/s", "p50 µs", "p99 µs", "bytes"),
                [
                    (
                        f"**{row['tool']}**" if row["tool"] in (MEMORY, DURABLE) else row["tool"],
                        f"{row['n']:,}",
                        f"{row['adds_per_second']:,.0f}",
                        f"{row['queries_per_second']:,.0f}",
                        f"{row['p50_microseconds']:.1f}",
                        f"{row['p99_microseconds']:.1f}",
                        f"{row['bytes_each']:.0f}",
                    )
                    for row in contest
                ],
            ),
            "**Growth.** A query with k = 3 compares n · 4 / 2^16 fingerprints in the tables, so "
            "its time rises from about 10^5 documents on:\n",
            f"![Time of a query against the number of documents](images/{PICTURE.name})\n",
            table(
                ("", "n", "compared", "µs in bulk", "p50 µs", "open s", "bytes on disk"),
                [_curve_row(row) for row in (find(result, run) for run in CURVE) if row],
            ),
            "**Other plans**, 10^6 documents:\n",
            table(
                ("", "bits", "plan", "compared", "adds/s", "µs in bulk", "p50 µs"),
                [
                    (
                        row["tool"],
                        str(row["bits"]),
                        f"`{row['plan']}`",
                        f"{looked_at(row['n'], row['bits'], row['plan']):,.0f}",
                        f"{row['adds_per_second']:,.0f}",
                        f"{1e6 / row['queries_per_second']:.2f}",
                        f"{row['p50_microseconds']:.1f}",
                    )
                    for row in (find(result, run) for run in PLANS)
                    if row
                ],
            ),
        )
    )


def _curve_row(row: Json) -> tuple[str, ...]:
    opened, disk = row.get("open_seconds"), row.get("disk_bytes_each")
    return (
        row["tool"],
        f"{row['n']:,}",
        f"{looked_at(row['n'], row['bits'], row['plan']):,.1f}",
        f"{1e6 / row['queries_per_second']:.2f}",
        f"{row['p50_microseconds']:.1f}",
        "" if opened is None else f"{opened:.3f}",
        "" if disk is None else f"{disk:.0f}",
    )


def _bulk_microseconds(row: Json) -> float:
    return float(1e6 / row["queries_per_second"])


def _single_microseconds(row: Json) -> float:
    return float(row["p50_microseconds"])


def draw(result: Result, path: Path) -> None:
    """The time of a query against n, and a constant with so much for each fingerprint it meets."""
    import numpy as np
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.8), layout="constrained")
    for axes, label, microseconds in zip(
        figure.subplots(1, 2),
        ("µs a query, asked in bulk (CPU)", "µs a single query, p50"),
        (_bulk_microseconds, _single_microseconds),
        strict=True,
    ):
        for tool, marker in ((MEMORY, "o"), (DURABLE, "s")):
            runs = [row for row in (find(result, run) for run in CURVE if run.tool == tool) if row]
            n = np.array([row["n"] for row in runs])
            spent = np.array([microseconds(row) for row in runs])
            met = np.array([looked_at(row["n"], row["bits"], row["plan"]) for row in runs])
            axes.plot(n, spent, marker=marker, color="black", linestyle="none", label=tool)
            each, constant = np.polyfit(met, spent, 1, w=1 / spent)
            axes.plot(n, constant + each * met, color="0.45", linestyle=":")
        axes.set(xscale="log", yscale="log", xlabel="documents", ylabel=label)
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("{x:g}")
        axes.grid(True, which="major", color="0.9")
        axes.legend(frameon=False, title="dotted: fitted to what it meets")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=120)


def targets(result: Result) -> Iterator[Target]:
    """What the index set out to reach."""
    memory, durable = find(result, Run(MEMORY, LARGEST)), find(result, Run(DURABLE, LARGEST))
    yield from _judged(
        "Index in memory, 10^7",
        memory,
        (
            ("queries_per_second", "≥ 500,000 queries/s in bulk", 500_000, True),
            ("adds_per_second", "≥ 2,000,000 adds/s", 2_000_000, True),
            ("p50_microseconds", "single query p50 ≤ 5 µs", 5, False),
            ("p99_microseconds", "p99 ≤ 20 µs", 20, False),
            ("own_bytes_each", "≤ 64 bytes per document without ids", 64, False),
        ),
    )
    yield from _judged(
        "Index in a folder, 10^7",
        durable,
        (
            ("open_seconds", "open and query in < 0.1 s", 0.1, False),
            ("p50_microseconds", "single query p50 ≤ 100 µs", 100, False),
            ("p99_microseconds", "p99 ≤ 1,000 µs", 1000, False),
            ("adds_per_wall_second", "≥ 100,000 documents/s", 100_000, True),
            ("disk_bytes_each", "≤ 200 bytes per document", 200, False),
        ),
    )


def _judged(
    what: str, row: Json | None, wanted: Sequence[tuple[str, str, float, bool]]
) -> Iterator[Target]:
    for name, goal, limit, is_least in wanted:
        if row is None:
            yield Target(what, goal, "not measured", None)
            continue
        value = row[name]
        met = value >= limit if is_least else value <= limit
        shown = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
        yield Target(what, goal, shown, met)


if __name__ == "__main__":
    main()
