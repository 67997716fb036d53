"""`neardup idf`: documents in, a table of document frequencies out."""

from __future__ import annotations

from pathlib import Path

import click

from neardup.cli import options, stopping
from neardup.cli.command import Command
from neardup.cli.terminal import count, say, say_files, say_json, say_rejected


@click.command(cls=Command)
@options.inputs
@options.output_file
@options.as_json
@options.settings("text", "id", "read_as", "suffix", "max_document")
@options.setting("features", default="word:1")
@options.setting(
    "hash",
    help="Hash family the table is for. One table serves all families, except keyed ones "
    "(nd1:NAME), which need a table of their own.",
)
@options.settings("threads")
def idf(
    inputs: tuple[str, ...],
    output: Path,
    json: bool,
    text: str | None,
    id: str | None,
    read_as: str | None,
    suffix: str | None,
    max_document: str,
    features: str,
    hash: str,
    threads: int | None,
) -> None:
    """Count document frequencies, for weights by rarity (tfidf and idf).

    Writes a table of the number of documents in which each feature occurs, for the option --idf of
    other commands.

    Example: neardup idf corpus.jsonl.gz -o idf.parquet --features word:1
    """
    from neardup.cli.progress import ByteProgress
    from neardup.collection.fingerprint_files import idf_of_files
    from neardup.features.spec import record_fields
    from neardup.fingerprints import Scheme
    from neardup.settings import bytes_of

    scheme = Scheme.of(features, "tfidf", hash=hash, fields=record_fields(text))
    stopping.writes(output)
    with ByteProgress("idf") as progress:
        summary = idf_of_files(
            list(inputs),
            output,
            scheme,
            text=text,
            id=id,
            threads=threads,
            read_as=read_as,
            suffix=suffix,
            max_document=bytes_of(max_document, "max_document"),
            progress=progress,
        )
    if json:
        say_json(summary.to_dict())
        return
    say(
        f"{count(summary.documents, 'document')}, {count(summary.features, 'feature')} "
        f"({summary.counted}) in two or more of them, in {summary.seconds:.2f} s"
    )
    say(f"idf:{summary.content} → {summary.output}")
    if summary.forgotten:
        say(
            f"features of up to {count(summary.forgotten, 'document')} may be missing: "
            "there were too many to count them all",
            err=True,
        )
    say_files(summary.files)
    say_rejected(summary.rejected, summary.left_out, summary.rejected_file)
