"""`neardup passages`: text that occurs in several documents."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from neardup.cli import options, stopping
from neardup.cli.command import Command
from neardup.cli.terminal import count, say, say_files, say_json, say_rejected, size

_SHOWN, _EXCERPT = 10, 72


@click.command(cls=Command)
@options.inputs
@options.path("--output", "-o", required=True, help="Folder to write.")
@options.overwrite
@options.option(
    "--unit",
    metavar="NAME",
    default="paragraph",
    shell_complete=options.one_of(("paragraph", "sentence", "line", "window:50")),
    help="What a passage is: paragraph, sentence, line, or window:N (whole sentences of about N "
    "words).",
)
@options.setting(
    "threshold",
    default=0.9,
    help="Minimum similarity of passages that are nearly the same (Jaccard, of runs of three "
    "words); 1 finds passages of the same words only.",
)
@options.option(
    "--scope",
    metavar="all|COL",
    default="all",
    help="Compare all documents, or only those with the same value of a column.",
)
@options.option(
    "--remove",
    metavar="WHICH",
    note="nothing",
    shell_complete=options.one_of(("all-but-first", "all", "boilerplate:10")),
    help="Write the documents without these passages: all-but-first (from every document but one), "
    "all, or boilerplate:N (from all documents, if they occur in N or more).",
)
@options.option(
    "--min-words", type=int, default=5, help="Passages of fewer words are not looked at."
)
@options.setting(
    "keep",
    help="Which document keeps a passage: first, longest, shortest, max:COL or min:COL.",
)
@options.row_format("the kept rows")
@options.quiet
@options.as_json
@options.progress
@options.settings("text", "id", "read_as", "suffix", "max_document", "memory", "threads")
def passages(
    inputs: tuple[str, ...],
    output: Path,
    overwrite: bool,
    unit: str,
    threshold: float,
    scope: str,
    remove: str | None,
    min_words: int,
    keep: str,
    format: str,
    quiet: bool,
    json: bool,
    progress: str,
    **reading: Any,
) -> None:
    """Find passages that occur in several documents, and remove them on request.

    Shows the largest pieces of boilerplate, exact or with small differences. Writes every family of
    passages, where each occurs, and a report in HTML to a folder.

    Example: neardup passages pages.jsonl -o out --remove boilerplate:20
    """
    from neardup.atomic import require_apart
    from neardup.cli.progress import Stages
    from neardup.collection.source import FileSource
    from neardup.deduplication.save import require_format
    from neardup.kernels.machine import keep_freed_memory
    from neardup.parts.passages.run import find_passages
    from neardup.parts.passages.save import FOLDER, save
    from neardup.parts.passages.settings import PassageSettings

    settings = PassageSettings.of(
        unit=unit,
        threshold=threshold,
        scope=scope,
        remove=remove,
        min_words=min_words,
        keep=keep,
        **reading,
    )
    require_format(format)
    require_apart(output, inputs)
    FOLDER.require_free(output, overwrite=overwrite)
    keep_freed_memory()
    stopping.writes(output)
    with Stages(quiet=quiet or json, progress=progress) as stages:
        result = find_passages(FileSource(list(inputs), settings.reading), settings, stages)
        saved = save(
            result,
            output,
            overwrite=overwrite,
            format=format,
            command=shlex.join(["neardup", *sys.argv[1:]]),
            progress=stages("output"),
        )
    if json:
        say_json({**saved.summary, "largest": saved.largest[:_SHOWN]})
    elif not quiet:
        _print(saved.summary, saved.largest, output)


def _print(summary: Mapping[str, Any], largest: list[dict[str, Any]], output: Path) -> None:
    settings = summary["settings"]
    noun = "window" if settings["unit"].startswith("window") else settings["unit"]
    say_files(summary.get("files"))
    say(
        f"{count(summary['documents'], 'document')} with {count(summary['passages'], noun)}: "
        f"{summary['repeated_passages']:,} of them occur in several documents, in "
        f"{summary['families']:,} {'family' if summary['families'] == 1 else 'families'}; "
        f"{size(summary['repeated_bytes'])} of {size(summary['text_bytes'])} of text are repeated"
    )
    if largest:
        say("The largest pieces of boilerplate:")
        say(f"{'documents':>10}  {'repeated':>9}  text")
    for family in largest[:_SHOWN]:
        text = " ".join(family["text"].split())
        begin = text[:_EXCERPT] + ("…" if len(text) > _EXCERPT else "")
        say(f"{family['documents']:>10,}  {size(family['repeated_bytes']):>9}  {begin}")
    if settings["remove"] is not None:
        say(
            f"{count(summary['removed_passages'], 'passage')} removed "
            f"({size(summary['removed_bytes'])}) from "
            f"{count(summary['changed_documents'], 'document')}, of which "
            f"{summary['emptied_documents']:,} are empty now"
        )
    say_rejected(summary["rejected"], summary["left_out"], output / "rejected.jsonl")
    seconds = sum(summary["seconds"].values())
    peak = size(int(summary["peak_megabytes"] * 1e6))
    say(f"{seconds:.2f} s in all, peak memory {peak}")
    say(f"→ {output / 'report.html'}, families.parquet, passages.parquet")
