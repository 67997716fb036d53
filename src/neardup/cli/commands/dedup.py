"""`neardup dedup`: the main job."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options, stopping
from neardup.cli.command import Command
from neardup.cli.found import found_lines
from neardup.cli.kept_rows import KeptRows, kept_rows
from neardup.cli.terminal import (
    count,
    say,
    say_json,
    say_rejected,
)

if TYPE_CHECKING:
    from neardup.deduplication.result import Result
    from neardup.deduplication.save import Saved
    from neardup.index.store import Put

_GO_ON = "; the same command goes on after the passes that are finished"


@click.command(cls=Command)
@options.inputs
@options.path(
    "--output",
    "-o",
    required=True,
    help="Folder to write. A name that ends with .parquet, .jsonl or .csv (the latter two also "
    "with .gz, .zst or .bz2) is a file for the kept rows alone; - prints them.",
)
@options.overwrite
@options.row_format("the kept and removed rows", note="parquet; jsonl for -")
@options.flag(
    "--copies",
    help="Add a column `copies` to the kept rows: how many documents each stands for.",
)
@options.settings("threshold", "similarity", "model", "keep", "cluster", "pairs", "floor")
@options.option(
    "--against",
    metavar="INPUT",
    multiple=True,
    help="Remove documents that are near-duplicates of this collection or index; duplicates "
    "within INPUT are kept. Repeatable.",
)
@options.flag(
    "--within", help="With --against, also remove near-duplicates within INPUT, in the same run."
)
@options.flag(
    "--update",
    help="With an index as --against: also remove near-duplicates within INPUT, and add the kept "
    "documents to the index, which is created if it is missing.",
)
@options.path("--index", help="Add the kept documents to this index; created if it is missing.")
@options.flag(
    "--replace",
    help="With --update or --index, replace documents of the index that came from another input "
    "and have the same ids. Default: fail.",
)
@options.path(
    "--decisions",
    help="File of decisions to obey, as `neardup explore` and `neardup review` write it, or the "
    "folder of a run that has one.",
)
@options.preset
@options.path(
    "--config",
    help="Settings file, as `neardup tune` writes it. Command-line options override the config "
    "file, which overrides the preset.",
)
@options.flag(
    "--resume",
    help="Store finished passes beside the output until the run succeeds. After Ctrl-C or a crash, "
    "the same command goes on with the next pass.",
)
@options.flag("--strict", help="Fail if a row cannot be read.")
@options.quiet
@options.as_json
@options.progress
@options.settings("text", "id", "read_as", "suffix", "max_document")
@options.settings("features", "weights", "bits", "hash", "tie", "projection")
@options.settings("candidates", "recall", "memory", "threads")
@options.engine
@click.pass_context
def dedup(
    context: click.Context,
    /,
    inputs: tuple[str, ...],
    output: Path,
    overwrite: bool,
    format: str | None,
    copies: bool,
    against: tuple[str, ...],
    within: bool,
    update: bool,
    index: Path | None,
    replace: bool,
    decisions: Path | None,
    preset: str | None,
    config: Path | None,
    resume: bool,
    strict: bool,
    quiet: bool,
    json: bool,
    progress: str,
    engine: str,
    master: str | None,
    work: str | None,
    conf: tuple[str, ...],
    **_settings: Any,
) -> None:
    """Find near-duplicates and keep one document of each cluster.

    Writes the kept and the removed documents, the pairs that removed them, the clusters, a summary
    and a report in HTML to a folder, or the kept documents alone to a file.

    Example: neardup dedup corpus.jsonl.gz -o out --threshold 0.8
    """
    from neardup.atomic import require_apart, work_folder_of
    from neardup.cli.progress import Stages
    from neardup.collection.settings import DedupSettings, settings_in
    from neardup.collection.source import FileSource
    from neardup.deduplication.inputs import require_checkable
    from neardup.deduplication.obeyed import given_decisions
    from neardup.deduplication.resume import Resume
    from neardup.deduplication.run import deduplicate
    from neardup.deduplication.save import FOLDER, require_format, save
    from neardup.deduplication.sources import stored_source
    from neardup.errors import InputError, SettingError
    from neardup.kernels.machine import keep_freed_memory

    stored = {} if config is None else settings_in(config)
    settings = DedupSettings.of(preset=preset, **{**stored, **options.given_settings(context)})
    if format is not None:
        require_format(format)
    if within and not against:
        raise SettingError("--within needs another collection; name it with --against")
    if update:
        _require_update(against, index, resume)
        index = Path(against[0])
    if replace and index is None:
        raise SettingError("--replace is for documents added to an index; use --update or --index")
    rows = kept_rows(output, format, json=json)
    if engine == "spark":
        from neardup.cli.spark import SparkRun, dedup_on_spark

        unable = {"--update": update, "--index": index, "--decisions": decisions}
        refused = next((name for name, given in unable.items() if given), None)
        if refused is not None:
            raise SettingError(f"{refused} needs the local engine; leave out --engine spark")
        if rows is not None:
            raise SettingError(
                f"--engine spark writes folders of parts; name a folder instead of {rows.name}"
            )
        run = SparkRun(inputs, against, output, master, work, conf)
        dedup_on_spark(
            run,
            settings,
            within=within,
            resume=resume,
            overwrite=overwrite,
            format=format or "parquet",
            copies=copies,
            strict=strict,
            stages=Stages(quiet=quiet or json, progress=progress),
            quiet=quiet,
            as_json=json,
        )
        return
    if isinstance(output, options.UrlPath):
        raise SettingError(f"{output.url}: the local engine writes to folders; use --engine spark")
    for name, value in (("--master", master), ("--work", work), ("--conf", conf)):
        if value:
            raise SettingError(f"{name} is for --engine spark; add it, or leave {name} out")
    told = None if decisions is None else given_decisions(decisions)
    others = [place for place in (index, config) if place is not None]
    if rows is None:
        require_apart(output, [*inputs, *against, *others])
        FOLDER.require_free(output, overwrite=overwrite)
    elif resume and rows.are_printed:
        raise SettingError("--resume needs an output with a name; use -o FILE instead of -o -")
    else:
        rows.require_free([*inputs, *against, *others], overwrite=overwrite)
    if index is not None:
        from neardup.deduplication.to_index import require_fitting_index, require_update

        (require_update if update else require_fitting_index)(settings, index)
    if resume:
        require_checkable([*inputs, *against])
    keep_freed_memory()
    if rows is None or rows.path is not None:
        stopping.writes(output, advice=_GO_ON if resume else "")
    with ExitStack() as stack:
        stages = stack.enter_context(Stages(quiet=quiet or json, progress=progress))
        work_folder = work_folder_of(output)
        if not resume and work_folder.exists():
            stages.say(
                f"{work_folder} has finished passes of an earlier run; use them with --resume, or "
                "delete the folder"
            )
        old = None
        if against and not (update and not os.path.exists(against[0])):
            old = stored_source(list(against), settings)
        source = FileSource(list(inputs), settings)
        passes = None
        if resume:
            named = [inputs, against] if against else [inputs]
            obeyed = None if told is None else told.fingerprint
            passes = Resume(output, named, settings, stages.say, within=within, decisions=obeyed)
            stack.callback(passes.close)
        result = deduplicate(
            source,
            settings,
            old,
            stages,
            within=within or update,
            updates=index is not None and _is_same(index, against),
            delivers=index is not None,
            replaces=replace,
            resume=passes,
            decisions=told,
        )
        rejected = result.collected.rejected
        if strict and rejected:
            row = next(iter(rejected))
            raise InputError(
                f"{count(len(rejected), 'row')} cannot be read, the first in {row.place}: "
                f"{row.reason}; {output} was not written"
            )
        if index is not None and not replace:
            from neardup.deduplication.to_index import require_no_replacing

            require_no_replacing(result, index)
        command = shlex.join(["neardup", *sys.argv[1:]])
        bar = stages("output")
        if rows is not None:
            saved = rows.save(
                result, overwrite=overwrite, copies=copies, command=command, progress=bar
            )
        else:
            saved = save(
                result,
                output,
                overwrite=overwrite,
                format=format or "parquet",
                copies=copies,
                command=command,
                progress=bar,
            )
        if index is not None:
            from neardup.deduplication.to_index import leave_index

            bar, kept = stages("index"), saved.summary["kept"]
            written = str(output) if rows is None else rows.name
            tell = stopping.adds_to(index, f"{written} was written, ")

            def committed(stored: int) -> None:
                tell(stored)
                if bar is not None:
                    bar(stored, kept, stored)

            put = leave_index(result, index, committed, replace=replace)
        if passes is not None:
            passes.remove()
    if json:
        say_json(saved.summary)
    elif not quiet:
        _print(result, saved, output, rows)
        if index is not None:
            printed = rows is not None and rows.are_printed
            say(_added(index, put, saved.summary["kept"]), err=printed)


def _require_update(against: tuple[str, ...], index: Path | None, resume: bool) -> None:
    """Refuse options that --update cannot be used with."""
    from neardup.errors import SettingError

    if len(against) != 1:
        raise SettingError("--update needs one index; name it with --against")
    if index is not None:
        raise SettingError(
            "--update adds the kept documents to the index of --against; leave out --index"
        )
    if resume:
        raise SettingError(
            "--resume cannot be used with --update, because the index changes; run without "
            "--resume, and repeat the same command if it is interrupted"
        )


def _is_same(index: Path, against: tuple[str, ...]) -> bool:
    """Whether the kept documents are added to the index that they are compared with."""
    if len(against) != 1:
        return False
    return os.path.realpath(against[0]) == os.path.realpath(index)


def _added(index: Path, put: Put, kept: int) -> str:
    """How many of the kept documents were added to the index."""
    counts = [f"{put.stored - put.replaced:,} added"]
    if put.replaced:
        counts.append(f"{put.replaced:,} replaced")
    if kept > put.stored:
        counts.append(f"{kept - put.stored:,} there already")
    if put.renamed:
        counts.append(f"{put.renamed:,} under an id with a hash, because theirs was in use")
    return f"{', '.join(counts)} → {index}"


def _print(result: Result, saved: Saved, output: Path, rows: KeptRows | None) -> None:
    summary = saved.summary
    for line in found_lines(result, saved, in_folder=rows is None):
        say(line, err=rows is not None and rows.are_printed)
    if rows is not None:
        rows.say_end(result, summary)
        return
    say_rejected(summary["rejected"], summary["left_out"], output / "rejected.jsonl")
    say_end(summary, output)


def say_end(summary: Mapping[str, Any], output: Path) -> None:
    """Warn of what is doubtful, and say where the output is and how to look at it."""
    for warning in summary["warnings"]:
        say(f"Warning: {warning}", err=True)
    if isinstance(output, options.UrlPath):
        say(f"{summary['scheme']} → {output.url}")
        return
    say(f"{summary['scheme']} → {output}")
    if sys.stdout.isatty():
        say(f"To look at what went and why: {shlex.join(['neardup', 'explore', str(output)])}")
