"""Where documents come from: files or objects in memory, and the fingerprinter for them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from neardup import kernels
from neardup.atomic import require_apart, require_writable
from neardup.collection.settings import DedupSettings
from neardup.engines.local import Prefetched
from neardup.errors import InputError, NoColumnError
from neardup.features.columns import DocumentColumns, GivenTerms, documents_in, record_columns
from neardup.features.spec import TextColumn
from neardup.fingerprints import Scheme
from neardup.fingerprints.fingerprinter import Fingerprinter, fitted
from neardup.frozen import dataclass
from neardup.hashes import hash_family
from neardup.kernels.columns import column_of
from neardup.read import Batch, Documents, Rejected, source as read_source
from neardup.read.advice import advised
from neardup.read.batch import bounded
from neardup.read.columns import is_text
from neardup.read.limits import MAX_DOCUMENT, too_long
from neardup.read.memory import string_chunks, table_of, table_of_records
from neardup.read.streams import without_views
from neardup.read.text_columns import MOST_ROWS

if TYPE_CHECKING:
    from neardup.collection.collected import Collected
    from neardup.read.terms.batch import TermBatch
    from neardup.read.terms.documents import TermDocuments

Progress = Callable[[int, int | None, int], None]
DocumentProgress = Callable[[int, int], None]  # documents done, of all


Item = TypeVar("Item")

_TEXT_AT_ONCE = 4 << 20
_IN_MEMORY = "memory"


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
    read_as: str | None = None,
    suffix: str | None = None,
    again: bool = False,
) -> Documents | TermDocuments:
    """The input as the scheme needs it: texts, records or terms.

    `columns` are read along with texts and records. With `again` the input can be read more than
    once, even standard input or a pipe.
    """
    reading: dict[str, Any] = {
        "max_document": max_document,
        "read_as": read_as,
        "suffix": suffix,
        "again": again,
    }
    if scheme.features.are_given:
        from neardup.read.terms.documents import TermDocuments

        return TermDocuments(inputs, terms=text, id=id, **reading)
    fields = scheme.fields.names if scheme.fields is not None else ()
    return Documents(
        inputs,
        text=None if fields else text,
        fields=fields,
        id=id,
        columns=columns,
        **reading,
    )


def read_ahead(batches: Iterable[Item], threads: int | None) -> Iterable[Item]:
    """The batches of an input, read ahead in a thread if there may be several."""
    return batches if kernels.thread_count(threads) == 1 else Prefetched(batches)


def batches_of(
    documents: Documents | TermDocuments, threads: int | None
) -> Iterable[Batch | TermBatch]:
    """The batches of files, read ahead in a thread if there may be several."""
    batches: Iterable[Batch | TermBatch] = documents
    return read_ahead(batches, threads)


def columns_of(batch: Batch | TermBatch, scheme: Scheme) -> DocumentColumns:
    """The content of a batch, for the fingerprinter."""
    if not isinstance(batch, Batch):
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


@dataclass(frozen=True, eq=False)
class DocumentBatch:
    """Some documents: their ids, their content, and the rows that could not be read.

    `made_ids` returns ids made of file and row, for documents without ids.
    """

    ids: pa.Array
    columns: DocumentColumns
    rejected: tuple[Rejected, ...] = ()
    made_ids: Callable[[], pa.Array] | None = None


@dataclass(frozen=True, eq=False)
class RowBatch:
    """The same documents as rows with all columns of the input, and their content.

    `source` is the file that they are from, or an array with one for each; None if it is unknown.
    `names` says which columns of the rows have the ids (None: rows are numbered) and the content.
    `ids` are the ids of the documents, and `rejected` the rows that could not be read, where the
    source reads them along.
    """

    rows: pa.RecordBatch
    columns: DocumentColumns
    source: str | pa.Array | None = None
    names: tuple[str | None, tuple[str, ...]] = (None, ())
    ids: pa.Array | None = None
    rejected: tuple[Rejected, ...] = ()


class Source(Protocol):
    """A collection that can be read several times, always in the same order."""

    @property
    def places(self) -> Sequence[str]:
        """The files, folders, globs and URLs it is read from, which no output may replace."""

    def batches(self, progress: Progress | None = None) -> Iterator[DocumentBatch]: ...

    def rows(self) -> Iterator[RowBatch]: ...

    def fingerprinted(self) -> Collected | None:
        """The collection by its stored fingerprints; None if they have to be made."""


def fitted_to(source: Source, scheme: Scheme, threads: int | None) -> Fingerprinter:
    """The fingerprinter of a scheme; one that weighs by rarity counts the documents first."""
    contents = (batch.columns for batch in read_ahead(source.batches(), threads))
    return fitted(fingerprinter_of(scheme, threads), contents, None)


def by_documents(progress: Progress | None) -> DocumentProgress | None:
    """Progress in documents, by a callback that takes bytes, too."""
    if progress is None:
        return None
    follow = progress

    def follow_documents(done: int, documents: int) -> None:
        follow(done, documents, done)

    return follow_documents


class FileSource:
    """Files, folders, globs and URLs."""

    def __init__(self, inputs: Sequence[str | os.PathLike[str]], settings: DedupSettings) -> None:
        self._settings = settings
        self._inputs = [os.fspath(name) for name in inputs]
        self._documents = documents_of(
            self._inputs,
            settings.scheme,
            settings.text,
            settings.id,
            max_document=settings.max_document,
            read_as=settings.read_as,
            suffix=settings.suffix,
            again=True,
        )
        # Problems with the columns are reported now, not when rows are written.
        if isinstance(self._documents, Documents):
            self._with_all_columns = self._documents.with_all_columns()

    @property
    def places(self) -> Sequence[str]:
        return self._inputs

    @property
    def size(self) -> int | None:
        """The bytes of all files, as they are stored; None if unknown."""
        return self._documents.total_bytes

    @property
    def files(self) -> list[read_source.Source]:
        """All files, in reading order."""
        return self._documents.sources

    @property
    def documents(self) -> Documents | TermDocuments:
        """The reader of the files."""
        return self._documents

    def part(self, files: Sequence[read_source.Source], first_place: int) -> FileSource:
        """Some of the files, or parts of one; the first begins after `first_place` rows."""
        other = copy(self)
        other._inputs = [file.name for file in files]
        other._documents = self._documents.part(files, first_place)
        if isinstance(other._documents, Documents):
            other._with_all_columns = self._with_all_columns.part(files, first_place)
        return other

    def batches(self, progress: Progress | None = None) -> Iterator[DocumentBatch]:
        done = 0
        for batch in self._documents:
            columns = columns_of(batch, self._settings.scheme)
            yield DocumentBatch(batch.ids, columns, batch.rejected, batch.made_ids)
            done += len(batch.ids)
            if progress:
                progress(self._documents.done_bytes, self._documents.total_bytes, done)

    def rows(self) -> Iterator[RowBatch]:
        """Read the documents with all their columns."""
        settings = self._settings
        documents = self._documents
        if not isinstance(documents, Documents):
            for terms in documents:
                columns = columns_of(terms, settings.scheme)
                yield RowBatch(
                    _term_rows(terms),
                    columns,
                    terms.file,
                    ("id", ("terms",)),
                    terms.ids,
                    terms.rejected,
                )
            return
        for batch in self._with_all_columns:
            id_name, text_name = batch.names
            fields = settings.scheme.fields
            names = id_name, (text_name,) if fields is None else tuple(fields.names)
            columns = columns_of(batch, settings.scheme)
            rows, source = batch.as_read(), _source_of(batch)
            yield RowBatch(rows, columns, source, names, batch.ids, batch.rejected)

    def fingerprinted(self) -> None:
        """Files store no fingerprints."""


def _source_of(batch: Batch) -> str | pa.Array | None:
    """The file of a batch; for files that are one document each, their folders."""
    if batch.file is not None or batch.made_ids is None:
        return batch.file
    folders = [os.path.dirname(name) for name in batch.made_ids().to_pylist()]
    return pa.array(folders, pa.string())


def _term_rows(batch: Any) -> pa.RecordBatch:
    columns = {"id": batch.ids, "terms": batch.terms}
    if batch.weights is not None:
        columns["weights"] = batch.weights
    return pa.RecordBatch.from_pydict(columns)


class MemorySource:
    """A list of texts, a column, or a table with a column of texts (or of terms, or fields).

    A table that can be read only once, such as a record batch reader, is held in memory.
    """

    def __init__(self, held: Any, settings: DedupSettings) -> None:
        self._settings = settings
        self._table = _table_of(held, settings)
        self._are_made = False
        name = settings.id or "id"
        if name in self._table.column_names:
            self._ids = self._table[name].combine_chunks()
        elif settings.id:
            raise InputError(f"the table has no column {name!r}, only {self._table.column_names}")
        else:
            self._ids = pa.array(np.arange(len(self._table)))
            self._are_made = True
        self._rejected = self._too_long()
        good = np.ones(len(self._table), np.bool_)
        good[[row.row for row in self._rejected if row.row is not None]] = False
        self.row_numbers = np.flatnonzero(good)  # of the documents, in what was given
        if self._rejected:
            self._table = self._table.filter(column_of(good))
            self._ids = self._ids.filter(column_of(good))

    def _too_long(self) -> tuple[Rejected, ...]:
        """The rows whose text is too long, rejected as in a file."""
        settings = self._settings
        if settings.scheme.features.are_given:
            return ()
        fields = settings.scheme.fields.names if settings.scheme.fields else ()
        found: dict[int, int] = {}
        for name in fields or (settings.text or "text",):
            if is_text(self._table.schema.field(name).type):
                import pyarrow.compute as pc

                sizes = pc.binary_length(self._table[name]).fill_null(0).to_numpy()
                long = np.flatnonzero(sizes > settings.max_document)
                found |= {int(row): int(sizes[row]) for row in long}
        return tuple(
            Rejected(_IN_MEMORY, row, too_long(found[row], settings.max_document))
            for row in sorted(found)
        )

    @property
    def places(self) -> Sequence[str]:
        return ()

    @property
    def size(self) -> int:
        """The bytes of the table."""
        return int(self._table.nbytes)

    def batches(self, progress: Progress | None = None) -> Iterator[DocumentBatch]:
        """The documents, some at a time."""
        first, rejected = 0, self._rejected
        if rejected and not len(self._table):
            raise InputError(
                f"cannot read any document; row {rejected[0].row}: {rejected[0].reason}"
            )
        for columns in self._columns():
            size = documents_in(columns)
            ids = self._ids.slice(first, size)
            made = partial(_row_names, ids) if self._are_made else None
            yield DocumentBatch(ids, columns, rejected, made)
            rejected = ()
            first += size
            if progress:
                progress(first, len(self._table), first)

    def rows(self) -> Iterator[RowBatch]:
        """The rows of the table; for an empty table one batch without rows."""
        if not len(self._table):
            empty = pa.RecordBatch.from_pylist([], self._table.schema)
            yield RowBatch(empty, (), None, self._names)
        first = 0
        for batch in self.batches():
            rows = self._table.slice(first, len(batch.ids)).combine_chunks()
            yield RowBatch(rows.to_batches()[0], batch.columns, None, self._names)
            first += len(batch.ids)

    @property
    def _names(self) -> tuple[str | None, tuple[str, ...]]:
        scheme = self._settings.scheme
        own_id = None if self._are_made else self._settings.id or "id"
        if scheme.fields is not None:
            return own_id, tuple(scheme.fields.names)
        return own_id, ("terms" if scheme.features.are_given else self._settings.text or "text",)

    def fingerprinted(self) -> None:
        """Tables store no fingerprints."""

    def _columns(self) -> Iterable[DocumentColumns]:
        scheme = self._settings.scheme
        if scheme.features.are_given:
            from neardup.features.given import term_columns

            return (GivenTerms(*columns) for columns in term_columns(self._table))
        if scheme.fields is not None:
            return record_columns(self._table, scheme.fields)
        texts = self._table[self._settings.text or "text"]
        return (
            [TextColumn(chunk.slice(begin, end - begin))]
            for chunk in string_chunks(texts)
            for begin, end in bounded(chunk, _TEXT_AT_ONCE)
        )


ReadSource = FileSource | MemorySource  # a source whose texts are read, not remembered


def _row_names(ids: pa.Array) -> pa.Array:
    return pa.array([f"row:{number}" for number in ids.to_pylist()], pa.string())


def _table_of(held: Any, settings: DedupSettings) -> pa.Table:
    name = settings.text or "text"
    table = table_of(held)
    if table is not None:
        plain = without_views(table.schema)
        return _with_columns(table if plain == table.schema else table.cast(plain), settings)
    if settings.scheme.features.are_given:
        from neardup.features.given import term_columns

        parts = [pa.table({"terms": t, "weights": w}) for t, w in term_columns(held)]
        return pa.concat_tables([_no_terms(), *parts], promote_options="permissive")
    items = list(held) if not isinstance(held, pa.Array | pa.ChunkedArray) else held
    if isinstance(items, list) and items and isinstance(items[0], dict):
        return _with_columns(table_of_records(items), settings)
    return pa.table({name: pa.chunked_array(list(string_chunks(items)), pa.large_string())})


def _with_columns(table: pa.Table, settings: DedupSettings) -> pa.Table:
    """The table; refused if it lacks a column that is compared."""
    wanted = ("terms",) if settings.scheme.features.are_given else settings.columns
    for column in wanted:
        if column not in table.column_names:
            names = table.column_names
            missing = NoColumnError(f"the table has no column {column!r}, only {names}", names)
            if settings.scheme.fields is not None or settings.scheme.features.are_given:
                raise missing
            raise advised(missing, lambda: table.slice(0, MOST_ROWS), "text={}", "nd.tune")
    return table


def _no_terms() -> pa.Table:
    """An empty table of terms."""
    terms, weights = pa.large_list(pa.large_string()), pa.large_list(pa.float64())
    return pa.table({"terms": pa.nulls(0, terms), "weights": pa.nulls(0, weights)})
