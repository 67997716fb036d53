"""The similarity index beside peers: recall, speed, checks, growth, several processes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import IO, Any

import numpy as np

from benchmarks import measure, similar_index_tools as tools
from benchmarks.result import RESULTS, Json, Result, package_versions, today
from benchmarks.similar_index_once import EDITS
from benchmarks.similar_index_pages import ORDINARY, TEMPLATES
from benchmarks.similar_index_runs import (
    BENCHMARK,
    CHECK,
    CORPORA,
    FULL,
    GROWTH,
    MILLION,
    MODES,
    PARTS,
    RECALL,
    RECALL_TOOLS,
    SMALL,
    SPEED,
    SPEED_TOOLS,
    THRESHOLD,
    Mode,
    Scale,
)
from benchmarks.similar_index_section import PICTURE, draw

PEER_PACKAGES = ("datasketch", "gaoya", "rensa", "redis", "xxhash")
REPOSITORY = Path(__file__).parents[1]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    chosen = _options().parse_args(arguments)
    scale = SMALL if chosen.small else FULL
    measured: dict[str, Callable[[], Iterator[Json]]] = {
        RECALL: lambda: _recall(scale),
        SPEED: lambda: _speed(scale, chosen),
        CHECK: lambda: _check(scale, chosen),
        GROWTH: lambda: _growth(scale, chosen),
    }
    rows, dates = _kept(chosen)
    for part in chosen.parts:
        rows += [{"part": part, **row} for row in measured[part]()]
        dates[part] = today()
    conditions = {
        "rounds": chosen.rounds,
        "large_rounds": chosen.large_rounds,
        "most_seconds": chosen.limit,
        "sync_microseconds": _sync_microseconds(chosen.scratch),
        "dates": dates,
        "absent": {tool: why for tool in tools.PEERS if (why := tools.absent(tool))},
    }
    result = Result.of(BENCHMARK, arguments, _versions(), conditions, rows)
    result.save(chosen.out)
    # A trial run leaves the picture of the page alone.
    draw(result, PICTURE if chosen.out == RESULTS else chosen.out / PICTURE.name)


def _options() -> Any:
    parser = measure.options(BENCHMARK, __doc__, rounds=3)
    parser.add_argument(
        "--large-rounds", type=int, default=1, help="rounds with 10^6 documents or more (1)"
    )
    parser.add_argument(
        "--largest", type=int, default=MILLION, help="leave out larger n (10^6; at most 10^7)"
    )
    parser.add_argument(
        "--limit", type=float, default=600, help="seconds for a peer to be filled (600)"
    )
    parser.add_argument(
        "--parts",
        nargs="+",
        choices=PARTS,
        default=PARTS,
        help="measure these only, and keep what the last result says of the others",
    )
    parser.add_argument("--scratch", type=Path, help="folder for indexes (the system's)")
    parser.add_argument("--small", action="store_true", help="2,000 documents, to try it out")
    return parser


def _kept(chosen: Any) -> tuple[list[Json], dict[str, str]]:
    """The rows of the parts that are not measured now, and when they were."""
    if not (chosen.out / f"{BENCHMARK}.json").exists():
        return [], {}
    before = Result.load(BENCHMARK, chosen.out)
    rows = [row for row in before.rows if row["part"] not in chosen.parts]
    dates = before.conditions["dates"]
    return rows, {part: dates[part] for part in dates if part not in chosen.parts}


def _versions() -> dict[str, str]:
    """The versions of neardup and of the peers that are installed."""
    found = package_versions(["neardup", "numpy", "pyarrow"])
    for package in PEER_PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            print(f"{package} is not installed: it is left out", file=sys.stderr)
    return found


def _recall(scale: Scale) -> Iterator[Json]:
    present = [tool for tool in RECALL_TOOLS if tools.absent(tool) is None]
    for corpus in CORPORA:
        most = scale.edits if corpus == EDITS else scale.texts
        task = {"corpus": corpus, "most": most, "thresholds": scale.thresholds, "tools": present}
        yield from _child("recall", task)


def _speed(scale: Scale, chosen: Any) -> Iterator[Json]:
    for n in (size for size in scale.speed if size <= chosen.largest):
        for tool in SPEED_TOOLS:
            if why := tools.absent(tool):
                print(f"{tool} is left out: {why}", file=sys.stderr)
                continue
            task = {
                "tool": tool,
                "n": n,
                "threshold": THRESHOLD,
                "single": scale.few if tool in tools.PEERS else scale.many,
                "most_seconds": chosen.limit if tool in tools.PEERS else float("1e9"),
                "scratch": _text(chosen.scratch),
            }
            done = [_child("speed", task) for _ in range(_rounds(n, chosen))]
            yield {"tool": tool, "n": n, **best_of(done)}


def _growth(scale: Scale, chosen: Any) -> Iterator[Json]:
    sizes = [size for size in scale.growth if size <= chosen.largest]
    for tool in (tools.MEMORY, tools.FOLDER):
        for collection in (ORDINARY, TEMPLATES):
            task = {
                "tool": tool,
                "collection": collection,
                "sizes": sizes,
                "threshold": THRESHOLD,
                "single": scale.few,
                "scratch": _text(chosen.scratch),
            }
            rounds = [_child("growth", task) for _ in range(_rounds(sizes[-1], chosen))]
            for same in zip(*rounds, strict=True):
                yield {"tool": tool, "collection": collection, **best_of(same)}


def _check(scale: Scale, chosen: Any) -> Iterator[Json]:
    folder = tempfile.mkdtemp(prefix="neardup-bench-", dir=chosen.scratch)
    try:
        common = {
            "folder": f"{folder}/pages.index",
            "n": scale.stored,
            "threshold": THRESHOLD,
            "checks": scale.checks,
            "most_seconds": 15,
        }
        _child("fill", common)
        turn = 0
        for mode in MODES:
            done = []
            for _ in range(1 if chosen.small else chosen.rounds):
                done.append(_checked(mode, common, turn))
                turn += mode.processes
            yield {"mode": mode.name, "n": scale.stored, **best_of(done)}
    finally:
        shutil.rmtree(folder)


def _checked(mode: Mode, common: Json, turn: int) -> Json:
    """One round; several processes begin together, and share the pages."""
    several = mode.processes > 1
    task = {
        **common,
        "task": "check",
        "sync": mode.sync,
        "threads": mode.threads,
        "batch": mode.batch,
        "wait": several,
        "checks": common["checks"] // mode.processes,
    }
    if not several:
        return _without_clock(_child("check", {**task, "turn": turn}))
    callers = [_start({**task, "turn": turn + number}) for number in range(mode.processes)]
    try:
        for caller in callers:
            if _given(caller.stdout).readline() != "ready\n":
                raise SystemExit("a process that calls check ended before it began")
        for caller in callers:
            _given(caller.stdin).write("\n")
            _given(caller.stdin).flush()
        done = [json.loads(caller.communicate()[0]) for caller in callers]
    except BaseException:
        for caller in callers:
            caller.kill()
        raise
    checks = sum(each["checks"] for each in done)
    seconds = max(each["ended"] for each in done) - min(each["started"] for each in done)
    mean = {name: float(np.mean([each[name] for each in done])) for name in done[0]}
    slowest = max(each["p99_microseconds"] for each in done)
    total = {"checks": checks, "checks_per_second": checks / seconds}
    return _without_clock({**mean, **total, "p99_microseconds": slowest})


def _without_clock(row: Json) -> Json:
    return {name: value for name, value in row.items() if name not in ("started", "ended")}


def _given(stream: IO[str] | None) -> IO[str]:
    """A pipe that was asked for."""
    assert stream is not None
    return stream


def _rounds(n: int, chosen: Any) -> int:
    if chosen.small:
        return 1
    return int(chosen.rounds if n < MILLION else chosen.large_rounds)


def best_of(rounds: Sequence[Json]) -> Json:
    """The highest rate and the least of everything else, also of recall; sizes of the first."""
    best = dict(rounds[0])
    for name, value in best.items():
        if isinstance(value, float):
            choose = max if name.endswith("_second") else min
            best[name] = round(choose(each[name] for each in rounds if name in each), 4)
    return best


def _child(name: str, task: Json) -> Any:
    """Do a task in a process of its own."""
    shown = [f"{key} {value}" for key, value in task.items() if key in ("corpus", "tool", "n")]
    print(", ".join([name, *shown]), file=sys.stderr)
    started = _start({**task, "task": name})
    written, _ = started.communicate()
    if started.returncode:
        raise SystemExit(f"{name} ended with {started.returncode}: {json.dumps(task)}")
    return json.loads(written)


def _start(task: Json) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.similar_index_once", json.dumps(task)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
    )


def _sync_microseconds(scratch: Path | None) -> float:
    """What the disk takes to make one page durable: no durable check by one caller is faster."""
    spent = []
    with tempfile.TemporaryFile(dir=scratch) as file:
        for _ in range(100):
            file.write(os.urandom(4096))
            file.flush()
            started = time.perf_counter()
            os.fdatasync(file.fileno())
            spent.append(time.perf_counter() - started)
    return round(float(np.median(spent)) * 1e6, 1)


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


if __name__ == "__main__":
    main()
