"""The passages of a collection, numbered through, batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.rejected import RejectedRows
from neardup.collection.source import DocumentBatch, Progress, RowBatch, Source
from neardup.engines.local import Mapped
from neardup.errors import InputError
from neardup.features.columns import DocumentColumns, GivenTerms
from neardup.frozen import dataclass
from neardup.kernels import thread_count
from neardup.kernels.passages import Passages, cut_passages, word_keys
from neardup.parts.passages.settings import PassageSettings

_MOST_BATCHES_AT_ONCE = 4
_LARGE_BATCH = 16 << 20
_NO_KEYS = (np.zeros(0, np.uint32), np.zeros((0, 2), np.uint64))
Batch = DocumentBatch | RowBatch
Scopes = NDArray[np.uint64]  # of documents or passages: the same number in the same scope


@dataclass(frozen=True, eq=False)
class CutBatch:
    """Documents with their passages; the numbers of the first document and the first passage.

    `words` and `keys` are those of the passages, where they were wanted.
    """

    batch: Batch
    passages: Passages
    words: NDArray[np.uint32]
    keys: NDArray[np.uint64]
    first_document: int = 0
    first_passage: int = 0

    @property
    def documents(self) -> NDArray[np.int64]:
        """The number of the document of each passage."""
        counts = np.diff(self.passages.documents)
        return self.first_document + np.repeat(np.arange(len(counts)), counts)


@dataclass(frozen=True, eq=False)
class Read:
    """What is known of a collection after it was read once.

    `words` are the words of each document, `first_passages` the number of its first passage.
    """

    ids: pa.Array
    words: NDArray[np.uint32]
    first_passages: NDArray[np.int64]
    passages: int
    text_bytes: int
    rejected: RejectedRows

    def __len__(self) -> int:
        return len(self.words)


def texts_of(columns: DocumentColumns) -> pa.Array:
    """The texts of a batch."""
    if isinstance(columns, GivenTerms) or len(columns) > 1:
        raise InputError("passages are parts of texts; name one column of text")
    return columns[0].texts if columns else pa.nulls(0, pa.large_string())


def cut_batches(
    batches: Iterable[Batch], settings: PassageSettings, *, with_keys: bool
) -> Iterator[CutBatch]:
    """Cut the texts of batches into passages; threads take a batch each."""
    threads = min(thread_count(settings.reading.threads), _MOST_BATCHES_AT_ONCE)

    def cut(batch: Batch) -> CutBatch:
        texts = texts_of(batch.columns)
        if texts.null_count:
            texts = texts.fill_null("")
        passages = cut_passages(texts, unit=settings.unit, window=settings.window)
        words, keys = word_keys(passages.texts) if with_keys else _NO_KEYS
        return CutBatch(batch, passages, words, keys)

    def is_large(batch: Batch) -> bool:
        return bool(texts_of(batch.columns).nbytes > _LARGE_BATCH)

    first_document = first_passage = 0
    for made in Mapped(cut, batches, threads, purpose="read the input", large=is_large):
        yield replace(made, first_document=first_document, first_passage=first_passage)
        first_document += len(made.passages.documents) - 1
        first_passage += len(made.passages)


def scopes_of(source: Source, column: str, progress: Progress | None) -> Scopes:
    """A number for each document, the same where a column has the same value."""
    import xxhash

    known: dict[object, int] = {}
    parts: list[NDArray[np.uint64]] = []
    found = False
    others: dict[str, None] = {}
    for batch in source.rows():
        names = batch.rows.schema.names
        others.update(dict.fromkeys(names))
        found |= column in names
        values = batch.rows[column].to_pylist() if column in names else [None] * len(batch.rows)
        for value in {repr(value) for value in values} - known.keys():
            known[value] = xxhash.xxh3_64_intdigest(value.encode("utf-8", "surrogatepass"))
        parts.append(np.array([known[repr(value)] for value in values], np.uint64))
        if progress is not None:
            done = sum(map(len, parts))
            progress(done, None, done)
    if not found and others:
        raise InputError(
            f"scope={column!r}: the input has no such column; its columns are "
            f"{', '.join(map(repr, others))}"
        )
    return np.concatenate([np.zeros(0, np.uint64), *parts])
