"""Runs of `neardup dedup --engine spark` on a standalone cluster in which processes are killed.

In one, an executor and a Python worker are killed with -9 in each stage. In the other the driver is
killed with -9 after each stage, and the same command resumes.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import child, spark_cluster, spark_events, spark_processes as processes
from benchmarks.result import Json
from benchmarks.spark_processes import Process
from benchmarks.spark_runs import EXECUTORS_KILLED, THRESHOLD

_WORKERS = 2
_BETWEEN_LOOKS, _MOST_LOOKS = 0.05, 400
# Work has begun by then, and some of it is in vain.
_INTO_A_STAGE = 0.3
_MOST_STARTS = 20
_START = "start Spark"
# Kills must not add up to the number of failures at which Spark gives up a stage or a run.
_PATIENCE = {"spark.task.maxFailures": "16", "spark.stage.maxConsecutiveAttempts": "16"}


def killed(task: Json) -> Json:
    """The run that the task describes; what was killed in it, and when."""
    folder = Path(task["folder"])
    os.environ.update(spark_cluster.environment(folder))
    run = _executors_killed if task["where"] == EXECUTORS_KILLED else _driver_killed
    with spark_cluster.cluster(_WORKERS, folder / "cluster") as master:
        began = time.perf_counter()
        row = run(task, master, folder)
        row["seconds"] = time.perf_counter() - began
    failed = spark_events.failures(spark_events.events(folder / "events"))
    return {**row, "failed_tasks": {name: count for name, count in failed.items() if count}}


class _Run:
    """The command, and the stages that it says it begins and ends."""

    def __init__(self, task: Json, master: str, folder: Path, *, resume: bool = False) -> None:
        conf = spark_cluster.settings(folder / "events") | _PATIENCE
        command = [child.neardup_command(), "dedup", task["file"], "-o", task["output"]]
        command += ["--threshold", str(THRESHOLD), "--engine", "spark", "--master", master]
        command += ["--work", f"{folder}/work", "--progress", "json", "--quiet"]
        command += ["--id", task["id"]] if task["id"] else []
        command += ["--resume"] if resume else []
        for name, value in conf.items():
            command += ["--conf", f"{name}={value}"]
        self._said: list[str] = []
        self._command = command
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        self.stage: str | None = None

    def begun(self) -> Iterator[str]:
        """The stages as they begin; meanwhile `stage` is the one that is under way, if any."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._said.append(line)
            try:
                name = json.loads(line)["stage"]
            except (ValueError, KeyError, TypeError):
                continue
            # A stage has a line when it begins, and one when it ends.
            self.stage = None if name == self.stage else name
            if self.stage is not None and name != _START:
                yield name
        self.stage = None
        self.process.wait()

    def require_success(self) -> None:
        if self.process.returncode:
            said = "".join(self._said[-20:])
            raise SystemExit(
                f"{shlex.join(self._command)} ended with {self.process.returncode}: {said}"
            )


def _executors_killed(task: Json, master: str, folder: Path) -> Json:
    run = _Run(task, master, folder)
    kills: list[Json] = []
    threads = []
    for stage in run.begun():
        thread = threading.Thread(target=_kill_in, args=(run, stage, kills), daemon=True)
        thread.start()
        threads.append(thread)
    for thread in threads:
        thread.join()
    run.require_success()
    return {"kills": kills}


def _kill_in(run: _Run, stage: str, kills: list[Json]) -> None:
    """Kill a busy Python worker, and an executor, another one than that of the worker if it can."""
    kill: Json = {"stage": stage, "python worker": False, "executor": False}
    kills.append(kill)
    before: dict[int, float] = {}
    for look in range(_MOST_LOOKS):
        time.sleep(_BETWEEN_LOOKS)
        if run.stage != stage:
            return
        found = processes.workers()
        busy = [one for one in found if one.cpu_seconds > before.get(one.pid, one.cpu_seconds)]
        before = {one.pid: one.cpu_seconds for one in found}
        if busy and (len(processes.executors()) == _WORKERS or look > _MOST_LOOKS // 2):
            kill["python worker"] = _killed(busy[0])
            others = [one for one in processes.executors() if not _is_above(one, busy[0])]
            for victim in others or processes.executors():
                kill["executor"] = run.stage == stage and _killed(victim)
                return


def _is_above(executor: Process, worker: Process) -> bool:
    return worker.pid in {one.pid for one in processes.descendants(executor.pid)}


def _killed(process: Process) -> bool:
    try:
        os.kill(process.pid, signal.SIGKILL)
    except ProcessLookupError:  # it has just ended
        return False
    return True


def _driver_killed(task: Json, master: str, folder: Path) -> Json:
    kills: list[Json] = []
    for start in range(_MOST_STARTS):
        run = _Run(task, master, folder, resume=bool(start))
        begun: list[str] = []
        for stage in run.begun():
            begun.append(stage)
            if len(begun) == 2:
                time.sleep(_INTO_A_STAGE)
                run.process.kill()
        if len(begun) < 2 or not run.process.returncode:
            run.require_success()
            return {"kills": kills}
        kills.append({"after": begun[0], "in": begun[1]})
    raise SystemExit(f"a run that was resumed {_MOST_STARTS} times did not end")


def main() -> None:
    """Do the run that the argument describes; a line of JSON on standard output."""
    processes.take_charge()
    try:
        row = killed(json.loads(sys.argv[1]))
    finally:
        processes.end_all()
    print(json.dumps(row))


if __name__ == "__main__":
    main()
