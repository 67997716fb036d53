"""The whole job, file in to files out: against peers, from 10^4 to 5 · 10^6, with giant clusters.

Generated collections, so that the truth is known. Needs 8 GB of memory, for the peers and to
generate, and 16 GB of disk for the files, which are deleted again. Reads /proc: Linux only.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks import dedup_corpora, measure
from benchmarks.dedup_corpora import Collection
from benchmarks.dedup_once import OURS, TEXT_DEDUP, TEXT_DEDUP_PYTHON, Once, once
from benchmarks.dedup_peers import PEERS
from benchmarks.markdown import provenance, table
from benchmarks.result import Json, Result, package_versions
from benchmarks.target import Target

BENCHMARK = "dedup"
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "dedup.png"
THRESHOLD = 0.7
# Longer runs than this are measured once, and noise matters less.
ONCE_SECONDS = 8.0
GIANT = "giant clusters"


@dataclass(frozen=True)
class Contest:
    """A collection that everyone deduplicates, and what is to be reached on it."""

    documents: int
    words: int
    peers: tuple[str, ...]
    slow_peers: tuple[str, ...]
    least_times: int
    least_recall: float
    most_megabytes: float | None = None

    @property
    def name(self) -> str:
        """As the rows and the page name it."""
        return f"{self.documents:,} documents of {self.words} words"


USUAL = Contest(58_000, 150, (*PEERS, TEXT_DEDUP), (), 3, 0.99)
MILLION = Contest(10**6, 60, ("rensa", "gaoya"), ("datasketch",), 4, 0.98, 2000)
GROWTH = [Contest(n, MILLION.words, (), (), 0, MILLION.least_recall) for n in (10**4, 10**5)]
LARGE = Contest(5 * 10**6, MILLION.words, (), (), 0, MILLION.least_recall)
# Of about 4 GB.
LARGE_FILE = Contest(5 * 10**6, 112, (), (), 0, MILLION.least_recall, 4000)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result and the picture."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = measure.options(BENCHMARK, __doc__, rounds=3)
    parser.add_argument("--all", action="store_true", help="slow peers on 10^6 documents too")
    chosen = parser.parse_args(arguments)
    measure.one_thread_each()
    rows: list[Json] = []
    with tempfile.TemporaryDirectory(prefix="neardup-benchmark-") as folder:
        path = Path(folder) / "documents.jsonl"
        for contest in (USUAL, *GROWTH, MILLION, LARGE, LARGE_FILE):
            collection = dedup_corpora.planted(contest.documents, contest.words, path)
            peers = [*contest.peers, *(contest.slow_peers if chosen.all else ())]
            tools = [OURS, *filter(_is_here, peers)]
            rows += _rows(contest.name, tools, collection, chosen.rounds)
        rows += _rows(GIANT, (OURS,), dedup_corpora.giant(path), chosen.rounds)
    versions = package_versions(["neardup", "numpy", "pyarrow", *PEERS])
    if _is_here(TEXT_DEDUP):
        versions[TEXT_DEDUP] = _text_dedup_version()
    result = Result.of(BENCHMARK, arguments, versions, {"rounds": chosen.rounds}, rows)
    result.save(chosen.out)
    draw(result, PICTURE)


def _is_here(tool: str) -> bool:
    """Whether a tool is installed; all but text-dedup are, with the extra `bench`."""
    if tool != TEXT_DEDUP or TEXT_DEDUP_PYTHON.exists():
        return True
    home = TEXT_DEDUP_PYTHON.parents[1]
    install = f"python -m venv {home} && {home}/bin/pip install {tool}"
    print(f"{tool} is left out; to install it: {install}", file=sys.stderr)
    return False


def _text_dedup_version() -> str:
    ask = f"from importlib import metadata; print(metadata.version({TEXT_DEDUP!r}))"
    command = [str(TEXT_DEDUP_PYTHON), "-c", ask]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.strip()


def _rows(name: str, tools: Sequence[str], collection: Collection, rounds: int) -> Iterator[Json]:
    """The best of several rounds for each tool; a round runs one after the other."""
    seen: dict[str, list[Once]] = {tool: [] for tool in tools}
    for _ in range(rounds):
        for tool, runs in seen.items():
            if not runs or runs[0].wall_seconds < ONCE_SECONDS:
                print(f"{name}: {tool}", file=sys.stderr)
                runs.append(once(tool, collection, THRESHOLD))
    for tool, runs in seen.items():
        yield {
            "task": name,
            "tool": tool,
            "documents": len(collection.words),
            "file_bytes": collection.path.stat().st_size,
            **asdict(runs[0]),
            "cpu_seconds": round(min(run.cpu_seconds for run in runs), 3),
            "wall_seconds": round(min(run.wall_seconds for run in runs), 3),
            "peak_megabytes": round(max(run.peak_megabytes for run in runs), 1),
        }


def section(result: Result) -> str:
    """The part of the page."""
    giant = result.row(task=GIANT)
    return "\n".join(
        (
            "## Deduplication, from file to files, one thread\n",
            provenance(result),
            "Each tool runs as a separate process, from start to end. Input is JSON lines; output "
            "is pairs and kept documents, and for neardup also the report page. A tenth of the "
            "documents are copies of others with 1-5 % of the words changed. The threshold is a "
            f"Jaccard index of {THRESHOLD} on runs of three words for every tool. Recall is the "
            "share of planted pairs above the threshold that are found, precision the share of "
            "reported pairs that are above it. Peers use MinHash sketches of 128 numbers and "
            "report the matches of their index; see `benchmarks/dedup_peers.py`. text-dedup "
            "reports kept documents but no pairs.\n",
            *(part for contest in (USUAL, MILLION) for part in _contest(result, contest)),
            f"![Time and memory against number of documents](images/{PICTURE.name})\n",
            f"The time of neardup grows as n^{slope(result):.2f} from 10^5 documents of "
            f"{MILLION.words} words.\n",
            _table(_growth(result), "documents"),
            _large_file(result),
            f"**Giant clusters**: {dedup_corpora.IDENTICAL:,} identical documents and "
            f"{dedup_corpora.ALIKE_AT_THE_TOP:,} that share their first {dedup_corpora.HEADER} of "
            f"{dedup_corpora.GIANT_WORDS} words take {giant['cpu_seconds']:.1f} CPU seconds; peak "
            f"memory {giant['peak_megabytes']:,.0f} MB. `clusters.parquet` has "
            f"{giant['in_clusters']:,} rows, `pairs.parquet` {giant['pairs']:,}.\n",
        )
    )


def _large_file(result: Result) -> str:
    row = result.row(task=LARGE_FILE.name)
    return (
        f"**A file of {row['file_bytes'] / 1e9:.1f} GB**: {LARGE_FILE.name} take "
        f"{row['cpu_seconds']:,.0f} CPU seconds; peak memory {row['peak_megabytes']:,.0f} MB, "
        f"recall {row['recall']:.4f}.\n"
    )


def _contest(result: Result, contest: Contest) -> Iterator[str]:
    rows = [row for row in result.rows if row["task"] == contest.name]
    yield f"### {contest.name}\n"
    yield _table(sorted(rows, key=lambda row: float(row["cpu_seconds"])), "tool")


def _table(rows: Sequence[Json], by: str) -> str:
    return table(
        ("", "CPU s", "wall s", "peak MB", "pairs", "recall", "precision"),
        [
            (
                f"{row[by]:,}" if by == "documents" else _bold(row[by]),
                f"{row['cpu_seconds']:.2f}",
                f"{row['wall_seconds']:.2f}",
                f"{row['peak_megabytes']:,.0f}",
                f"{row['pairs']:,}",
                *("" if row[key] is None else f"{row[key]:.4f}" for key in ("recall", "precision")),
            )
            for row in rows
        ],
    )


def _bold(tool: str) -> str:
    return f"**{tool}**" if tool == OURS else tool


def _growth(result: Result) -> list[Json]:
    names = [contest.name for contest in (*GROWTH, MILLION, LARGE)]
    found = (result.find(task=name, tool=OURS) for name in names)
    return [row for row in found if row is not None]


def slope(result: Result) -> float:
    """The exponent of n in our time from 10^5 documents on: before, starting up weighs more."""
    rows = [row for row in _growth(result) if row["documents"] >= 10**5]
    n, seconds = (np.log10([row[key] for row in rows]) for key in ("documents", "cpu_seconds"))
    return float(np.polyfit(n, seconds, 1)[0])


def draw(result: Result, path: Path) -> None:
    """Our time and memory against the number of documents, on logarithmic axes."""
    from matplotlib.figure import Figure

    rows = _growth(result)
    figure = Figure(figsize=(8, 3.8), layout="constrained")
    for axes, key, label in zip(
        figure.subplots(1, 2),
        ("cpu_seconds", "peak_megabytes"),
        ("CPU seconds, one thread", "peak of memory, MB"),
        strict=True,
    ):
        n = [row["documents"] for row in rows]
        axes.plot(n, [row[key] for row in rows], marker="o", color="black", label=OURS)
        if key == "cpu_seconds":
            last = rows[-1]
            line = [last[key] * documents / last["documents"] for documents in n]
            axes.plot(n, line, linestyle=":", color="0.45", label="linear")
            axes.set_title(f"slope {slope(result):.2f} from 10^5 on", fontsize="medium")
            axes.legend(frameon=False)
        axes.set(xscale="log", yscale="log", xlabel="documents of 60 words", ylabel=label)
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("")
        axes.grid(True, which="major", color="0.9")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=120)


def targets(result: Result) -> Iterator[Target]:
    """What was set out to reach, judged by the result."""
    for contest in (USUAL, MILLION, LARGE_FILE):
        ours = result.row(task=contest.name, tool=OURS)
        what = f"`neardup dedup`, {contest.name}"
        if contest.peers:
            yield _against_peers(result, contest, what)
        recall, precision = ours["recall"], ours["precision"]
        wanted = f"recall ≥ {contest.least_recall}"
        yield Target(what, wanted, f"{recall:.4f}", recall >= contest.least_recall)
        yield Target(what, "every reported pair true", f"{precision:.4f}", precision == 1)
        if contest.most_megabytes is not None:
            peak = ours["peak_megabytes"]
            wanted = f"≤ {contest.most_megabytes / 1000:.0f} GB"
            yield Target(what, wanted, f"{peak:,.0f} MB", peak <= contest.most_megabytes)
    yield _growth_target(result)
    giant = result.row(task=GIANT)
    rows = f"{giant['in_clusters']:,} + {giant['pairs']:,} rows"
    linear = (giant["in_clusters"], giant["pairs"]) == (
        dedup_corpora.IDENTICAL,
        dedup_corpora.IDENTICAL - 1,
    )
    yield Target("`neardup dedup`, giant clusters", "one row per document", rows, linear)
    took = giant["wall_seconds"]
    yield Target("`neardup dedup`, giant clusters", "seconds (< 30)", f"{took:.1f} s", took < 30)


def _growth_target(result: Result) -> Target:
    power = slope(result)
    what = "`neardup dedup`, growth to 5 · 10^6"
    return Target(what, "exponent ≤ 1.2 (close to linear)", f"{power:.2f}", power <= 1.2)


def _against_peers(result: Result, contest: Contest, what: str) -> Target:
    ours = result.row(task=contest.name, tool=OURS)
    peers = [row for row in result.rows if row["task"] == contest.name and row is not ours]
    wanted = f"≤ 1/{contest.least_times} of the fastest peer"
    if not peers:
        return Target(what, wanted, "not measured", None)
    fastest = min(peers, key=lambda row: float(row["cpu_seconds"]))
    times = fastest["cpu_seconds"] / ours["cpu_seconds"]
    measured = f"1/{times:.1f} of {fastest['tool']}"
    return Target(what, wanted, measured, times >= contest.least_times)


if __name__ == "__main__":
    main()
