"""All pairs of near fingerprints: against peers, with skew, on two threads, from 10^5 to 10^8."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import measure
from benchmarks.markdown import provenance, table
from benchmarks.result import Json, Result, package_versions
from benchmarks.target import Target

BENCHMARK = "join"
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "join.png"
OURS, NUMPY, PYBIND, FAISS = "neardup", "NumPy buckets", "simhash-pybind", "faiss multihash"
RANDOM = "random"
SKEWED = ("1 % identical", "5 % share a block", "all identical")
MILLION = 10**6
# Longer searches than this are measured once, and noise matters less.
ONCE_SECONDS = 8.0
LARGE_SECONDS = 20


@dataclass(frozen=True)
class Search:
    """What is searched, and by what."""

    tool: str
    n: int
    k: int
    kind: str = RANDOM
    threads: int = 1
    group: int = 0


CONTEST = [
    *(Search(OURS, 10**power, 3) for power in (5, 6, 7, 8)),
    *(Search(NUMPY, 10**power, 3) for power in (5, 6, 7)),
    *(Search(PYBIND, 10**power, 3) for power in (5, 6, 7)),
    *(Search(FAISS, 10**power, 3) for power in (5, 6)),
    *(Search(tool, MILLION, 6) for tool in (OURS, NUMPY)),
    *(Search(tool, 10**5, 10) for tool in (OURS, NUMPY)),
    Search(OURS, MILLION, 10),
]
SKEW = [Search(OURS, MILLION, 3, kind, 1, 1) for kind in (RANDOM, *SKEWED)]
THREADS = [Search(OURS, 10**7, 3, RANDOM, threads) for threads in (1, 2)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result and the picture."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = measure.options(BENCHMARK, __doc__, rounds=3)
    parser.add_argument("--largest", type=int, default=10**8, help="leave out larger n (10^8)")
    chosen = parser.parse_args(arguments)
    searches = list(dict.fromkeys([*CONTEST, *SKEW, *THREADS]))
    rows = [best_of(search, chosen.rounds) for search in searches if search.n <= chosen.largest]
    versions = package_versions(["neardup", "numpy", "faiss-cpu"])
    result = Result.of(BENCHMARK, arguments, versions, {"rounds": chosen.rounds}, rows)
    result.save(chosen.out)
    draw(result, PICTURE)


def best_of(search: Search, rounds: int) -> Json:
    """The best of several runs, each in a process of its own; a long one runs once."""
    runs = [_run(search)]
    while len(runs) < rounds and runs[0]["wall"] < ONCE_SECONDS:
        runs.append(_run(search))
    best = min(run["cpu"] for run in runs)
    return {
        "tool": search.tool,
        "n": search.n,
        "k": search.k,
        "kind": search.kind,
        "threads": search.threads,
        "group": search.group,
        "cpu_seconds": round(best, 4),
        "wall_seconds": round(min(run["wall"] for run in runs), 4),
        "pairs": runs[0]["pairs"],
        "bytes_each": round(max(run["rise_megabytes"] for run in runs) * 1e6 / search.n, 1),
    }


def _run(search: Search) -> dict[str, Any]:
    print(search, file=sys.stderr)
    command = [sys.executable, "-m", "benchmarks.join_once", *map(str, astuple(search))]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return dict(json.loads(done.stdout))


def find(result: Result, search: Search) -> Json | None:
    """The row of a search, where it was measured."""
    wanted = dict(zip(("tool", "n", "k", "kind", "threads", "group"), astuple(search), strict=True))
    rows = (row for row in result.rows if all(row[key] == wanted[key] for key in wanted))
    return next(rows, None)


def section(result: Result) -> str:
    """The part of the page."""
    contest = [row for row in (find(result, search) for search in CONTEST) if row]
    contest.sort(key=lambda row: (row["k"], row["n"], row["cpu_seconds"]))
    return "\n".join(
        (
            "## All pairs of near fingerprints, one thread\n",
            provenance(result),
            "Random fingerprints of 64 bits; one in a hundred has a partner that differs in up to "
            "k bits. CPU seconds cover the search, from fingerprints in memory to pairs. Bytes are "
            "the growth of the process per fingerprint, pairs included. simhash-pybind does not "
            "report identical fingerprints.\n",
            table(
                ("", "k", "n", "CPU s", "pairs", "bytes each"),
                [
                    (
                        f"**{row['tool']}**" if row["tool"] == OURS else row["tool"],
                        str(row["k"]),
                        f"{row['n']:,}",
                        f"{row['cpu_seconds']:.3f}",
                        f"{row['pairs']:,}",
                        f"{row['bytes_each']:.0f}",
                    )
                    for row in contest
                ],
            ),
            f"![Time against number of fingerprints](images/{PICTURE.name})\n",
            f"The time of neardup grows as n^{slope(result):.2f} from n = 10^5.\n",
            "**Skew**: 10^6 fingerprints, k = 3, identical ones grouped (`group=True`):\n",
            table(
                ("", "CPU s", "of random"),
                [
                    (row["kind"], f"{row['cpu_seconds']:.3f}", f"{ratio:.2f}")
                    for row, ratio in _skewed(result)
                ],
            ),
        )
    )


def _skewed(result: Result) -> Iterator[tuple[Json, float]]:
    usual = find(result, SKEW[0])
    for row in (find(result, search) for search in SKEW):
        if row and usual:
            yield row, row["cpu_seconds"] / usual["cpu_seconds"]


def slope(result: Result) -> float:
    """The exponent of n in our time for k = 3, by least squares on logarithms."""
    rows = [row for row in (find(result, search) for search in CONTEST[:4]) if row]
    sizes, seconds = (np.log10([row[key] for row in rows]) for key in ("n", "cpu_seconds"))
    return float(np.polyfit(sizes, seconds, 1)[0])


def draw(result: Result, path: Path) -> None:
    """Time against n, on logarithmic axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for tool, marker, line in (
        (OURS, "o", "-"),
        (NUMPY, "s", "--"),
        (PYBIND, "^", ":"),
        (FAISS, "D", "-."),
    ):
        rows = [row for row in result.rows if row["tool"] == tool and row["k"] == 3]
        rows = [row for row in rows if row["threads"] == 1 and not row["group"]]
        axes.plot(
            [row["n"] for row in rows],
            [row["cpu_seconds"] for row in rows],
            marker=marker,
            linestyle=line,
            color="black" if tool == OURS else "0.45",
            label=tool,
        )
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="fingerprints",
        ylabel="CPU seconds, one thread",
        title="All pairs within 3 of 64 bits",
    )
    axes.grid(True, which="major", color="0.9")
    axes.legend(frameon=False)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=120)


