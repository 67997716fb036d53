"""Whole runs, top to bottom: what the commands do, as functions."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from neardup import kernels
from neardup.engines.local import Prefetched
from neardup.errors import NeardupError
from neardup.features.given import given_terms
from neardup.fingerprints import Fingerprints, Scheme
from neardup.fingerprints.engine import fingerprint_array, fingerprint_terms
from neardup.fingerprints.store import FingerprintWriter
from neardup.hashes import HashFamily, hash_family
from neardup.read import Batch, Documents, Rejected, TermBatch, TermDocuments
from neardup.rejects import RejectedWriter

Progress = Callable[[int, int | None, int], None]


@dataclass(frozen=True)
class FingerprintSummary:
    """What a run of `neardup fingerprint` did."""

    scheme: str
    output: str
    rejected_file: str | None
    documents: int
    empty: int
    rejected: int
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
    threads: int | None = None,
    progress: Progress | None = None,
) -> FingerprintSummary:
    """Read documents, fingerprint them, store `id, words, fingerprint` as Parquet at `output`.

    Rows that cannot be read go to a file beside it, named in the summary. Both files appear
    complete or not at all. `text` names the column of texts, or of terms if that is what
    the scheme is made of. `progress` is called with the bytes read, the bytes there are (None:
    unknown) and the documents done.
    """
    started = time.perf_counter()
    work = _Work(scheme, hash_family(scheme.hash), kernels.thread_count(threads))
    documents: Documents | TermDocuments
    if scheme.features.are_given:
        documents = TermDocuments(inputs, terms=text, id=id)
        parts = map(work.of_terms, Prefetched(documents))
    else:
        documents = Documents(inputs, text=text, id=id)
        parts = map(work.of_texts, Prefetched(documents))
    _refuse_overwriting_input(inputs, output)
    done = empty = 0
    settings = {"text": text, "id": id}
    with (
        RejectedWriter(beside=output) as rejects,
        FingerprintWriter(output, scheme, settings) as writer,
    ):
        for rejected, fingerprints in parts:
            rejects.write(rejected)
            writer.write(fingerprints)
            done += len(fingerprints)
            empty += int(fingerprints.empty.sum())
            if progress:
                progress(documents.done_bytes, documents.total_bytes, done)
    return FingerprintSummary(
        scheme=str(scheme),
        output=os.fspath(output),
        rejected_file=rejects.path,
        documents=done,
        empty=empty,
        rejected=rejects.count,
        text_bytes=work.text_bytes,
        terms=work.terms,
        seconds=time.perf_counter() - started,
    )


@dataclass
class _Work:
    """Batches as they are read → fingerprints with their ids; what went through is added up."""

    scheme: Scheme
    family: HashFamily
    threads: int
    text_bytes: int = 0
    terms: int = 0

    def of_texts(self, batch: Batch) -> tuple[tuple[Rejected, ...], Fingerprints]:
        column = batch.documents["text"]
        rows, words = fingerprint_array(column, self.scheme, self.family, self.threads)
        self.text_bytes += pc.sum(pc.binary_length(column)).as_py() or 0
        return batch.rejected, Fingerprints(rows, self.scheme, words, batch.documents["id"])

    def of_terms(self, batch: TermBatch) -> tuple[tuple[Rejected, ...], Fingerprints]:
        terms = given_terms(batch.terms, batch.weights, self.scheme.weights)
        rows = fingerprint_terms(terms, self.scheme, self.family, self.threads)
        self.terms += int(terms.words.sum())
        return batch.rejected, Fingerprints(rows, self.scheme, terms.words, batch.ids)


def _refuse_overwriting_input(inputs: Sequence[str], output: str | os.PathLike[str]) -> None:
    target = Path(output).resolve()
    for name in inputs:
        if "://" not in str(name) and Path(name).resolve() == target:
            raise NeardupError(f"the output {output} is also an input; choose another name for it")
