"""Files in, fingerprints or an idf table out: `neardup fingerprint` and `neardup idf`."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from neardup.collection.rejected import RejectedWriter
from neardup.collection.source import (
    Progress,
    batches_of,
    columns_of,
    documents_of,
    fingerprinter_of,
    require_output,
)
from neardup.features.columns import content_size
from neardup.features.idf import IdfTable
from neardup.fingerprints import Fingerprints, Scheme
from neardup.fingerprints.files import FingerprintWriter
from neardup.fingerprints.fingerprinter import Fingerprinter, required_table
from neardup.read import Documents
from neardup.read.counted import most_common
from neardup.read.limits import MAX_DOCUMENT
from neardup.read.terms.documents import TermDocuments


@dataclass(frozen=True)
class IdfSummary:
    """What a run of `neardup idf` did."""

    counted: str
    content: str
    output: str
    rejected_file: str | None
    documents: int
    features: int
    forgotten: int
    rejected: int
    left_out: int
    files: dict[str, Any]
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        return asdict(self)


def idf_of_files(
    inputs: Sequence[str],
    output: str | os.PathLike[str],
    scheme: Scheme,
    *,
    text: str | None = None,
    id: str | None = None,
    threads: int | None = None,
    max_document: int = MAX_DOCUMENT,
    read_as: str | None = None,
    suffix: str | None = None,
    progress: Progress | None = None,
) -> IdfSummary:
    """Read documents, count in how many each feature occurs, store the table at `output`.

    Rows that cannot be read go to a file beside it. The other arguments are those of
    `fingerprint_files`.
    """
    started = time.perf_counter()
    documents = documents_of(
        inputs, scheme, text, id, max_document=max_document, read_as=read_as, suffix=suffix
    )
    require_output(inputs, output)
    with RejectedWriter(beside=output, inputs=inputs) as rejects:
        table = count_documents(documents, fingerprinter_of(scheme, threads), progress, rejects)
        table.save(output)
    return IdfSummary(
        counted=table.features,
        content=table.content,
        output=os.fspath(output),
        rejected_file=rejects.path,
        documents=table.documents,
        features=len(table),
        forgotten=table.forgotten,
        rejected=rejects.count - rejects.files,
        left_out=rejects.files,
        files={**documents.counted, "left_out": most_common(rejects.why)},
        seconds=time.perf_counter() - started,
    )


def count_documents(
    documents: Documents | TermDocuments,
    fingerprinter: Fingerprinter,
    progress: Progress | None,
    rejects: RejectedWriter | None = None,
) -> IdfTable:
    """Read every document once and count its features."""
    counter, done = fingerprinter.counter(), 0
    for batch in batches_of(documents, fingerprinter.threads):
        fingerprinter.count(columns_of(batch, fingerprinter.scheme), counter)
        if rejects is not None:
            rejects.write(batch.rejected)
        done += len(batch.ids)
        if progress:
            progress(documents.done_bytes, documents.total_bytes, done)
    return counter.table()


@dataclass(frozen=True)
class FingerprintSummary:
    """What a run of `neardup fingerprint` did."""

    scheme: str
    output: str
    rejected_file: str | None
    documents: int
    empty: int
    rejected: int
    left_out: int
    files: dict[str, Any]
    text_bytes: int
    terms: int
    seconds: float

    @property
    def documents_per_second(self) -> float:
        """Documents fingerprinted in a second."""
        return self.documents / self.seconds

    @property
    def megabytes_per_second(self) -> float:
        """Million bytes of UTF-8 text fingerprinted in a second."""
        return self.text_bytes / 1e6 / self.seconds

    @property
    def terms_per_second(self) -> float:
        """Terms summed up in a second, where the documents bring their own."""
        return self.terms / self.seconds

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        return {
            **asdict(self),
            "documents_per_second": self.documents_per_second,
            "megabytes_per_second": self.megabytes_per_second,
            "terms_per_second": self.terms_per_second,
        }


def fingerprint_files(
    inputs: Sequence[str],
    output: str | os.PathLike[str],
    scheme: Scheme,
    *,
    text: str | None = None,
    id: str | None = None,
    idf: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    max_document: int = MAX_DOCUMENT,
    read_as: str | None = None,
    suffix: str | None = None,
    progress: Progress | None = None,
) -> FingerprintSummary:
    """Read documents, fingerprint them, store `id, words, fingerprint` as Parquet at `output`.

    Rows that cannot be read go to a file beside it, named in the summary. Both files appear
    complete or not at all. `text` names the column of texts, or of terms if the scheme
    takes those; the fields of records are in the scheme. Weights by rarity come from the
    saved table `idf` or, without one, from reading the input twice. Documents of more than
    `max_document` bytes are rejected; `read_as` and `suffix` say what is read of the inputs, and as
    what. `progress` is called with
    the bytes read, the bytes there are (None: unknown) and the documents done.
    """
    started = time.perf_counter()
    fingerprinter = fingerprinter_of(scheme, threads)
    twice = scheme.needs_idf and idf is None
    documents = documents_of(
        inputs,
        scheme,
        text,
        id,
        max_document=max_document,
        read_as=read_as,
        suffix=suffix,
        again=twice,
    )
    require_output(inputs if idf is None else [*inputs, idf], output)
    if idf is not None:
        fingerprinter = fingerprinter.weighted_by(required_table(idf, scheme))
    elif twice:
        fingerprinter = fingerprinter.weighted_by(
            count_documents(documents, fingerprinter, progress)
        )
    done = empty = text_bytes = terms = 0
    settings = {"text": text, "id": id}
    with (
        RejectedWriter(beside=output, inputs=inputs) as rejects,
        FingerprintWriter(output, fingerprinter.scheme, settings) as writer,
    ):
        for batch in batches_of(documents, fingerprinter.threads):
            rejects.write(batch.rejected)
            # A batch in which all rows were rejected does not tell the type of the ids.
            if not len(batch.ids):
                continue
            columns = columns_of(batch, scheme)
            rows, words = fingerprinter.rows(columns)
            fingerprints = Fingerprints(rows, fingerprinter.scheme, words, batch.ids)
            writer.write(fingerprints)
            done += len(fingerprints)
            empty += int(fingerprints.empty.sum())
            size = content_size(columns)
            text_bytes += size.text_bytes
            terms += size.terms
            if progress:
                progress(documents.done_bytes, documents.total_bytes, done)
    return FingerprintSummary(
        scheme=str(fingerprinter.scheme),
        output=os.fspath(output),
        rejected_file=rejects.path,
        documents=done,
        empty=empty,
        rejected=rejects.count - rejects.files,
        left_out=rejects.files,
        files={**documents.counted, "left_out": most_common(rejects.why)},
        text_bytes=text_bytes,
        terms=terms,
        seconds=time.perf_counter() - started,
    )
