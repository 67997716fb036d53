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
from neardup.fingerprints import Fingerprints, Scheme
from neardup.fingerprints.engine import fingerprint_array
from neardup.fingerprints.store import FingerprintWriter
from neardup.read import Documents
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
    seconds: float

    @property
    def documents_per_second(self) -> float:
        """Documents fingerprinted in a second."""
        return self.documents / self.seconds

    @property
    def megabytes_per_second(self) -> float:
        """Million bytes of UTF-8 text fingerprinted in a second."""
        return self.text_bytes / 1e6 / self.seconds

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        return {
            **asdict(self),
            "documents_per_second": self.documents_per_second,
            "megabytes_per_second": self.megabytes_per_second,
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
    complete or not at all. `progress` is called with the bytes read, the bytes there are (None:
    unknown) and the documents done.
    """
    started = time.perf_counter()
    thread_count = kernels.thread_count(threads)
    documents = Documents(inputs, text=text, id=id)
    _refuse_overwriting_input(inputs, output)
    done = empty = text_bytes = 0
    settings = {"text": text, "id": id}
    with (
        RejectedWriter(beside=output) as rejects,
        FingerprintWriter(output, scheme, settings) as writer,
    ):
        for batch in Prefetched(documents):
            rejects.write(batch.rejected)
            column = batch.documents["text"]
            bits, words = fingerprint_array(column, scheme, thread_count)
            fingerprints = Fingerprints(bits, scheme, words)
            writer.write(fingerprints, batch.documents["id"])
            done += len(fingerprints)
            empty += int(fingerprints.empty.sum())
            text_bytes += pc.sum(pc.binary_length(column)).as_py() or 0
            if progress:
                progress(documents.done_bytes, documents.total_bytes, done)
    return FingerprintSummary(
        scheme=str(scheme),
        output=os.fspath(output),
        rejected_file=rejects.path,
        documents=done,
        empty=empty,
        rejected=rejects.count,
        text_bytes=text_bytes,
        seconds=time.perf_counter() - started,
    )


def _refuse_overwriting_input(inputs: Sequence[str], output: str | os.PathLike[str]) -> None:
    target = Path(output).resolve()
    for name in inputs:
        if "://" not in str(name) and Path(name).resolve() == target:
            raise NeardupError(f"the output {output} is also an input; choose another name for it")