def targets(result: Result) -> Iterator[Target]:
    """What was set out to reach, judged by the result."""
    yield _ratio(result, MILLION, 3, (NUMPY,), 15)
    yield _ratio(result, 10**7, 3, (NUMPY, PYBIND), 10)
    yield _ratio(result, MILLION, 6, (NUMPY,), 10)
    large = find(result, Search(OURS, 10**8, 3))
    for n in (10**7, 10**8):
        row = find(result, Search(OURS, n, 3))
        size = row["bytes_each"] if row else None
        what = f"all pairs, k = 3, n = 10^{len(str(n)) - 1}"
        measured = "not measured" if size is None else f"{size:.0f} bytes"
        yield Target(what, "≤ 48 bytes each", measured, None if size is None else size <= 48)
    seconds = large["cpu_seconds"] if large else None
    yield Target(
        "all pairs, k = 3, n = 10^8",
        f"≤ {LARGE_SECONDS} CPU s",
        "not measured" if seconds is None else f"{seconds:.1f} s",
        None if seconds is None else seconds <= LARGE_SECONDS,
    )
    row = find(result, Search(OURS, MILLION, 10))
    if row:
        took = row["cpu_seconds"]
        yield Target(
            "all pairs, k = 10, n = 10^6", "seconds, not minutes", f"{took:.1f} s", took < 20
        )
    for row, ratio in list(_skewed(result))[1:]:
        yield Target(f"skew: {row['kind']}", "≤ 2 × random", f"{ratio:.2f} ×", ratio <= 2)
    one, two = (find(result, search) for search in THREADS)
    if one and two:
        times = one["wall_seconds"] / two["wall_seconds"]
        yield Target("two threads, n = 10^7", "≥ 1.6 × one", f"{times:.2f} ×", times >= 1.6)


def _ratio(result: Result, n: int, k: int, peers: Sequence[str], least: int) -> Target:
    """Ours against the faster of the peers."""
    ours = find(result, Search(OURS, n, k))
    theirs = [row for row in (find(result, Search(peer, n, k)) for peer in peers) if row]
    what = f"all pairs, k = {k}, n = 10^{len(str(n)) - 1}"
    wanted = f"≤ 1/{least} of {' and '.join(peers)}"
    if not ours or not theirs:
        return Target(what, wanted, "not measured", None)
    times = min(row["cpu_seconds"] for row in theirs) / ours["cpu_seconds"]
    return Target(what, wanted, f"1/{times:.1f}", times >= least)


if __name__ == "__main__":
    main()
