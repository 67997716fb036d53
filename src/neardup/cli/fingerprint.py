"""`neardup fingerprint`: documents in, fingerprints out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup.cli import options
from neardup.cli.quantities import count, rejected_line, size
from neardup.cli.terminal import say, say_json

if TYPE_CHECKING:
    from neardup.collection.fingerprint_files import FingerprintSummary


def fingerprint(
    inputs: options.Inputs,
    output: options.OutputFile,
    text: options.Text = None,
    id: options.Id = None,
    features: options.Features = "word:3",
    weights: options.Weights = None,
    idf: options.Idf = None,
    bits: options.Bits = 64,
    hash: options.Hash = "nd1",
    tie: options.Tie = ">0",
    projection: options.Projection = None,
    max_document: options.MaxDocument = "64MB",
    threads: options.Threads = None,
    json: options.Json = False,
) -> None:
    """Give every document a fingerprint: id, words, fingerprint, as Parquet.

    Example: neardup fingerprint corpus.jsonl.gz -o fps.parquet
    """
    from neardup.cli import stopping
    from neardup.cli.progress import ByteProgress
    from neardup.collection.fingerprint_files import fingerprint_files
    from neardup.features.spec import record_fields
    from neardup.fingerprints import Scheme
    from neardup.pairs.memory import bytes_of

    scheme = Scheme.of(features, weights, bits, hash, tie, projection, record_fields(text))
    stopping.writes(output)
    with ByteProgress("fingerprint") as progress:
        summary = fingerprint_files(
            inputs,
            output,
            scheme,
            text=text,
            id=id,
            idf=idf,
            threads=threads,
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
    if summary.rejected:
        say(rejected_line(summary.rejected, summary.rejected_file), err=True)
    if summary.left_out:
        say(f"{count(summary.left_out, 'file')} left out → {summary.rejected_file}", err=True)
