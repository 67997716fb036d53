"""`neardup dedup`: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neardup.cli import options
from neardup.cli.chosen import chosen_options
from neardup.cli.quantities import count, size
from neardup.cli.terminal import say, say_json

if TYPE_CHECKING:
    from neardup.deduplication.result import Result

_LARGEST = 5
_SHOWN = 60
_SETTINGS = (
    *("text", "id", "features", "weights", "bits", "hash", "tie", "projection", "similarity"),
    *("threshold", "candidates", "recall", "keep", "cluster", "memory", "threads"),
    "max_document",
)


def dedup(
    context: typer.Context,
    inputs: options.Inputs,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            parser=options.path,
            metavar="PATH",
            help="The folder to write.",
            show_default=False,
        ),
    ],
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="INPUT",
            help="Another collection, or an index: what is near anything in it goes, and nothing "
            "else.",
        ),
    ] = None,
    index: Annotated[
        Path | None,
        typer.Option(
            parser=options.path,
            metavar="PATH",
            help="An index to add what is kept to; made if need be.",
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(help="The settings of a known system; `neardup presets` lists them."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            parser=options.path,
            metavar="PATH",
            help="A settings file, as `neardup tune` writes it; options go before it, and it goes "
            "before a preset.",
            show_default="none",
        ),
    ] = None,
    text: options.Text = None,
    id: options.Id = None,
    features: options.Features = "word:3",
    weights: options.Weights = None,
    bits: options.Bits = 64,
    hash: options.Hash = "nd1",
    tie: options.Tie = ">0",
    projection: options.Projection = None,
    similarity: Annotated[
        str | None,
        typer.Option(
            help="jaccard, weighted-jaccard, cosine, or hamming.",
            show_default="jaccard; what fits the weights, if they are others",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="The least similarity of near-duplicates; for hamming, the most bits that differ.",
            show_default="0.8",
        ),
    ] = None,
    candidates: Annotated[
        str, typer.Option(help="How to search: auto, exact, or a plan such as bands:40x16.")
    ] = "auto",
    recall: Annotated[
        float, typer.Option(help="The share of pairs at the threshold that a plan must find.")
    ] = 0.99,
    keep: Annotated[
        str, typer.Option(help="Which copy stays: first, longest, shortest, max:COL or min:COL.")
    ] = "first",
    cluster: Annotated[
        str,
        typer.Option(
            help="components: all that hangs together; star: only what is directly similar to "
            "the kept one."
        ),
    ] = "components",
    memory: Annotated[
        str,
        typer.Option(
            help="Memory to use, such as 8GB; features that do not fit go to a temporary file."
        ),
    ] = "2GB",
    format: Annotated[
        str, typer.Option(help="How kept rows are written: parquet, jsonl or csv.")
    ] = "parquet",
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", help="Replace a folder that an earlier run wrote; no other is replaced."
        ),
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Rows that cannot be read are an error.")
    ] = False,
    max_document: options.MaxDocument = "64MB",
    threads: options.Threads = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
    json: options.Json = False,
) -> None:
    """Find near-duplicates, keep one of each, and write the proof.

    Example: neardup dedup corpus.jsonl.gz -o out --threshold 0.8
    """
    from neardup.atomic import require_apart
    from neardup.cli import stopping
    from neardup.cli.stages import Stages
    from neardup.collection.settings import DedupSettings, settings_in
    from neardup.collection.source import FileSource
    from neardup.deduplication.run import deduplicate, stored_source
    from neardup.deduplication.save import FOLDER, require_format
    from neardup.errors import InputError

    chosen = chosen_options(context, _SETTINGS)
    stored = {} if config is None else settings_in(config)
    settings = DedupSettings.of(preset=preset, **{**stored, **chosen})
    require_format(format)
    others = [place for place in (index, config) if place is not None]
    require_apart(output, [*inputs, *(against or []), *others])
    FOLDER.require_free(output, overwrite=overwrite)
    if index is not None:
        from neardup.deduplication.to_index import require_fitting_index

        require_fitting_index(settings, index)
    stopping.writes(output)
    with Stages(quiet=quiet or json) as stages:
        old = stored_source(against, settings) if against else None
        result = deduplicate(FileSource(inputs, settings), settings, old, stages)
        rejected = result.collected.rejected
        if strict and rejected:
            row = next(iter(rejected))
            place = row.file if row.row is None else f"{row.file}, row {row.row}"
            raise InputError(
                f"{count(len(rejected), 'row')} cannot be read, the first in {place}: "
                f"{row.reason}; {output} was not written"
            )
        stages("output")
        result.save(output, overwrite=overwrite, format=format)
        if index is not None:
            from neardup.deduplication.to_index import leave_index

            stages("index")
            leave_index(result, index, stopping.adds_to(index, f"{output} was written, "))
    if json:
        say_json(result.summary)
    elif not quiet:
        _print(result, output)


def _print(result: Result, output: Path) -> None:
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
        f"{count(summary['pairs'], 'pair')} of {result.settings.similarity} "
        f"{_limit(result)} among {count(summary['candidates'], 'candidate')}, all verified"
    )
    stages = ", ".join(f"{stage} {spent:.2f} s" for stage, spent in summary["seconds"].items())
    say(f"{stages}; {size(int(summary['peak_megabytes'] * 1e6))} at the most")
    say(summary["reason"])
    for line in _largest(result):
        say(line)
    if summary["rejected"]:
        say(f"{count(summary['rejected'], 'row')} rejected → {output / 'rejected.jsonl'}", err=True)
    if summary["left_out"]:
        say(
            f"{count(summary['left_out'], 'file')} left out → {output / 'rejected.jsonl'}", err=True
        )
    say(f"{result.scheme} → {output}")


def _limit(result: Result) -> str:
    threshold = result.settings.threshold
    return f"≤ {threshold:.0f}" if result.settings.similarity == "hamming" else f"≥ {threshold:g}"


def _largest(result: Result) -> list[str]:
    """The largest clusters in a line each: size, and how the kept document begins."""
    from neardup.deduplication.page import largest_clusters

    lines = []
    for cluster in largest_clusters(result, _LARGEST):
        place = int(result.groups.place[cluster.first])
        text = " ".join(result.texts[place].split())
        begin = text[:_SHOWN] + ("…" if len(text) > _SHOWN else "")
        lines.append(f"{cluster.size:>8,} × {result.collected.ids[place]}  {begin}")
    return lines
