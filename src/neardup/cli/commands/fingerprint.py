"""`neardup fingerprint`: documents in, fingerprints out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options, stopping
from neardup.cli.command import Command
from neardup.cli.terminal import count, say, say_files, say_json, say_rejected, size

if TYPE_CHECKING:
    from neardup.collection.fingerprint_files import FingerprintSummary


@click.command(cls=Command)
@options.inputs
@options.output_file
@options.as_json
@options.settings("text", "id", "read_as", "suffix", "max_document")
@options.settings("features", "weights")
@options.idf
@options.settings("bits", "hash", "tie", "projection")
@options.settings("threads")
def fingerprint(
    inputs: tuple[str, ...],
    output: Path,
    json: bool,
    text: str | None,
    id: str | None,
    read_as: str | None,
    suffix: str | None,
    max_document: str,
    idf: Path | None,
    threads: int | None,
    **recipe: Any,
) -> None:
    """Compute the fingerprints of documents.

    Writes a Parquet file with the columns id, words and fingerprint.

    Example: neardup fingerprint corpus.jsonl.gz -o fps.parquet
    """
    from neardup.cli.progress import ByteProgress
    from neardup.collection.fingerprint_files import fingerprint_files
    from neardup.features.spec import record_fields
    from neardup.fingerprints import Scheme
    from neardup.settings import bytes_of

    scheme = Scheme.of(**recipe, fields=record_fields(text))
    stopping.writes(output)
    with ByteProgress("fingerprint") as progress:
        summary = fingerprint_files(
            list(inputs),
            output,
            scheme,
            text=text,
            id=id,
            idf=idf,
            threads=threads,
            read_as=read_as,
            suffix=suffix,
            max_document=bytes_of(max_document, "max_document"),
            progress=progress,
        )
    if json:
        say_json(summary.to_dict())
    else:
        _print(summary)


def _print(summary: FingerprintSummary) -> None:
    documents = count(summary.documents, "document")
    if summary.empty:
        documents += f" ({summary.empty:,} empty)"
    if summary.terms:
        amount, rate = count(summary.terms, "term"), f"{summary.terms_per_second:,.0f} terms/s"
    else:
        amount = f"{size(summary.text_bytes)} of text"
        rate = f"{summary.megabytes_per_second:,.1f} MB/s"
    say(
        f"{documents}, {amount}, in {summary.seconds:.2f} s: "
        f"{summary.documents_per_second:,.0f} documents/s, {rate}"
    )
    say(f"{summary.scheme} → {summary.output}")
    say_files(summary.files)
    say_rejected(summary.rejected, summary.left_out, summary.rejected_file)
