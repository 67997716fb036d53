"""`neardup idf`: documents in, a table of document frequencies out."""

from __future__ import annotations

from typing import Annotated

import typer

from neardup.cli import options
from neardup.cli.quantities import count, rejected_line
from neardup.cli.terminal import say, say_json


def idf(
    inputs: options.Inputs,
    output: options.OutputFile,
    text: options.Text = None,
    id: options.Id = None,
    features: options.Features = "word:1",
    hash: Annotated[
        str,
        typer.Option(
            help="The hash family that the table is for. One table serves all of them, but for "
            "keyed ones (nd1:NAME), which need their own."
        ),
    ] = "nd1",
    max_document: options.MaxDocument = "64MB",
    threads: options.Threads = None,
    json: options.Json = False,
) -> None:
    """Count in how many documents each feature occurs, to weigh later documents alike.

    Example: neardup idf corpus.jsonl.gz -o idf.parquet --features word:1
    """
    from neardup.cli import stopping
    from neardup.cli.progress import ByteProgress
    from neardup.collection.fingerprint_files import idf_of_files
    from neardup.features.spec import record_fields
    from neardup.fingerprints import Scheme
    from neardup.pairs.memory import bytes_of

    scheme = Scheme.of(features, "tfidf", hash=hash, fields=record_fields(text))
    stopping.writes(output)
    with ByteProgress("idf") as progress:
        summary = idf_of_files(
            inputs,
            output,
            scheme,
            text=text,
            id=id,
            threads=threads,
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
    if summary.rejected:
        say(rejected_line(summary.rejected, summary.rejected_file), err=True)
    if summary.left_out:
        say(f"{count(summary.left_out, 'file')} left out → {summary.rejected_file}", err=True)
