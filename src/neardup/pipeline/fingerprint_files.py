"""Documents in, fingerprints out: the run of `neardup fingerprint`."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from neardup.fingerprints import Fingerprints, Scheme
from neardup.fingerprints.engine import required_table
from neardup.fingerprints.store import FingerprintWriter
from neardup.pipeline.idf_files import count_documents
from neardup.pipeline.inputs import (
    Progress,
    batches_of,
    columns_of,
    content_size,
    documents_of,
    maker_of,
    require_output,
)
from neardup.read.limits import MAX_DOCUMENT
from neardup.rejects import RejectedWriter


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
    progress: Progress | None = None,
) -> FingerprintSummary:
    """Read documents, fingerprint them, store `id, words, fingerprint` as Parquet at `output`.

    Rows that cannot be read go to a file beside it, named in the summary. Both files appear
    complete or not at all. `text` names the column of texts, or of terms if that is what the
    scheme is made of; the fields of records are in the scheme. Weights by tf-idf come from the
    saved table `idf` or, without one, from reading the input twice. Documents of more than
    `max_document` bytes are rejected. `progress` is called with
    the bytes read, the bytes there are (None: unknown) and the documents done.
    """
    started = time.perf_counter()
    maker = maker_of(scheme, threads)
    twice = scheme.needs_idf and idf is None
    documents = documents_of(inputs, scheme, text, id, max_document=max_document, again=twice)
    require_output(inputs if idf is None else [*inputs, idf], output)
    if idf is not None:
        maker = maker.weighted_by(required_table(idf, scheme))
    elif twice:
        maker = maker.weighted_by(count_documents(documents, maker, progress))
    done = empty = text_bytes = terms = 0
    settings = {"text": text, "id": id}
    with (
        RejectedWriter(beside=output, inputs=inputs) as rejects,
        FingerprintWriter(output, maker.scheme, settings) as writer,
    ):
        for batch in batches_of(documents):
            rejects.write(batch.rejected)
            # Rows that were all rejected do not tell of what kind the ids are.
            if not len(batch.ids):
                continue
            columns = columns_of(batch, scheme)
            rows, words = maker.rows(columns)
            fingerprints = Fingerprints(rows, maker.scheme, words, batch.ids)
            writer.write(fingerprints)
            done += len(fingerprints)
            empty += int(fingerprints.empty.sum())
            size = content_size(columns)
            text_bytes += size.text_bytes
            terms += size.terms
            if progress:
                progress(documents.done_bytes, documents.total_bytes, done)
    return FingerprintSummary(
        scheme=str(maker.scheme),
        output=os.fspath(output),
        rejected_file=rejects.path,
        documents=done,
        empty=empty,
        rejected=rejects.count - rejects.files,
        left_out=rejects.files,
        text_bytes=text_bytes,
        terms=terms,
        seconds=time.perf_counter() - started,
    )
