"""`neardup dedup --engine spark`: the options of a cluster, and what is printed at the end."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.cli import stopping
from neardup.cli.commands.dedup import say_end
from neardup.cli.found import LARGEST, cluster_line, headline, time_spent, unproven_line
from neardup.cli.options import UrlPath
from neardup.cli.terminal import count, say, say_files, say_json, say_rejected
from neardup.errors import SettingError
from neardup.frozen import dataclass

if TYPE_CHECKING:
    from neardup.cli.progress import Stages
    from neardup.collection.settings import DedupSettings
    from neardup.distributed.run import Outcome


@dataclass(frozen=True)
class SparkRun:
    """What is read and written, and where it runs."""

    inputs: Sequence[str]
    against: Sequence[str]
    output: Path
    master: str | None
    work: str | None
    conf: Sequence[str]


def dedup_on_spark(
    run: SparkRun,
    settings: DedupSettings,
    *,
    stages: Stages,
    quiet: bool,
    as_json: bool,
    overwrite: bool,
    **options: Any,
) -> None:
    """Deduplicate on a cluster."""
    from neardup.atomic import require_apart, work_folder_of
    from neardup.cli.entry import allow_pandas
    from neardup.collection.source import FileSource
    from neardup.deduplication.save import FOLDER
    from neardup.distributed.run import deduplicate, require_runnable
    from neardup.distributed.work import Work, is_url
    from neardup.engines.spark import SparkEngine, session

    if "-" in (*run.inputs, *run.against):
        raise SettingError("standard input cannot be read by executors; store it in a file first")
    conf = dict(map(_setting, run.conf))
    if isinstance(run.output, UrlPath):
        output = run.output.url
        work = run.work or f"{output.rstrip('/')}.neardup-work"
    else:
        output = os.path.abspath(run.output)
        require_apart(output, [*run.inputs, *run.against])
        FOLDER.require_free(output, overwrite=overwrite)
        work = run.work or os.fspath(work_folder_of(output))
        stopping.writes(run.output, advice="; --resume goes on after the stages that are complete")
    if not is_url(work):
        work = os.path.abspath(work)
        require_apart(work, [*run.inputs, *run.against, output])
    _refuse_indexes(run.against)
    old = FileSource(run.against, settings) if run.against else None
    source = FileSource(run.inputs, settings)
    require_runnable(source, settings, old, within=options["within"])
    with stages:
        stages("start Spark")
        allow_pandas()
        spark = session(run.master, conf)
        try:
            folder = Work(work)
            outcome = deduplicate(
                source,
                settings,
                SparkEngine(spark),
                output,
                folder,
                old,
                overwrite=overwrite,
                command=shlex.join(["neardup", *sys.argv[1:]]),
                begin=stages,
                say=stages.say,
                **options,
            )
            folder.remove()
        finally:
            spark.stop()
    if as_json:
        say_json(outcome.summary)
    elif not quiet:
        _print(outcome, settings, run.output)


def _refuse_indexes(names: Sequence[str]) -> None:
    from neardup.index.disk.opening import is_index

    for name in names:
        if os.path.isdir(name) and is_index(name):
            raise SettingError(f"{name} is an index, which needs the local engine; name files")


def _setting(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not equals or not name:
        raise SettingError(f"--conf {given}: give a name and a value, such as spark.cores.max=4")
    return name, value


def _print(outcome: Outcome, settings: DedupSettings, output: Path) -> None:
    summary = outcome.summary
    say_files(summary.get("files"))
    say(headline(summary))
    say(f"{_listed(settings, summary)}; {count(summary['candidates'], 'candidate')}, each compared")
    if summary["unproven"]:
        say(unproven_line(settings, summary["unproven"]))
    parts = summary["engine"]
    say(
        f"{time_spent(summary)}; {count(parts['splits'], 'split')}, {count(parts['bins'], 'bin')}, "
        f"peak memory of the driver {summary['peak_megabytes']:,.0f} MB"
    )
    say(summary["reason"])
    for size, rows in outcome.shown.clusters[:LARGEST]:
        around = rows[0]["_around"]
        named = {row["_place"]: row["id"] for row in rows}
        id = named.get(around, next((row["duplicate_of"] for row in rows[1:]), ""))
        say(cluster_line(size, str(id), outcome.texts[around]))
    say_rejected(summary["rejected"], summary["left_out"], output / "rejected.jsonl")
    say_end(summary, output)


def _listed(settings: DedupSettings, summary: Mapping[str, Any]) -> str:
    if settings.pairs == "none":
        return "no pairs listed"
    return f"{count(summary['pairs'], 'pair')} in pairs.parquet, of {settings.limit}"
