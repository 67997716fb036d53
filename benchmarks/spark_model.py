"""A model of the stages, fitted on measured runs, and what it foresees of larger ones.

A stage costs CPU seconds for each megabyte of text, for each task and for each row that is
shuffled, beside a fixed part. Megabytes and tasks are spread over the cores; a step with one task
is not. Rows are bundles of messages: each pair of tasks exchanges a share of one, or, where there
are too many pairs, each task with the relays between (`engines/bundles.py`). Coefficients come from
least squares on relative errors, and none is negative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.result import Json
from neardup.engines.bundles import HELD_BYTES, Relays
from neardup.engines.spark import MOST_PAIRS

ONE, SPLITS, SHARDS, BINS = "one", "splits", "shards", "bins"
# Fewer runs do not tell text, tasks and messages apart.
LEAST_RUNS = 4
# Beyond so many partitions Spark stores one average size and a bitmap for each task, not all sizes.
_SIZES_STORED = 2_000
_MOST_DRIVER_BYTES = 1 << 30  # spark.driver.memory by default
_MOST_CLOSURE_BYTES = 64 << 20
_MOST_SHARE = 0.5
# Messages as they are held to be bundled, by the bytes that are written of them.
_UNPACKED = 2
# What Spark stores of a task that sends to one row of relays: two runs of empty partitions.
_RUNS_BYTES = 128

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Cluster:
    """What a foresight is asked for."""

    terabytes: float
    nodes: int
    cores_a_node: int = 16

    @property
    def cores(self) -> int:
        return self.nodes * self.cores_a_node


ASKED = (Cluster(1, 32), Cluster(100, 1_000))
LARGE_SPLIT_BYTES = 1 << 30  # what may be asked for instead, on executors with the memory


def non_negative(columns: Sequence[Sequence[float]], wanted: Sequence[float]) -> list[float]:
    """Coefficients ≥ 0 of the columns whose relative errors have the least sum of squares.

    There are few columns, so that every choice of those above zero is tried.
    """
    matrix, values = np.array(columns, np.float64).T, np.array(wanted, np.float64)
    scale = 1 / np.maximum(np.abs(values), max(1e-9, float(np.abs(values).max(initial=0)) * 1e-3))
    matrix, values = matrix * scale[:, None], values * scale
    best, least = np.zeros(matrix.shape[1]), float(values @ values)
    for size in range(1, matrix.shape[1] + 1):
        for chosen in combinations(range(matrix.shape[1]), size):
            some = matrix[:, chosen]
            # Columns differ by many orders of magnitude.
            norms = np.linalg.norm(some, axis=0)
            if not norms.all():
                continue
            found = np.linalg.lstsq(some / norms, values, rcond=None)[0] / norms
            error = values - some @ found
            if (found >= 0).all() and float(error @ error) < least * (1 - 1e-9):
                best, least = np.zeros(matrix.shape[1]), float(error @ error)
                best[list(chosen)] = found
    return [float(one) for one in best]


def fit(runs: Sequence[Json], most_split_bytes: int, most_nodes: int) -> Json | None:
    """The model of these rows of measured runs; None if there are too few."""
    if len(runs) < LEAST_RUNS:
        return None
    ones = [1.0] * len(runs)
    megabytes = [float(run["megabytes"]) for run in runs]
    splits = [float(run["engine"]["splits"]) for run in runs]
    largest = max(runs, key=lambda run: float(run["megabytes"]))
    # A stage that only some runs have, such as the cutting of large row groups, is no part of it.
    names = [
        stage["stage"]
        for stage in largest["stages"]
        if all(stage["stage"] in _stages(run) for run in runs)
    ]
    driver = non_negative((ones, splits), [run["peak_megabytes"]["driver"] * 1e6 for run in runs])
    returned = [float(sum(one["returned_bytes"] for one in run["stages"])) for run in runs]
    closures = [float(max(one["closure_bytes"] for one in run["stages"])) for run in runs]
    return {
        "runs": [[run["corpus"], run["where"]] for run in runs],
        "most_split_bytes": most_split_bytes,
        "most_nodes": most_nodes,
        "text_bytes_a_split_byte": largest["megabytes"]
        * 1e6
        / largest["engine"]["splits"]
        / largest["split_bytes"],
        "nodes_a_megabyte": largest["engine"]["nodes"] / largest["megabytes"],
        "driver_bytes": dict(zip(("fixed", "split"), driver, strict=True)),
        "returned_bytes": dict(
            zip(("fixed", "split"), non_negative((ones, splits), returned), strict=True)
        ),
        "closure_bytes": dict(
            zip(("fixed", "split"), non_negative((ones, splits), closures), strict=True)
        ),
        "stages": [_fit_stage(name, runs, megabytes) for name in names],
    }


def _stages(run: Json) -> dict[str, Json]:
    return {stage["stage"]: stage for stage in run["stages"]}


def _fit_stage(name: str, runs: Sequence[Json], megabytes: Sequence[float]) -> Json:
    stages = [_stages(run)[name] for run in runs]
    ones = [1.0] * len(runs)
    # Large collections may have steps that small ones do not need.
    most = max(len(stage["steps"]) for stage in stages)
    kinds = [_kind(place, stages, runs, most) for place in range(most)]
    tasks = [float(sum(step["tasks"] for step in stage["steps"])) for stage in stages]
    rows = [float(_total(stage, "shuffle_records")) for stage in stages]
    alone = [
        sum(
            step["longest_seconds"]
            for step, kind in zip(stage["steps"], kinds, strict=False)
            if kind == ONE
        )
        for stage in stages
    ]
    cpu = [max(1e-3, stage["cpu_seconds"] - one) for stage, one in zip(stages, alone, strict=True)]
    waits = [
        max(0.0, stage["seconds"] - one - spent / run["cores"])
        for stage, one, spent, run in zip(stages, alone, cpu, runs, strict=True)
    ]
    names = ("fixed", "task", "row", "megabyte")
    return {
        "stage": name,
        "steps": kinds,
        "shuffles": [_fit_shuffle(place, stages, megabytes) for place in range(most - 1)],
        "cpu_seconds": _named(names, (ones, tasks, rows, megabytes), cpu),
        "wait_seconds": _named(("fixed", "task"), (ones, tasks), waits),
        "alone_seconds": _named(("fixed", "megabyte"), (ones, megabytes), alone),
        "spilled_bytes": _named(
            ("megabyte",), (megabytes,), [float(_total(one, "spilled_bytes")) for one in stages]
        ),
        "longest_by_mean": max(
            (
                step["longest_seconds"] / step["mean_seconds"]
                for stage in stages
                for step in stage["steps"]
                if step["mean_seconds"] > 0
            ),
            default=1.0,
        ),
    }


def _fit_shuffle(place: int, stages: Sequence[Json], megabytes: Sequence[float]) -> Json:
    """Rows and bytes between a step and the next, in the runs that have both."""
    known = [
        (stage["steps"][place], stage["steps"][place + 1], text)
        for stage, text in zip(stages, megabytes, strict=True)
        if len(stage["steps"]) > place + 1
    ]
    pairs = [float(here["tasks"] * there["tasks"]) for here, there, _ in known]
    text = [one for *_, one in known]
    rows = [float(here["shuffle_records"]) for here, *_ in known]
    size = [float(here["shuffle_bytes"]) for here, *_ in known]
    return {
        "rows": _named(("pair", "megabyte"), (pairs, text), rows),
        "bytes": _named(("row", "megabyte"), (rows, text), size),
    }


def _named(
    names: Sequence[str], columns: Sequence[Sequence[float]], wanted: Sequence[float]
) -> dict[str, float]:
    return dict(zip(names, non_negative(columns, wanted), strict=True))


def _total(stage: Json, field: str) -> int:
    return sum(step[field] for step in stage["steps"])


def _kind(place: int, stages: Sequence[Json], runs: Sequence[Json], steps: int) -> str:
    """What the number of tasks of a step is in all runs that have so many steps."""
    known = [
        (stage["steps"][place]["tasks"], run["engine"])
        for stage, run in zip(stages, runs, strict=True)
        if len(stage["steps"]) == steps
    ]
    if all(count == 1 for count, _ in known):
        return ONE
    for kind in (SPLITS, SHARDS):
        if all(count == engine[kind] for count, engine in known):
            return kind
    return BINS


@dataclass(frozen=True)
class Foreseen:
    """One stage of a run that was not measured."""

    stage: str
    tasks: int
    cpu_seconds: float
    row_cpu_seconds: float
    alone_seconds: float
    longest_task_seconds: float
    seconds: float
    rows: float
    shuffle_bytes: float
    spilled_bytes: float


def foresee(model: Mapping[str, Any], asked: Cluster, split_bytes: int | None = None) -> Json:
    """What a run on a cluster would take; with splits of other sizes if `split_bytes` is given.

    Rows, tasks and bytes of the driver grow with the splits, CPU time and shuffle with the text. A
    bin holds about as much text as a split, so bins are counted as many.
    """
    megabytes = asked.terabytes * 1e6
    a_split = (split_bytes or model["most_split_bytes"]) * model["text_bytes_a_split_byte"]
    splits = max(1, -(-int(megabytes * 1e6) // max(1, int(a_split))))
    shards = 1 << (splits.bit_length() - 1)
    counts = {ONE: 1, SPLITS: splits, SHARDS: shards, BINS: max(splits, 2 * asked.cores)}
    nodes = model["nodes_a_megabyte"] * megabytes
    # Beyond so many nodes one task cannot hold them, and rounds of many tasks take its place.
    alone_megabytes = min(1.0, model["most_nodes"] / max(1.0, nodes)) * megabytes
    stages = [
        _foresee_stage(stage, counts, megabytes, alone_megabytes, asked.cores)
        for stage in model["stages"]
    ]
    driver = model["driver_bytes"]
    a_split_there = max(driver["split"], model["returned_bytes"]["split"])
    found: Json = {
        "terabytes": asked.terabytes,
        "nodes": asked.nodes,
        "cores": asked.cores,
        "splits": splits,
        "shards": shards,
        "rows": sum(stage.rows for stage in stages),
        "hours": sum(stage.seconds for stage in stages) / 3600,
        "cpu_hours": sum(stage.cpu_seconds for stage in stages) / 3600,
        "shuffle_terabytes": sum(stage.shuffle_bytes for stage in stages) / 1e12,
        "driver_python_bytes": driver["fixed"] + a_split_there * splits,
        "driver_jvm_bytes": _map_statuses(model["stages"], counts),
        "closure_bytes": model["closure_bytes"]["fixed"] + model["closure_bytes"]["split"] * splits,
        "needs_rounds": nodes > model["most_nodes"],
        "stages": [asdict(stage) for stage in stages],
    }
    return {**found, "breaks": _breaks(found)}


@dataclass(frozen=True)
class Shuffled:
    """What goes from a step to the next: by way of so many relays, if there are any."""

    rows: float
    bytes: float
    relays: int

    @classmethod
    def between(
        cls, shuffle: Mapping[str, Any], senders: int, receivers: int, megabytes: float
    ) -> Shuffled:
        """A task sends what it holds whenever that is too much: a row to each other task again."""
        fitted, sizes = shuffle["rows"], shuffle["bytes"]
        held = sizes["megabyte"] * megabytes / senders * _UNPACKED
        times = max(1.0, held / HELD_BYTES)
        pairs, hops, relays = float(senders * receivers), 1, 0
        if pairs > MOST_PAIRS:
            grid = Relays(senders, receivers)
            pairs = float(senders * grid.columns + grid.rows * receivers)
            hops, relays = 2, grid.count
        rows = fitted["pair"] * pairs * times + fitted["megabyte"] * megabytes * hops
        return cls(rows, sizes["row"] * rows + sizes["megabyte"] * megabytes * hops, relays)


def _shuffled(
    stage: Mapping[str, Any], counts: Mapping[str, int], megabytes: float
) -> list[Shuffled]:
    steps = [counts[kind] for kind in stage["steps"]]
    return [
        Shuffled.between(shuffle, here, there, megabytes)
        for shuffle, (here, there) in zip(stage["shuffles"], pairwise(steps), strict=True)
    ]


def _foresee_stage(
    stage: Mapping[str, Any],
    counts: Mapping[str, int],
    megabytes: float,
    alone_megabytes: float,
    cores: int,
) -> Foreseen:
    shuffled = _shuffled(stage, counts, megabytes)
    tasks = sum(counts[kind] for kind in stage["steps"]) + sum(one.relays for one in shuffled)
    rows = sum(one.rows for one in shuffled)
    cost = stage["cpu_seconds"]
    of_rows = cost["row"] * rows
    cpu = cost["fixed"] + cost["task"] * tasks + of_rows + cost["megabyte"] * megabytes
    alone = stage["alone_seconds"]
    single = alone["fixed"] + alone["megabyte"] * alone_megabytes
    longest = max(single, cpu / max(1, tasks) * stage["longest_by_mean"])
    waits = stage["wait_seconds"]
    wait = waits["fixed"] + waits["task"] * tasks
    # Each task is at work on a core; the last one may begin when all others end.
    last = longest - single if single < longest and tasks > cores else 0.0
    seconds = wait + single + max(cpu / cores + last, cpu / max(1, tasks))
    return Foreseen(
        stage["stage"],
        tasks,
        cpu + single,
        of_rows,
        single,
        longest,
        seconds,
        rows,
        sum(one.bytes for one in shuffled),
        stage["spilled_bytes"]["megabyte"] * megabytes,
    )


def _map_statuses(stages: Sequence[Mapping[str, Any]], counts: Mapping[str, int]) -> float:
    """Bytes of the driver's JVM for the sizes of shuffled blocks, of the largest shuffle.

    Spark holds a byte for each block, or for more than 2,000 partitions a bit, in runs if it can.
    """
    largest = 0.0
    for stage in stages:
        for here, there in pairwise(stage["steps"]):
            senders, receivers = counts[here], counts[there]
            if senders * receivers > MOST_PAIRS:
                size = float(_RUNS_BYTES)
            else:
                size = receivers if receivers <= _SIZES_STORED else receivers / 8
            largest = max(largest, senders * size)
    return largest


def _breaks(found: Json) -> list[Json]:
    """What goes beyond a limit, the worst first; the first of them breaks first."""
    stages = found["stages"]
    cpu = sum(stage["cpu_seconds"] for stage in stages)
    checked = (
        ("block sizes in the JVM of the driver, bytes", "driver_jvm_bytes", _MOST_DRIVER_BYTES),
        ("Python of the driver, bytes", "driver_python_bytes", _MOST_DRIVER_BYTES),
        ("the function that every task gets, bytes", "closure_bytes", _MOST_CLOSURE_BYTES),
    )
    limits = [(what, float(found[field]), float(limit)) for what, field, limit in checked]
    of_rows = sum(stage["row_cpu_seconds"] for stage in stages)
    limits.append(("share of CPU time spent on shuffled rows", of_rows / cpu, _MOST_SHARE))
    alone = sum(stage["alone_seconds"] for stage in stages)
    share = alone / (found["hours"] * 3600) if found["hours"] else 0.0
    limits.append(("share of time in steps of one task", share, _MOST_SHARE))
    over = [
        {"what": what, "value": value, "limit": limit}
        for what, value, limit in limits
        if value > limit
    ]
    return sorted(over, key=lambda one: -float(one["value"]) / float(one["limit"]))
