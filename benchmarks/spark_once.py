"""One deduplication on Spark in a process of its own, which starts Spark and stops it.

What is printed are the times: the start of Spark and a first small job apart from the work. The
CPU time is that of the driver, of all JVMs and of all Python workers.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import spark_cluster, spark_events, spark_processes as processes
from benchmarks.result import Json
from benchmarks.spark_processes import CpuClock
from benchmarks.spark_runs import STANDALONE, THRESHOLD, cores_of

if TYPE_CHECKING:
    from neardup.engines.exchange import Engine, Message, Tasks

_WARM_TASKS = 4  # for each core
WARM_UP = "warm-up"


@dataclass(frozen=True)
class Moment:
    """The wall clock, and the CPU time that all processes have spent."""

    wall: float
    cpu: dict[str, float]

    @classmethod
    def now(cls, clock: CpuClock) -> Moment:
        return cls(time.perf_counter(), clock.seconds())

    def since(self, before: Moment) -> Json:
        """What was spent between two moments."""
        by_kind = {kind: self.cpu[kind] - before.cpu[kind] for kind in self.cpu}
        return {
            "seconds": self.wall - before.wall,
            "cpu_seconds": sum(by_kind.values()),
            "cpu_by_kind": by_kind,
        }


class WatchedEngine:
    """Runs the jobs of another engine, and notes what each took and what came back."""

    def __init__(self, engine: Engine, clock: CpuClock) -> None:
        self._engine, self._clock = engine, clock
        self.stages: list[Json] = []
        self._jobs: list[Sequence[Tasks]] = []

    @property
    def cores(self) -> int:
        return self._engine.cores

    def run(self, name: str, job: Sequence[Tasks]) -> list[Message]:
        before = Moment.now(self._clock)
        sent = self._engine.run(name, job)
        self.stages.append(
            {
                "stage": name,
                **Moment.now(self._clock).since(before),
                "returned_messages": len(sent),
                "returned_bytes": sum(len(message.blob) for message in sent),
            }
        )
        self._jobs.append(job)
        return sent

    def rows(self) -> list[Json]:
        """The stages, with the bytes of the function that every task gets."""
        from pyspark import cloudpickle

        dumps: Any = cloudpickle.dumps
        sizes = [
            max(len(dumps(tasks.step, pickle.HIGHEST_PROTOCOL)) for tasks in job)
            for job in self._jobs
        ]
        return [
            {**stage, "closure_bytes": size} for stage, size in zip(self.stages, sizes, strict=True)
        ]


def measured(task: Json, clock: CpuClock) -> Json:
    """Start Spark, deduplicate, stop; `task` says where, which file, and the folders."""
    folder, where = Path(task["folder"]), str(task["where"])
    os.environ.update(spark_cluster.environment(folder))
    events = folder / "events"
    cores = cores_of(where)
    begin = Moment.now(clock)
    started = (
        spark_cluster.cluster(cores, folder / "cluster")
        if where in STANDALONE
        else nullcontext(f"local[{cores}]")
    )
    with started as master:
        row = _on_master(task, master, events, begin, clock)
    steps = spark_events.steps_of(spark_events.events(events))
    for stage in row["stages"]:
        stage["steps"] = [step.as_row() for step in steps.get(stage["stage"], [])]
    return row


def _on_master(task: Json, master: str, events: Path, begin: Moment, clock: CpuClock) -> Json:
    from neardup.collection.settings import DedupSettings
    from neardup.collection.source import FileSource
    from neardup.distributed.run import PLAN, Sizes, deduplicate
    from neardup.distributed.work import Work
    from neardup.engines.exchange import Tasks
    from neardup.engines.spark import SparkEngine, session

    clustered = Moment.now(clock)
    spark = session(master, spark_cluster.settings(events))
    try:
        engine = SparkEngine(spark)
        in_session = Moment.now(clock)
        count = _WARM_TASKS * engine.cores
        engine.run(WARM_UP, [Tasks(_all_to_all(count), count), Tasks(_imported, count)])
        warm = Moment.now(clock)
        settings = DedupSettings.of(threshold=THRESHOLD, id=task["id"])
        watched = WatchedEngine(engine, clock)
        work = Work(os.fspath(Path(task["folder"], "work")))
        outcome = deduplicate(
            FileSource([task["file"]], settings),
            settings,
            watched,
            task["output"],
            work,
            sizes=Sizes(split_bytes=task["split_bytes"]),
        )
        done = Moment.now(clock)
        peaks = processes.peak_megabytes()
        stages = watched.rows()
    finally:
        spark.stop()
        _end_gateway()
    return {
        **done.since(warm),
        "start": {
            "cluster": clustered.since(begin),
            "session": in_session.since(clustered),
            "first job": warm.since(in_session),
        },
        "peak_megabytes": peaks,
        "split_bytes": json.loads(bytes(work.read(PLAN)))["split_bytes"],
        "engine": outcome.summary["engine"],
        "stages": stages,
    }


def _end_gateway() -> None:
    """End the JVM of the driver, which would live as long as this process."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    if gateway is None:
        return
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()


def _all_to_all(count: int) -> Any:
    """A step of the first job; defined here, so that executors need not have this module."""
    from neardup.engines.exchange import Message

    def step(number: int, _: Iterator[Message]) -> Iterator[Message]:
        import neardup.distributed.run  # noqa: F401 - what tasks of the real stages import

        for to in range(count):
            yield Message(to, number, bytes(1 << 10))

    return step


def _imported(number: int, messages: Iterator[Message]) -> Iterator[Message]:
    yield from list(messages)[:1]


def main() -> None:
    """Measure the run that the argument describes; a line of JSON on standard output."""
    processes.take_charge()
    try:
        with CpuClock() as clock:
            row = measured(json.loads(sys.argv[1]), clock)
    finally:
        processes.end_all()
    print(json.dumps(row))


if __name__ == "__main__":
    main()
