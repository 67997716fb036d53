"""`neardup contamination`: which items of benchmarks occur in a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options, stopping
from neardup.cli.command import Command
from neardup.cli.terminal import count, plain_console, say, say_json, say_rejected, size

if TYPE_CHECKING:
    from neardup.parts.contamination.result import ContaminationResult

_REMOVALS = ("documents", "passages")
_WORST = 10
_SHOWN = 60


@click.command(cls=Command)
@options.argument(
    "inputs",
    "The corpus: files, folders, globs, URLs, or - for standard input.",
    metavar="CORPUS...",
    nargs=-1,
    required=True,
)
@options.option(
    "--benchmark",
    metavar="INPUT",
    multiple=True,
    required=True,
    help="Items to look for: a file in any format that is read, a folder, a glob or a URL. "
    "Repeatable.",
)
@options.path("--output", "-o", required=True, help="Folder to write.")
@options.overwrite
@options.option(
    "--min-words",
    type=int,
    default=8,
    help="Words of a hit, at least. Items with fewer words, but at least 5, hit only as a whole.",
)
@options.option(
    "--max-items",
    type=int,
    default=100,
    help="Words that more items than this have in common are no hit by themselves.",
)
@options.option(
    "--benchmark-text",
    metavar="COL[+COL]",
    note="text, or all columns of texts",
    help="Columns of the benchmarks with the text of an item, such as question+choices. A run of "
    "words never crosses columns.",
)
@options.option(
    "--remove",
    metavar="NAME",
    shell_complete=options.one_of(_REMOVALS),
    help="Also write the corpus without contaminated documents, or without passages: the sentences "
    "that hits are in.",
)
@options.option(
    "--remove-share",
    type=float,
    note="0.5",
    help="With --remove: remove for items of which a document has at least this share.",
)
@options.row_format("the rows of --remove")
@options.quiet
@options.as_json
@options.progress
@options.settings("text", "id", "read_as", "suffix", "max_document", "threads")
@click.pass_context
def contamination(
    context: click.Context,
    /,
    inputs: tuple[str, ...],
    benchmark: tuple[str, ...],
    output: Path,
    overwrite: bool,
    min_words: int,
    max_items: int,
    benchmark_text: str | None,
    remove: str | None,
    remove_share: float | None,
    format: str,
    quiet: bool,
    json: bool,
    progress: str,
    **_settings: Any,
) -> None:
    """Find the items of benchmarks that occur in the documents of a corpus.

    An item occurs in a document if both have the same words in a row, at least --min-words of them,
    whatever their case, punctuation and line breaks. Writes the hits, the items, the documents, a
    summary and a report in HTML to a folder. Memory depends on the benchmarks alone.

    Example: neardup contamination corpus.jsonl.gz --benchmark test.jsonl -o out
    """
    from neardup.atomic import require_apart
    from neardup.cli.progress import Stages
    from neardup.collection.source import FileSource
    from neardup.deduplication.save import require_format
    from neardup.errors import SettingError
    from neardup.kernels.machine import keep_freed_memory
    from neardup.parts.contamination.items import open_files
    from neardup.parts.contamination.run import FOLDER, find_contamination
    from neardup.parts.contamination.settings import ContaminationSettings

    settings = ContaminationSettings.of(
        min_words=min_words,
        max_items=max_items,
        remove=remove,
        remove_share=remove_share,
        benchmark_text=benchmark_text,
        **options.given_settings(context),
    )
    require_format(format)
    if isinstance(output, options.UrlPath):
        raise SettingError(f"{output.url}: the output is a folder of this machine; name one")
    require_apart(output, [*inputs, *benchmark])
    FOLDER.require_free(output, overwrite=overwrite)
    keep_freed_memory()
    stopping.writes(output)
    with Stages(quiet=quiet or json, progress=progress) as stages:
        result = find_contamination(
            FileSource(list(inputs), settings.reader),
            open_files(benchmark, settings),
            settings,
            output=output,
            overwrite=overwrite,
            format=format,
            stage=stages,
        )
    if json:
        say_json(result.summary)
    elif not quiet:
        _print(result, output)


def _print(result: ContaminationResult, output: Path) -> None:
    from neardup.parts.contamination.page import common_lines, headline

    summary = result.summary
    say(headline(summary))
    _print_benchmarks(result)
    first, *examples = common_lines(summary) or [""]
    if first:
        say(first)
        for example in examples:
            say(f"  {example}")
    if result.worst:
        say("The most contaminated items: share, words in a row, documents, item, words, document")
    for one in result.worst[:_WORST]:
        say(_line(one))
    _print_removed(summary)
    say(f"{_spent(summary)}, peak memory {size(int(summary['peak_megabytes'] * 1e6))}")
    say_rejected(summary["rejected"], summary["left_out"], output / "rejected.jsonl")
    say(f"hits.parquet, items.parquet, documents.parquet, report.html → {output}")


def _print_benchmarks(result: ContaminationResult) -> None:
    from rich.table import Table

    from neardup.visible import visible

    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
    table.add_column("benchmark")
    table.add_column("columns")
    for heading in ("items", "in part", "≥ 0.5", "≥ 0.8", "whole", "too short"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in result.benchmarks:
        counts = (one[name] for name in ("items", "hit", "half", "most", "whole", "too_short"))
        columns = ", ".join(one["columns"])
        table.add_row(visible(one["name"]), visible(columns), *(f"{n:,}" for n in counts))
    plain_console().print(table)


def _line(one: Any) -> str:
    from neardup.parts.contamination.page import shown_share

    text = " ".join(one.run.split())
    begin = text[:_SHOWN] + ("…" if len(text) > _SHOWN else "")
    return (
        f"  {shown_share(one.share)} {one.longest:>5,} {one.documents:>6,}  {one.benchmark} "
        f"{one.item}  “{begin}” → {one.document}"
    )


def _print_removed(summary: dict[str, Any]) -> None:
    if "removed_documents" in summary:
        say(
            f"{count(summary['removed_documents'], 'document')} removed, "
            f"{summary['documents'] - summary['removed_documents']:,} kept"
        )
    elif "removed_passages" in summary:
        say(
            f"{count(summary['removed_passages'], 'passage')} cut out of "
            f"{count(summary['changed_documents'], 'document')}, "
            f"{size(summary['removed_bytes'])} → removed_passages.parquet"
        )


def _spent(summary: dict[str, Any]) -> str:
    return ", ".join(f"{stage} {spent:.2f} s" for stage, spent in summary["seconds"].items())
