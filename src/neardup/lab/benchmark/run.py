"""Run a benchmark: the defaults, what `tune` recommends without labels, and a fixed setting."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from neardup.collection.source import Progress
from neardup.deduplication.run import dedup
from neardup.errors import SettingError
from neardup.lab.benchmark import core, news_copy
from neardup.lab.benchmark.core import core_task
from neardup.lab.benchmark.labelled import labelled_task
from neardup.lab.benchmark.news_copy import news_copy_task
from neardup.lab.benchmark.result import BenchmarkResult, Measured
from neardup.lab.benchmark.task import Task
from neardup.lab.tune.run import tune

PUBLIC = {core.NAME: (core_task, core.DATA), news_copy.NAME: (news_copy_task, news_copy.DATA)}
DEFAULTS, TUNED, FIXED = "neardup, defaults", "neardup, as tune recommends", "neardup, fixed"

StageProgress = Callable[[str], Progress | None]


def benchmark(
    what: str,
    data: Sequence[str] = (),
    *,
    names: Mapping[str, Any] = {},
    limits: Mapping[str, Any] = {},
    others: Mapping[str, Mapping[str, Any]] = {},
    stage: StageProgress = lambda _: None,
) -> BenchmarkResult:
    """Run a public benchmark by name, or a folder with labels.

    `names` are the settings `text` and `id`, for a folder; `limits` the settings `memory` and
    `threads`. `others` are more settings to run, by what to call them.
    """
    stage("read")
    return measured(task_of(what, data, names), limits=limits, others=others, stage=stage)


def task_of(what: str, data: Sequence[str], names: Mapping[str, Any]) -> Task:
    """The task of a name or a folder; its files are read."""
    if what not in PUBLIC:
        if data:
            raise SettingError(
                f"{what} is no public benchmark, so its data are in the folder itself; leave out "
                f"{data[0]}, or choose one of {', '.join(PUBLIC)}"
            )
        return labelled_task(Path(what), names)
    read, needed = PUBLIC[what]
    if not data:
        raise SettingError(
            f"{what} needs its data: download {needed}, and give its file or folder: "
            f"neardup benchmark {what} PATH"
        )
    if names:
        raise SettingError(f"{what} has columns of its own; leave out --{next(iter(names))}")
    return read(data)


def measured(
    task: Task,
    *,
    limits: Mapping[str, Any] = {},
    others: Mapping[str, Mapping[str, Any]] = {},
    stage: StageProgress = lambda _: None,
) -> BenchmarkResult:
    """Score every way to run neardup on a task."""
    rows = tuple(_rows(task, {**task.names, **limits}, others, stage))
    return BenchmarkResult(
        name=task.name,
        about=task.about,
        data=task.data,
        documents=rows[0].documents,
        columns=dict(task.columns),
        rows=rows,
        published=task.published,
        notes=(f"{FIXED}: {task.fixed.why}", *task.notes),
    )


def _rows(
    task: Task,
    given: Mapping[str, Any],
    others: Mapping[str, Mapping[str, Any]],
    stage: StageProgress,
) -> Iterator[Measured]:
    stage("defaults")
    yield _measured(task, DEFAULTS, given, {})
    stage("tune")
    began = time.perf_counter()
    tuned = tune(task.documents, **given)
    seconds = time.perf_counter() - began
    stage("tuned")
    yield _measured(task, TUNED, given, tuned.settings, seconds)
    stage("fixed")
    yield _measured(task, FIXED, given, task.fixed.settings)
    for name, settings in others.items():
        stage(name)
        yield _measured(task, f"neardup, {name}", given, settings)


def _measured(
    task: Task,
    method: str,
    given: Mapping[str, Any],
    settings: Mapping[str, Any],
    tune_seconds: float | None = None,
) -> Measured:
    began = time.perf_counter()
    result = dedup(task.documents, **{**given, **settings})
    seconds = time.perf_counter() - began
    own = {name: value for name, value in settings.items() if name not in given}
    return Measured(
        method, own, dict(task.score(result)), len(result.collected), seconds, tune_seconds
    )
