"""What Spark's event log says of each stage of neardup: tasks, their times, shuffle, spill.

A stage of neardup is a job of Spark by its description; each step of it is a stage of Spark.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.result import Json

_DESCRIPTION, _MARK = "spark.job.description", "neardup "


@dataclass
class Step:
    """The tasks of one step together; times in seconds, of attempts that succeeded."""

    tasks: int = 0
    failed: int = 0
    seconds: float = 0.0
    longest_seconds: float = 0.0
    shuffle_bytes: int = 0
    shuffle_records: int = 0
    spilled_bytes: int = 0

    @property
    def mean_seconds(self) -> float:
        return self.seconds / self.tasks if self.tasks else 0.0

    def add(self, event: Json) -> None:
        """Count the end of a task."""
        metrics = event.get("Task Metrics") or {}
        written = metrics.get("Shuffle Write Metrics", {})
        self.shuffle_bytes += written.get("Shuffle Bytes Written", 0)
        self.shuffle_records += written.get("Shuffle Records Written", 0)
        self.spilled_bytes += metrics.get("Disk Bytes Spilled", 0)
        if event["Task End Reason"]["Reason"] != "Success":
            self.failed += 1
            return
        info = event["Task Info"]
        spent = (info["Finish Time"] - info["Launch Time"]) / 1000
        self.tasks += 1
        self.seconds += spent
        self.longest_seconds = max(self.longest_seconds, spent)

    def as_row(self) -> Json:
        """For a result."""
        row = {**asdict(self), "mean_seconds": self.mean_seconds}
        return {name: round(v, 4) if isinstance(v, float) else v for name, v in row.items()}


def events(folder: Path) -> Iterator[Json]:
    """All events of the logs below a folder; a last line that a killed driver left is left out."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.name.startswith((".", "appstatus")):
            continue
        with path.open(encoding="utf-8") as file:
            for line in file:
                try:
                    yield json.loads(line)
                except json.JSONDecodeError:
                    continue


def steps_of(given: Iterable[Json]) -> dict[str, list[Step]]:
    """The steps of each stage of neardup, in order, by its name.

    Besides its own job a stage may have small ones, such as the one that asks Spark for its hash:
    the steps are those of the job with the most stages.
    """
    jobs: dict[str, list[list[int]]] = {}
    tasks: dict[int, Step] = {}
    for event in given:
        kind = event.get("Event")
        if kind == "SparkListenerJobStart":
            name = _stage_name(event)
            if name is not None:
                jobs.setdefault(name, []).append(sorted(event["Stage IDs"]))
        elif kind == "SparkListenerTaskEnd":
            tasks.setdefault(event["Stage ID"], Step()).add(event)
    return {
        name: [tasks.get(number, Step()) for number in max(some, key=len)]
        for name, some in jobs.items()
    }


def failures(given: Iterable[Json]) -> dict[str, int]:
    """How many tasks failed in each stage of neardup."""
    return {name: sum(step.failed for step in steps) for name, steps in steps_of(given).items()}


def _stage_name(event: Json) -> str | None:
    properties: dict[str, Any] = event.get("Properties") or {}
    described = properties.get(_DESCRIPTION) or ""
    return described.removeprefix(_MARK) if described.startswith(_MARK) else None
