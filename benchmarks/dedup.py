"""The whole job, file in to files out: against peers, from 10^4 to 5 · 10^6, with giant clusters.

Generated collections, so that the truth is known, and real ones. Every run is stopped after ten
minutes or at 20 GB, which the peers need. The files take up to 16 GB of disk and are deleted again.
Reads /proc: Linux only.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks import dedup_corpora, measure
from benchmarks.dedup_contests import (
    ADVERSARIAL,
    CONTESTS,
    GIANT,
    GROWTH,
    GROWTH_WORDS,
    LARGE_FILE,
    MILLION,
    REAL,
    THRESHOLD,
    USUAL,
    Contest,
)
from benchmarks.dedup_corpora import Collection
from benchmarks.dedup_once import (
    BEFORE,
    BEFORE_FOLDER,
    LIMITS,
    MOST_JUDGED,
    OURS,
    OWN,
    TEXT_DEDUP,
    TEXT_DEDUP_PYTHON,
    TWO_THREADS,
    Once,
    once,
)
from benchmarks.dedup_peers import KEPT_ONLY, PACKAGES
from benchmarks.markdown import machine_text, provenance, table
from benchmarks.result import Json, Result, commit, machine, package_versions, today
from benchmarks.target import Target

BENCHMARK = "dedup"
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "dedup.png"
# Longer runs than this are measured once, and noise matters less.
ONCE_SECONDS = 8.0
# By so much a run may exceed what it took before.
NOISE = 0.05
COLUMNS = (
    ("CPU s", "cpu_seconds", "{:,.2f}"),
    ("wall s", "wall_seconds", "{:,.2f}"),
    ("peak MB", "peak_megabytes", "{:,.0f}"),
    ("s after features", "after_features_seconds", "{:,.2f}"),
    ("removed", "removed", "{:,}"),
    ("kept", "kept", "{:,}"),
    ("pairs", "pairs", "{:,}"),
    ("recall", "recall", "{:.4f}"),
    ("precision", "precision", "{:.4f}"),
)

Verdict = tuple[str, bool | None]
Judge = Callable[[Json], Verdict]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result and the picture."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = measure.options(BENCHMARK, __doc__, rounds=3)
    parser.add_argument("--all", action="store_true", help="slow peers on 10^6 documents too")
    parser.add_argument(
        "--only",
        action="append",
        choices=[contest.key for contest in CONTESTS],
        metavar="NAME",
        help="measure only this contest, and keep the stored rows of the others; repeatable: "
        "%(choices)s",
    )
    parser.add_argument(
        "--tool",
        action="append",
        metavar="NAME",
        help="with --only: run only this tool, and keep the stored rows of the others; repeatable",
    )
    chosen = parser.parse_args(arguments)
    if chosen.tool and not chosen.only:
        parser.error("--tool needs --only, which keeps the rows of the other tools")
    measure.one_thread_each()
    versions = package_versions(["neardup", "numpy", "pyarrow", *PACKAGES])
    if _is_here(TEXT_DEDUP):
        versions[TEXT_DEDUP] = _text_dedup_version()
    result = Result.of(
        BENCHMARK,
        # Of a contest alone too, the page says how to measure them all.
        ["--rounds", str(chosen.rounds), *(["--all"] if chosen.all else [])],
        versions,
        {"rounds": chosen.rounds},
        [],
    )
    contests = [one for one in CONTESTS if not chosen.only or one.key in chosen.only]
    if chosen.only:
        stored = Result.load(BENCHMARK, chosen.out)
        if not chosen.tool or stored.machine != result.machine:
            # All rows of a contest are of the same machine and, without --tool, of the same run.
            again = {contest.name for contest in contests}
            stored = replace(stored, rows=[r for r in stored.rows if r["task"] not in again])
        result = _with_stored(result, stored)
    with tempfile.TemporaryDirectory(prefix="neardup-benchmark-") as folder:
        for contest in contests:
            collection = contest.write(Path(folder) / "documents.jsonl")
            if collection is None:
                continue
            peers = [*contest.peers, *(contest.slow_peers if chosen.all else ())]
            tools = [OURS, *filter(_is_here, peers)]
            if chosen.tool:
                tools = [tool for tool in tools if tool in chosen.tool]
            rows = [*_rows(contest, tools, collection, chosen.rounds)]
            result = replace(result, rows=merged(result.rows, rows))
            result.save(chosen.out)
    if any(contest in GROWTH for contest in contests):
        draw(result, PICTURE)


def _with_stored(result: Result, stored: Result) -> Result:
    """A result of today with the rows of the stored one, of the same versions of peers."""
    differing = [
        f"{name} {old} instead of {result.versions[name]}"
        for name, old in stored.versions.items()
        if name != OURS and result.versions.get(name, old) != old
    ]
    if differing:
        raise SystemExit(
            f"the stored result was measured with {', '.join(differing)}, so that new rows cannot "
            "be compared with its others: measure all contests, without --only"
        )
    return replace(result, rows=stored.rows, versions={**stored.versions, **result.versions})


def merged(stored: Sequence[Json], measured: Sequence[Json]) -> list[Json]:
    """The rows of every contest and tool, the measured ones in place of the stored ones."""
    rows = {(row["task"], row["tool"]): row for row in (*stored, *measured)}
    order = [contest.name for contest in CONTESTS]
    known = [row for row in rows.values() if row["task"] in order]
    return sorted(known, key=lambda row: order.index(row["task"]))


def _is_here(tool: str) -> bool:
    """Whether a tool is installed; with the extra `bench`, all but these two are."""
    if tool == BEFORE:
        return BEFORE_FOLDER is not None
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


def _rows(
    contest: Contest, tools: Sequence[str], collection: Collection, rounds: int
) -> Iterator[Json]:
    """The best of several rounds for each tool; a round runs one after the other."""
    seen: dict[str, list[Once]] = {tool: [] for tool in tools}
    for _ in range(rounds):
        for tool, runs in seen.items():
            if not runs or runs[0].wall_seconds < ONCE_SECONDS:
                print(f"{contest.name}: {tool}", file=sys.stderr)
                runs.append(once(tool, collection, contest.threshold))
    for tool, runs in seen.items():
        best = min(runs, key=lambda run: run.cpu_seconds)
        yield {
            "task": contest.name,
            "tool": tool,
            "about": collection.about,
            "documents": collection.documents,
            "file_bytes": collection.path.stat().st_size,
            **asdict(best),
            "cpu_seconds": round(best.cpu_seconds, 3),
            "wall_seconds": round(min(run.wall_seconds for run in runs), 3),
            "peak_megabytes": round(max(run.peak_megabytes for run in runs), 1),
            "date": today(),
            "commit": commit(),
            "machine": machine_text(machine()),
        }


def section(result: Result) -> str:
    """The part of the page."""
    return "\n".join(
        (
            "## Deduplication, from file to files, one thread\n",
            provenance(result),
            "Each tool runs as a separate process, from start to end. Input is JSON lines, the "
            "same file for every tool; output is pairs and kept documents, and for neardup also "
            f"the report page. The threshold is a Jaccard index of {THRESHOLD} on runs of three "
            "words for every tool, unless another is given. Peers use MinHash sketches of 128 "
            "numbers and report the matches of their index; see `benchmarks/dedup_peers.py`. A "
            f"peer with *{KEPT_ONLY.removeprefix(', ')}* asks an index of the documents kept so "
            "far, which needs no list of all pairs; neardup does so too, but verifies each match. "
            "text-dedup reports kept documents but no pairs.\n",
            f"Every run is limited to {LIMITS.time} and {LIMITS.memory}. One that reaches a limit "
            "is stopped; its row has the numbers of that moment.\n",
            "A planted pair is found if the tool removes one of its two documents. Recall is the "
            "share of planted pairs above the threshold that are found. Precision is the share of "
            f"reported pairs that are above it, of at most {MOST_JUDGED:,} drawn at random. On "
            "real collections neither is known, and tools differ in what they take for a word.\n",
            *(part for contest in (USUAL, MILLION) for part in _contest(result, contest)),
            *_growth_part(result),
            *_contest(result, LARGE_FILE),
            *(part for contest in (*REAL, *ADVERSARIAL) for part in _contest(result, contest)),
        )
    )


def _growth_part(result: Result) -> Iterator[str]:
    rows = _growth(result)
    if len(rows) < len(GROWTH):
        return
    yield f"![Time and memory against number of documents](images/{PICTURE.name})\n"
    yield (
        f"The time of neardup grows as n^{slope(result):.2f} from 10^5 documents of "
        f"{GROWTH_WORDS} words.\n"
    )
    yield _table(rows, [f"{row['documents']:,}" for row in rows])


def _contest(result: Result, contest: Contest) -> Iterator[str]:
    rows = _of(result, contest)
    if not rows:
        return
    finished_first = sorted(rows, key=lambda row: (bool(row["stopped_at"]), row["cpu_seconds"]))
    first = rows[0]
    size = f"{first['documents']:,} documents, {first['file_bytes'] / 1e6:,.0f} MB."
    yield f"### {contest.name[0].upper()}{contest.name[1:]}\n"
    yield f"{first['about']} {size} {_measured(rows)}\n"
    yield _table(finished_first, [_label(row) for row in finished_first])


def _of(result: Result, contest: Contest) -> list[Json]:
    return [row for row in result.rows if row["task"] == contest.name]


def _measured(rows: Sequence[Json]) -> str:
    """When the rows were measured, at which commit and where."""
    times = dict.fromkeys((row["date"], row["commit"], row.get("machine")) for row in rows)
    return f"Measured {' and '.join(map(_time_and_place, times))}."


def _time_and_place(measured: tuple[str, str | None, str | None]) -> str:
    date, commit, machine = measured
    at = "" if commit is None else f" at `{commit}`"
    return f"{date}{at}" if machine is None else f"{date}{at} on {machine}"


def _label(row: Json) -> str:
    tool = f"**{row['tool']}**" if row["tool"] == OURS else row["tool"]
    return tool if row["stopped_at"] is None else f"{tool}: stopped at {row['stopped_at']}"


def _table(rows: Sequence[Json], labels: Sequence[str]) -> str:
    """A row of numbers for each label; a column that no row has a number for is left out."""
    rows = [{**row, "kept": _kept(row)} for row in rows]
    columns = [column for column in COLUMNS if any(row[column[1]] is not None for row in rows)]
    return table(
        ("", *(title for title, _, _ in columns)),
        [
            (
                label,
                *("" if row[key] is None else form.format(row[key]) for _, key, form in columns),
            )
            for label, row in zip(labels, rows, strict=True)
        ],
    )


def _kept(row: Json) -> int | None:
    return None if row["removed"] is None else row["documents"] - row["removed"]


def _growth(result: Result) -> list[Json]:
    found = (result.find(task=contest.name, tool=OURS) for contest in GROWTH)
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
    for contest in (USUAL, MILLION, LARGE_FILE, *REAL, *ADVERSARIAL):
        yield from _contest_targets(result, contest)
    yield _growth_target(result)


def _contest_targets(result: Result, contest: Contest) -> Iterator[Target]:
    what = f"`neardup dedup`, {contest.name}"
    ours = result.find(task=contest.name, tool=OURS)
    for wanted, judge in _goals(result, contest):
        if ours is None:
            yield Target(what, wanted, "not measured", None)
        elif ours["stopped_at"] is not None:
            yield Target(what, wanted, f"stopped at {ours['stopped_at']}", False)
        else:
            yield Target(what, wanted, *judge(ours))


def _goals(result: Result, contest: Contest) -> Iterator[tuple[str, Judge]]:
    """What is wanted in words, and how our row is judged by it."""
    goal = contest.goal
    if goal.times is not None:
        wanted = f"≤ 1/{goal.times} of {goal.than or 'the fastest peer'}"
        yield wanted, lambda ours: _against_peers(result, contest, ours)
    if goal.gain is not None:
        wanted = f"with two threads, 1/{goal.gain} of the wall time"
        yield wanted, lambda ours: _gain(result, contest, ours)
    if goal.recall is not None:
        least = goal.recall
        yield f"recall ≥ {least}", lambda ours: (f"{ours['recall']:.4f}", ours["recall"] >= least)
    if contest not in REAL:
        yield "every reported pair true", _precise
    if goal.removed is not None:
        yield (
            f"{goal.removed:,} removed",
            lambda ours: (
                f"{ours['removed']:,}",
                ours["removed"] == goal.removed,
            ),
        )
    for key, most, form in (
        ("cpu_seconds", goal.cpu_seconds, "{:.4g} CPU s"),
        ("after_features_seconds", goal.after_features_seconds, "{:.3g} s after features"),
        ("peak_megabytes", goal.megabytes, "{:,.0f} MB"),
    ):
        if most is not None:
            yield f"≤ {form.format(most)}", partial(_at_most, key, most, form)
    if goal.as_before:
        wanted = f"CPU time and memory as before (+ {100 * NOISE:.0f} %)"
        yield wanted, lambda ours: _as_before(result, contest, ours)
    if contest is GIANT:
        yield "one row per document", _linear


def _gain(result: Result, contest: Contest, ours: Json) -> Verdict:
    two = next((row for row in _of(result, contest) if row["tool"] == TWO_THREADS), None)
    if two is None:
        return "not measured", None
    times = ours["wall_seconds"] / two["wall_seconds"]
    return f"1/{times:.2f}", times >= (contest.goal.gain or 0)


def _precise(ours: Json) -> Verdict:
    precision = ours["precision"]
    return ("none reported", True) if precision is None else (f"{precision:.4f}", precision == 1)


def _at_most(key: str, most: float, form: str, ours: Json) -> Verdict:
    return form.format(ours[key]), ours[key] <= most


def _as_before(result: Result, contest: Contest, ours: Json) -> Verdict:
    before = next((row for row in _of(result, contest) if row["tool"] == BEFORE), None)
    if before is None:
        return "not measured", None
    times = [ours[key] / before[key] for key in ("cpu_seconds", "peak_megabytes")]
    return f"{times[0]:.2f} × the time, {times[1]:.2f} × the memory", max(times) <= 1 + NOISE


def _linear(ours: Json) -> Verdict:
    identical = dedup_corpora.IDENTICAL
    met = (ours["in_clusters"], ours["pairs"]) == (identical, identical - 1)
    return f"{ours['in_clusters']:,} + {ours['pairs']:,} rows", met


def _against_peers(result: Result, contest: Contest, ours: Json) -> Verdict:
    """Against the fastest of the peers that are meant and were not stopped."""
    peers = [
        row
        for row in _of(result, contest)
        if row["tool"] not in OWN
        and row["tool"].startswith(contest.goal.than or "")
        and row["stopped_at"] is None
    ]
    if not peers:
        return "no peer was measured to its end", None
    fastest = min(peers, key=lambda row: float(row["cpu_seconds"]))
    times = fastest["cpu_seconds"] / ours["cpu_seconds"]
    return f"1/{times:.1f} of {fastest['tool']}", times >= (contest.goal.times or 0)


def _growth_target(result: Result) -> Target:
    what, wanted = "`neardup dedup`, growth to 5 · 10^6", "exponent ≤ 1.2 (close to linear)"
    if len(_growth(result)) < len(GROWTH):
        return Target(what, wanted, "not measured", None)
    power = slope(result)
    return Target(what, wanted, f"{power:.2f}", power <= 1.2)


if __name__ == "__main__":
    main()
