"""Add, check, query and export files: the work of `neardup index`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import orjson
import pyarrow as pa

from neardup.atomic import replacing, require_apart
from neardup.collection.rejected import RejectedWriter
from neardup.collection.source import Progress, documents_of
from neardup.engines.local import Prefetched
from neardup.errors import InputError
from neardup.fingerprints import Fingerprints
from neardup.fingerprints.files import FingerprintWriter
from neardup.index import Index
from neardup.index.contents import text_of
from neardup.index.disk.damage import damage_told
from neardup.index.entries import Entries, Id, is_text
from neardup.index.lines import Checked
from neardup.index.match import Match
from neardup.kernels.set_index import NEVER
from neardup.read import Batch
from neardup.read.counted import most_common
from neardup.read.limits import MAX_DOCUMENT
from neardup.read.terms.batch import TermBatch


@dataclass(frozen=True)
class AddSummary:
    """The result of `neardup index add`."""

    index: str
    scheme: str
    documents: int
    changed: int
    replaced: int
    renamed: int
    total: int
    rejected: int
    left_out: int
    rejected_file: str | None
    files: dict[str, Any]
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, for JSON."""
        return asdict(self)


def add_files(
    inputs: Sequence[str],
    index: Index,
    *,
    text: str | None = None,
    id: str | None = None,
    metadata: Sequence[str] | Literal["all"] = (),
    ttl: str | None = None,
    replace: bool = False,
    max_document: int = MAX_DOCUMENT,
    read_as: str | None = None,
    suffix: str | None = None,
    progress: Progress | None = None,
    committed: Callable[[int], None] | None = None,
) -> AddSummary:
    """Add the documents of files to an index.

    Documents that are already stored unchanged are skipped, so an interrupted run can be repeated.
    Documents without ids, or all documents with `id="row"`, get ids of file and row and replace
    nothing. A document whose id is in the index with other content is an error, unless `replace`.
    `committed` is called after each commit with the number of documents committed.
    """
    started = time.perf_counter()
    documents = documents_of(
        inputs,
        index.scheme,
        text,
        id,
        columns=metadata,
        max_document=max_document,
        read_as=read_as,
        suffix=suffix,
    )
    seen = 0
    with RejectedWriter(beside=index.path, inputs=inputs) as rejects:

        def batches() -> Iterator[Batch | TermBatch]:
            nonlocal seen
            for batch in Prefetched[Batch | TermBatch](documents):
                rejects.write(batch.rejected)
                yield batch
                seen += len(batch.ids)
                if progress:
                    progress(documents.done_bytes, documents.total_bytes, seen)

        counted = index.add_counted(batches(), ttl=ttl, refuse=not replace, progress=committed)
    return AddSummary(
        os.fspath(index.path),
        str(index.scheme),
        seen,
        counted.stored,
        counted.replaced,
        counted.renamed,
        len(index),
        rejects.count - rejects.files,
        rejects.files,
        rejects.path,
        {**documents.counted, "left_out": most_common(rejects.why)},
        time.perf_counter() - started,
    )


def check_files(
    inputs: Sequence[str],
    index: Index,
    *,
    text: str | None = None,
    id: str | None = None,
    metadata: Sequence[str] | Literal["all"] = (),
    max_document: int = MAX_DOCUMENT,
    read_as: str | None = None,
    suffix: str | None = None,
    **rules: Any,
) -> Iterator[list[Checked]]:
    """Check every document in the files, in order; yields the answers after each commit.

    `rules` are the arguments of `Index.check`. Documents without ids get ids of file and row. A row
    that cannot be read has an answer with the reason, before those of its batch.
    """
    index.check_many([], **rules)  # wrong rules, and an index that cannot be written, raise now
    documents = documents_of(
        inputs,
        index.scheme,
        text,
        id,
        columns=metadata,
        max_document=max_document,
        read_as=read_as,
        suffix=suffix,
    )
    for batch in Prefetched[Batch | TermBatch](documents):
        answers = [
            Checked(None, None, f"{row.file} cannot be read: {row.reason}")
            if row.row is None
            else Checked(f"{row.file}:{row.row}", None, row.reason)
            for row in batch.rejected
        ]
        if len(batch.ids):
            ids = batch.ids if batch.made_ids is None else batch.made_ids()
            verdicts = index.check_many(batch, **rules)
            answers += map(Checked, ids.to_pylist(), verdicts)
        yield answers


