"""The input of a run as columns, and the fingerprinter for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from neardup import kernels
from neardup.atomic import require_apart, require_writable
from neardup.engines.local import Prefetched
from neardup.features.columns import DocumentColumns, GivenTerms
from neardup.features.spec import TextColumn
from neardup.fingerprints import Scheme
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.hashes import hash_family
from neardup.read import Batch, Documents, TermBatch, TermDocuments
from neardup.read.limits import MAX_DOCUMENT

Progress = Callable[[int, int | None, int], None]


def fingerprinter_of(scheme: Scheme, threads: int | None) -> Fingerprinter:
    """The fingerprinter of a scheme."""
    return Fingerprinter(scheme, hash_family(scheme.hash), kernels.thread_count(threads))


def documents_of(
    inputs: Sequence[str],
    scheme: Scheme,
    text: str | None,
    id: str | None,
    *,
    columns: Sequence[str] | Literal["all"] = (),
    max_document: int = MAX_DOCUMENT,
    again: bool = False,
) -> Documents | TermDocuments:
    """The input as the scheme needs it: texts, records or terms.

    `columns` are read along with texts and records. With `again` the input can be read more than
    once, even standard input or a pipe.
    """
    if scheme.features.are_given:
        return TermDocuments(inputs, terms=text, id=id, max_document=max_document, again=again)
    fields = scheme.fields.names if scheme.fields is not None else ()
    return Documents(
        inputs,
        text=None if fields else text,
        fields=fields,
        id=id,
        columns=columns,
        max_document=max_document,
        again=again,
    )


def batches_of(documents: Documents | TermDocuments) -> Iterable[Batch | TermBatch]:
    """The batches of the input, read ahead in a thread."""
    batches: Iterable[Batch | TermBatch] = documents
    return Prefetched(batches)


def columns_of(batch: Batch | TermBatch, scheme: Scheme) -> DocumentColumns:
    """The content of a batch, for the fingerprinter."""
    if isinstance(batch, TermBatch):
        return GivenTerms(batch.terms, batch.weights)
    if scheme.fields is not None:
        return list(map(TextColumn, batch.fields, scheme.fields.fields))
    return [TextColumn(batch.documents["text"])]


def require_output(
    inputs: Sequence[str | os.PathLike[str]], *outputs: str | os.PathLike[str]
) -> None:
    """Refuse outputs that cannot be written or overlap with an input, before any work."""
    for output in outputs:
        require_apart(output, inputs)
        require_writable(output)
