"""Intake: convert documents in any supported form into entries, in batches to commit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from sys import byteorder
from typing import Any, TypeVar

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from neardup.errors import InputError, SettingError
from neardup.features.columns import (
    DocumentColumns,
    GivenTerms,
    documents_in,
    record_columns,
    taken,
)
from neardup.features.given import term_columns
from neardup.features.spec import TextColumn
from neardup.features.weighted import WeightedFeatures, joined
from neardup.fingerprints import Fingerprints, Scheme
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.index.contents import contents_of
from neardup.index.entries import Entries, Id, by_kind, checked_id, id_array, id_column, int_array
from neardup.index.settings import IndexSettings
from neardup.read import Batch
from neardup.read.memory import string_chunks, table_of
from neardup.read.terms.batch import TermBatch

_ITEMS_AT_ONCE = 4096
_ROWS_AT_ONCE = 1 << 14
_PRINTS_AT_ONCE = 1 << 16
_FORMS = (
    "give (id, text) pairs, a table with the columns id and text, or the result of neardup.read"
)


# A batch is committed when it reaches either size.
_DOCUMENTS_AT_ONCE = 1 << 16
_BYTES_AT_ONCE = 1 << 26
Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class Documents:
    """A batch of documents: ids of one type, and their columns or their fingerprints.

    `made` ids were generated, not given by the user, and never replace an existing document.
    """

    ids: pa.Array
    held: DocumentColumns | Fingerprints
    metadata: pa.Array | None = None
    made: bool = False


def batches(given: Any, scheme: Scheme, metadata: Sequence[str] = ()) -> Iterator[Documents]:
    """Batches from tables, pairs, batches of neardup.read, or `Fingerprints` with ids.

    `metadata` names the table columns to store with the documents. Of batches of neardup.read,
    all carried columns are stored.
    """
    if isinstance(given, Documents):
        yield given
    elif isinstance(given, Fingerprints):
        yield from _of_fingerprints(given, scheme)
    elif isinstance(given, Batch | TermBatch):
        yield _of_batch(given, scheme)
    elif isinstance(given, pa.RecordBatchReader):  # streamed, not held in memory
        for some in given:
            yield from batches(some, scheme, metadata)
    elif (rows := table_of(given)) is not None:
        for batch in rows.to_batches(max_chunksize=_ROWS_AT_ONCE):
            yield from _of_table(batch, scheme, metadata)
    elif isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InputError(f"{type(given).__name__} is not a batch of documents; {_FORMS}")
    else:
        yield from _of_items(iter(given), scheme, metadata)


def one(document: Any, scheme: Scheme) -> DocumentColumns:
    """One document as columns: a text, the fields of a record, or terms."""
    if scheme.features.are_given:
        return GivenTerms(*next(term_columns([document])))
    if scheme.fields is not None:
        return next(record_columns([document], scheme.fields))
    if not isinstance(document, str):
        raise InputError(f"a text is a str, not {type(document).__name__}")
    return [TextColumn(next(string_chunks([document])))]


def columns_of(documents: Any, scheme: Scheme) -> Iterator[DocumentColumns]:
    """Many documents as columns, in chunks."""
    if isinstance(documents, Batch | TermBatch):
        held = _of_batch(documents, scheme).held
        assert not isinstance(held, Fingerprints)
        return iter([held])
    if scheme.features.are_given:
        return (GivenTerms(*columns) for columns in term_columns(documents))
    if scheme.fields is not None:
        return record_columns(documents, scheme.fields)
    return ([TextColumn(chunk)] for chunk in string_chunks(documents))


def features_at(
    parts: Sequence[DocumentColumns], places: NDArray[np.int64], fingerprinter: Fingerprinter
) -> WeightedFeatures:
    """The features of the documents at these places, which ascend over all parts."""
    found = []
    first = 0
    for columns in parts:
        size = documents_in(columns)
        begin, end = np.searchsorted(places, [first, first + size])
        if begin < end:
            found.append(
                fingerprinter.features(taken(columns, int_array(places[begin:end] - first)))
            )
        first += size
    return joined(found)


def metadata_json(metadata: Any) -> bytes:
    """Metadata as JSON; b"" for None."""
    if metadata is None:
        return b""
    try:
        return orjson.dumps(metadata)
    except TypeError as error:
        raise InputError(f"metadata cannot be stored as JSON: {error}") from None


def _of_fingerprints(given: Fingerprints, scheme: Scheme) -> Iterator[Documents]:
    scheme.require_same(given.scheme)
    if given.ids is None:
        raise InputError("fingerprints for an index need ids; give them with ids=")
    ids = id_column(given.ids)
    for begin in range(0, len(given), _PRINTS_AT_ONCE):
        some = slice(begin, begin + _PRINTS_AT_ONCE)
        prints = Fingerprints(given.array[some], given.scheme, given.words[some])
        yield Documents(ids.slice(begin, len(prints)), prints)


def _of_batch(batch: Batch | TermBatch, scheme: Scheme) -> Documents:
    made = batch.made_ids
    ids = id_column(batch.ids if made is None else made())
    if isinstance(batch, TermBatch):
        return Documents(ids, GivenTerms(batch.terms, batch.weights), made=made is not None)
    carried = batch.documents.schema.names[2:]
    fields = scheme.fields
    columns = (
        [TextColumn(batch.documents["text"])]
        if fields is None
        else list(map(TextColumn, batch.fields, fields.fields))
    )
    names = [name for name in carried if fields is None or name not in fields.names]
    return Documents(ids, columns, _rows_json(batch.documents, names), made is not None)


def _of_table(
    batch: pa.RecordBatch, scheme: Scheme, metadata: Sequence[str]
) -> Iterator[Documents]:
    for name in ("id", *metadata):
        if name not in batch.schema.names:
            raise InputError(f"the table has no column {name!r}, only {batch.schema.names}")
    if not len(batch):
        return
    ids, about = id_column(batch["id"]), _rows_json(batch, metadata)
    if scheme.features.are_given or scheme.fields is not None:
        held: Any = pa.table(batch)
    elif "text" in batch.schema.names:
        held = batch["text"]
    else:
        raise InputError(f"the table has no column 'text', only {batch.schema.names}")
    begin = 0
    for columns in columns_of(held, scheme):
        size = documents_in(columns)
        some = None if about is None else about.slice(begin, size)
        yield Documents(ids.slice(begin, size), columns, some)
        begin += size


def _of_items(items: Iterator[Any], scheme: Scheme, metadata: Sequence[str]) -> Iterator[Documents]:
    """Pairs in chunks; any other item is a batch of its own."""
    for kind, group in groupby(items, key=lambda item: isinstance(item, tuple | list)):
        if not kind:
            for item in group:
                yield from batches(item, scheme, metadata)
            continue
        while some := list(islice(group, _ITEMS_AT_ONCE)):
            yield from _of_pairs(some, scheme)


def _of_pairs(pairs: list[Any], scheme: Scheme) -> Iterator[Documents]:
    for pair in pairs:
        if len(pair) not in (2, 3):
            raise InputError(f"a document is (id, text) or (id, text, metadata), not {pair!r:.80}")
    named = [(checked_id(pair[0]), pair) for pair in pairs]
    for _, group in groupby(named, key=lambda each: isinstance(each[0], str)):
        some = list(group)
        ids: list[Id] = [id for id, _ in some]
        about = [metadata_json(pair[2] if len(pair) == 3 else None) for _, pair in some]
        begin = 0
        for columns in columns_of([pair[1] for _, pair in some], scheme):
            size = documents_in(columns)
            end = begin + size
            json = pa.array(about[begin:end], pa.large_binary()) if any(about) else None
            yield Documents(id_array(ids[begin:end]), columns, json)
            begin = end


def _rows_json(batch: pa.RecordBatch, names: Sequence[str]) -> pa.Array | None:
    """The columns as one JSON object per row."""
    if not names:
        return None
    rows = batch.select(list(names)).to_pylist()
    try:
        return pa.array([orjson.dumps(row, default=str) for row in rows], pa.large_binary())
    except TypeError as error:
        raise InputError(f"metadata cannot be stored as JSON: {error}") from None


def row_of(document: Any, scheme: Scheme) -> bytes | None:
    """The row of a fingerprint as bytes, b"" if it is empty; None for other documents."""
    if isinstance(document, int) and not isinstance(document, bool):
        if document < 0 or document.bit_length() > scheme.bits:
            raise SettingError(f"{document} is not a fingerprint of {scheme.bits} bits")
        if scheme.bits == 64:
            return document.to_bytes(8, byteorder)
        size = 8 * scheme.row_words
        data = (document << (8 * size - scheme.bits)).to_bytes(size, "big")
        return np.frombuffer(data, ">u8").astype(np.uint64).tobytes()
    if not isinstance(document, Fingerprints):
        return None
    scheme.require_same(document.scheme)
    if len(document) != 1:
        raise SettingError(f"query takes one document, not {len(document)}; use query_many")
    return b"" if document.empty[0] else document.array[0].tobytes()


class Intake:
    """Converts documents into entries by the settings of an index."""

    def __init__(self, settings: IndexSettings, fingerprinter: Fingerprinter) -> None:
        self._settings = settings
        self._fingerprinter = fingerprinter

    def one(self, id: Id, document: Any, metadata: Any) -> Documents:
        """A batch of one document."""
        about = metadata_json(metadata)
        return Documents(
            id_array([checked_id(id)]),
            one(document, self._fingerprinter.scheme),
            pa.array([about], pa.large_binary()) if about else None,
        )

    def entries(self, given: Documents) -> Entries:
        """Fingerprint documents and prepare the contents to store."""
        if isinstance(given.held, Fingerprints):
            if self._settings.verifies:
                raise InputError(
                    "this index stores texts or features, so fingerprints alone cannot be added; "
                    "give the documents"
                )
            return Entries(
                given.ids, given.held.words, given.held.array, given.metadata, made=given.made
            )
        rows, words = self._fingerprinter.rows(given.held)
        contents = contents_of(given.held, self._settings, self._fingerprinter)
        return Entries(given.ids, words, rows, given.metadata, contents, given.made)

    def portions(
        self, given: Any, metadata: Sequence[str], at_once: bool
    ) -> Iterator[list[Entries]]:
        """The entries to commit together, one `Entries` for each type of id."""
        waiting: list[Entries] = []
        count = size = 0
        for batch in batches(given, self._fingerprinter.scheme, metadata):
            entries = self.entries(batch)
            if not len(entries):
                continue
            if waiting and waiting[-1].made != entries.made:
                if at_once:
                    raise InputError(
                        "documents with ids and documents without ids cannot be added in one "
                        "transaction; add them in two calls"
                    )
                yield by_kind(waiting)
                waiting, count, size = [], 0, 0
            waiting.append(entries)
            count, size = count + len(entries), size + entries.nbytes
            if not at_once and (count >= _DOCUMENTS_AT_ONCE or size >= _BYTES_AT_ONCE):
                yield by_kind(waiting)
                waiting, count, size = [], 0, 0
        if waiting:
            yield by_kind(waiting)


def with_last(items: Iterator[Item]) -> Iterator[tuple[Item, bool]]:
    """Each item, and whether it is the last."""
    waiting: list[Item] = []
    for item in items:
        if waiting:
            yield waiting.pop(), False
        waiting.append(item)
    if waiting:
        yield waiting.pop(), True
