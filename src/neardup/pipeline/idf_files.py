"""Documents in, an idf table out: the run of `neardup idf`, and the first pass of others."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from neardup.features.idf import IdfTable
from neardup.fingerprints import Scheme
from neardup.fingerprints.maker import Maker
from neardup.pipeline.inputs import (
    Progress,
    batches_of,
    columns_of,
    documents_of,
    maker_of,
    require_output,
)
from neardup.read import Documents, TermDocuments
from neardup.read.limits import MAX_DOCUMENT
from neardup.rejects import RejectedWriter


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
    progress: Progress | None = None,
) -> IdfSummary:
    """Read documents, count in how many each feature occurs, store the table at `output`.

    Rows that cannot be read go to a file beside it. `text`, `max_document` and `progress` are those
    of `fingerprint_files`.
    """
    started = time.perf_counter()
    documents = documents_of(inputs, scheme, text, id, max_document=max_document)
    require_output(inputs, output)
    with RejectedWriter(beside=output, inputs=inputs) as rejects:
        table = count_documents(documents, maker_of(scheme, threads), progress, rejects)
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
        seconds=time.perf_counter() - started,
    )


def count_documents(
    documents: Documents | TermDocuments,
    maker: Maker,
    progress: Progress | None,
    rejects: RejectedWriter | None = None,
) -> IdfTable:
    """Read every document once and count its features."""
    counter, done = maker.counter(), 0
    for batch in batches_of(documents):
        maker.count(columns_of(batch, maker.scheme), counter)
        if rejects is not None:
            rejects.write(batch.rejected)
        done += len(batch.ids)
        if progress:
            progress(documents.done_bytes, documents.total_bytes, done)
    return counter.table()
