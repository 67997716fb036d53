"""`neardup dedup`: the main job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options, stopping
from neardup.cli.command import Command
from neardup.cli.terminal import count, say, say_json, say_rejected, size

if TYPE_CHECKING:
    from neardup.deduplication.result import Result

_LARGEST = 5
_SHOWN = 60
_FORMATS = ("parquet", "jsonl", "csv")


@click.command(cls=Command)
@options.inputs
@options.path("--output", "-o", required=True, help="Folder to write.")
@options.overwrite
@options.option(
    "--format",
    default="parquet",
    metavar="NAME",
    shell_complete=options.one_of(_FORMATS),
    help=f"Format of the kept rows: {', '.join(_FORMATS[:-1])} or {_FORMATS[-1]}.",
)
@options.settings("threshold", "similarity", "keep", "cluster")
@options.option(
    "--against",
    metavar="INPUT",
    multiple=True,
    help="Remove documents that are near-duplicates of this collection or index; duplicates "
    "within INPUT are kept. Repeatable.",
)
@options.path("--index", help="Add the kept documents to this index; created if it is missing.")
@options.preset
@options.path(
    "--config",
    help="Settings file, as `neardup tune` writes it. Command-line options override the config "
    "file, which overrides the preset.",
)
@options.flag("--strict", help="Fail if a row cannot be read.")
@options.quiet
@options.as_json
@options.settings("text", "id", "max_document")
@options.settings("features", "weights", "bits", "hash", "tie", "projection")
@options.settings("candidates", "recall", "memory", "threads")
@click.pass_context
def dedup(
    context: click.Context,
    /,
    inputs: tuple[str, ...],
    output: Path,
    overwrite: bool,
    format: str,
    against: tuple[str, ...],
    index: Path | None,
    preset: str | None,
    config: Path | None,
    strict: bool,
    quiet: bool,
    json: bool,
    **_settings: Any,
) -> None:
    """Find near-duplicates and keep one document of each cluster.

    Writes the kept documents, the verified pairs, the clusters, a summary and a report in HTML to
    a folder.

    Example: neardup dedup corpus.jsonl.gz -o out --threshold 0.8
    """
    from neardup.atomic import require_apart
    from neardup.cli.progress import Stages
    from neardup.collection.settings import DedupSettings, settings_in
    from neardup.collection.source import FileSource
    from neardup.deduplication.run import deduplicate
    from neardup.deduplication.save import FOLDER, require_format, save
    from neardup.deduplication.sources import stored_source
    from neardup.errors import InputError

    stored = {} if config is None else settings_in(config)
    settings = DedupSettings.of(preset=preset, **{**stored, **options.given_settings(context)})
    require_format(format)
    others = [place for place in (index, config) if place is not None]
    require_apart(output, [*inputs, *against, *others])
    FOLDER.require_free(output, overwrite=overwrite)
    if index is not None:
        from neardup.deduplication.to_index import require_fitting_index

        require_fitting_index(settings, index)
    stopping.writes(output)
    with Stages(quiet=quiet or json) as stages:
        old = stored_source(list(against), settings) if against else None
        result = deduplicate(FileSource(list(inputs), settings), settings, old, stages)
        rejected = result.collected.rejected
        if strict and rejected:
            row = next(iter(rejected))
            place = row.file if row.row is None else f"{row.file}, row {row.row}"
            raise InputError(
                f"{count(len(rejected), 'row')} cannot be read, the first in {place}: "
                f"{row.reason}; {output} was not written"
            )
        stages("output")
        texts = save(result, output, overwrite=overwrite, format=format)
        if index is not None:
            from neardup.deduplication.to_index import leave_index

            stages("index")
            leave_index(result, index, stopping.adds_to(index, f"{output} was written, "))
    if json:
        say_json(result.summary)
    elif not quiet:
        _print(result, texts, output)


def _print(result: Result, texts: Mapping[int, str], output: Path) -> None:
    summary = result.summary
    documents = count(summary["documents"], "document")
    if summary["empty"]:
        documents += f" ({summary['empty']:,} empty)"
    say(
        f"{documents}: {summary['exact_copies']:,} exact and {summary['near_copies']:,} near "
        f"copies in {count(summary['clusters'], 'cluster')}; {summary['removed']:,} removed, "
        f"{summary['kept']:,} kept"
    )
    say(
        f"{count(summary['pairs'], 'pair')} of {result.settings.limit} among "
        f"{count(summary['candidates'], 'candidate')}, all verified"
    )
    stages = ", ".join(f"{stage} {spent:.2f} s" for stage, spent in summary["seconds"].items())
    say(f"{stages}; peak memory {size(int(summary['peak_megabytes'] * 1e6))}")
    say(summary["reason"])
    for line in _largest(result, texts):
        say(line)
    say_rejected(summary["rejected"], summary["left_out"], output / "rejected.jsonl")
    say(f"{result.scheme} → {output}")


def _largest(result: Result, texts: Mapping[int, str]) -> list[str]:
    """The largest clusters, one line each: size, and the beginning of the kept document."""
    from neardup.deduplication.page import largest_clusters

    lines = []
    for cluster in largest_clusters(result, _LARGEST):
        place = int(result.clustering.place[cluster.first])
        text = " ".join(texts[place].split())
        begin = text[:_SHOWN] + ("…" if len(text) > _SHOWN else "")
        lines.append(f"{cluster.size:>8,} × {result.collected.ids[place]}  {begin}")
    return lines