def query_files(
    inputs: Sequence[str],
    index: Index,
    *,
    text: str | None = None,
    id: str | None = None,
    max_distance: int | None = None,
    threshold: float | None = None,
    limit: int | None = 10,
    max_document: int = MAX_DOCUMENT,
    read_as: str | None = None,
    suffix: str | None = None,
) -> Iterator[tuple[Id, list[Match]]]:
    """Yield the id and the matches of every document in the files, in order."""
    documents = documents_of(
        inputs, index.scheme, text, id, max_document=max_document, read_as=read_as, suffix=suffix
    )
    for batch in Prefetched[Batch | TermBatch](documents):
        for row in (row for row in batch.rejected if row.row is not None):
            raise InputError(f"{row.file} row {row.row} cannot be queried: {row.reason}")
        if len(batch.ids):
            answers = index.query_many(batch, max_distance, threshold, limit)
            yield from zip(batch.ids.to_pylist(), answers, strict=True)


def export_index(index: Index, output: str | os.PathLike[str]) -> int:
    """Write all documents to a file; return how many.

    Parquet output is a fingerprint file, which `neardup pairs` reads; JSON lines also have
    metadata, texts, and when a document was added and expires, in seconds since 1970.
    """
    require_apart(output, [index.path])
    suffix = Path(output).suffix
    with damage_told(index.path):
        if suffix == ".parquet":
            return _export_fingerprints(index, output)
        if suffix in (".jsonl", ".ndjson"):
            return _export_lines(index, output)
    raise InputError(
        f"{output} must end in .parquet, .jsonl or .ndjson; the suffix selects the format"
    )


def _export_fingerprints(index: Index, output: str | os.PathLike[str]) -> int:
    kinds = {is_text(entries.ids) for entries in index.entries()}
    done = 0
    with FingerprintWriter(output, index.scheme, {"index": os.fspath(index.path)}) as writer:
        for entries in index.entries():
            # A Parquet column has one type: if there are both, numbers become strings.
            ids = entries.ids.cast(pa.string()) if len(kinds) > 1 else entries.ids
            writer.write(Fingerprints(entries.rows, index.scheme, entries.words, ids))
            done += len(entries)
    return done


def _export_lines(index: Index, output: str | os.PathLike[str]) -> int:
    done = 0
    with replacing(output) as unfinished, unfinished.open("wb") as file:
        for entries in index.entries():
            for line in _lines(entries, index):
                file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
            done += len(entries)
    return done


def _lines(entries: Entries, index: Index) -> Iterator[dict[str, Any]]:
    prints = Fingerprints(entries.rows, index.scheme, entries.words).hex()
    for place, (id, words) in enumerate(
        zip(entries.ids.to_pylist(), entries.words.tolist(), strict=True)
    ):
        line = {"id": id, "words": words, "fingerprint": prints[place] if words else None}
        if entries.added is not None and entries.added[place]:
            line["added"] = int(entries.added[place]) / 1000
        if entries.expires is not None and entries.expires[place] != NEVER:
            line["expires"] = int(entries.expires[place]) / 1000
        metadata = b"" if entries.metadata is None else entries.metadata[place].as_py()
        if metadata:
            line["metadata"] = orjson.loads(metadata)
        if index.settings.store_text and entries.contents is not None:
            line["text"] = text_of(entries.contents[place].as_py())
        yield line
