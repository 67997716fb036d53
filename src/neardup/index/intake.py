"""Intake: convert documents in any supported form into entries, in batches to commit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from sys import byteorder
from typing import Any, NamedTuple, TypeVar

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
from neardup.fingerprints.fingerprinter import LARGEST_TEXT, Fingerprinter
from neardup.index.contents import contents_of, packed_text
from neardup.index.entries import (
    Entries,
    Id,
    Record,
    by_kind,
    checked_id,
    id_array,
    id_column,
    int_array,
)
from neardup.index.settings import IndexSettings
from neardup.kernels.set_index import NEVER, SetDocuments, text_document
from neardup.read import Batch
from neardup.read.memory import batches_of, string_chunks
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
_LONG_TEXT = 1 << 27
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
    elif (rows := batches_of(given)) is not None:
        for some in rows:
            for batch in pa.Table.from_batches([some]).to_batches(max_chunksize=_ROWS_AT_ONCE):
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
    if isinstance(documents, GivenTerms) or (
        isinstance(documents, list) and documents and isinstance(documents[0], TextColumn)
    ):
        return iter([documents])
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


def singly(documents: Documents) -> Iterator[Documents]:
    """Each document of a batch as a batch of its own."""
    for place in range(len(documents.ids)):
        some = slice(place, place + 1)
        held = documents.held
        yield Documents(
            documents.ids.slice(place, 1),
            held[some]
            if isinstance(held, Fingerprints)
            else taken(held, int_array(np.array([place]))),
            None if documents.metadata is None else documents.metadata.slice(place, 1),
            documents.made,
        )


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


class One(NamedTuple):
    """One document, ready to be looked up and stored: its record without times, and its set."""

    record: Record
    sets: SetDocuments | None
    place: int = 0


class Intake:
    """Converts documents into entries by the settings of an index."""

    def __init__(self, settings: IndexSettings, fingerprinter: Fingerprinter) -> None:
        self._settings = settings
        self._fingerprinter = fingerprinter
        scheme, shingle = settings.scheme, settings.scheme.features.shingle
        self._shingle: tuple[bool, int] | None = None
        if scheme.is_native and scheme.are_sets and shingle is not None:
            self._shingle = (shingle.unit == "word", shingle.size)

    def document(self, document: Any) -> tuple[SetDocuments, int, bytes]:
        """One document for an index by similarity: its set, its words, and its row."""
        sets = self._settings.sets
        assert sets is not None
        scheme, fingerprinter = self._settings.scheme, self._fingerprinter
        if self._shingle is not None:
            if not isinstance(document, str):
                raise InputError(f"a text is a str, not {type(document).__name__}")
            if len(document) > _LONG_TEXT:
                _require_text(document)
            try:
                return text_document(
                    sets,
                    document,
                    self._shingle,
                    scheme.bits,
                    scheme.tie == ">=0",
                    fingerprinter.family.key,
                )
            except UnicodeEncodeError:
                raise InputError("a text is not valid Unicode; repair it") from None
        rows, words, found = self.rows_and_sets(one(document, scheme))
        return found, int(words[0]), rows[0].tobytes()

    def one_set(self, id: Id, document: Any, metadata: Any) -> One:
        """One document with its id, for an index by similarity."""
        sets, words, row = self.document(document)
        content = packed_text(document) if self._settings.store_text else b""
        features = sets.stored_one(0)
        about = metadata_json(metadata)
        return One(Record(checked_id(id), words, row, about, content, features, 0, NEVER), sets)

    def one(self, id: Id, document: Any, metadata: Any) -> Documents:
        """A batch of one document."""
        about = metadata_json(metadata)
        return Documents(
            id_array([checked_id(id)]),
            one(document, self._fingerprinter.scheme),
            pa.array([about], pa.large_binary()) if about else None,
        )

    def entries(self, given: Documents) -> Entries:
        """Fingerprint documents and prepare what is stored of them."""
        return self.prepared(given)[0]

    def prepared(self, given: Documents) -> tuple[Entries, SetDocuments | None]:
        """Entries to store and, for an index by similarity, sets to look up."""
        if isinstance(given.held, Fingerprints):
            if self._settings.verifies:
                raise InputError(
                    "this index stores texts or features, so fingerprints alone cannot be added; "
                    "give the documents"
                )
            entries = Entries(
                given.ids, given.held.words, given.held.array, given.metadata, made=given.made
            )
            return entries, None
        contents = contents_of(given.held, self._settings, self._fingerprinter)
        if self._settings.sets is None:
            rows, words = self._fingerprinter.rows(given.held)
            return Entries(given.ids, words, rows, given.metadata, contents, given.made), None
        rows, words, sets = self.rows_and_sets(given.held)
        offsets, data = sets.stored()
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        features = pa.Array.from_buffers(pa.large_binary(), len(words), buffers)
        entries = Entries(
            given.ids, words, rows, given.metadata, contents, given.made, features=features
        )
        return entries, sets

    def rows_and_sets(
        self, columns: DocumentColumns
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint32], SetDocuments]:
        """Fingerprints, word counts and sets; features are made once if they make fingerprints."""
        assert self._settings.sets is not None
        fingerprinter = self._fingerprinter
        found = fingerprinter.features(columns)
        sets = SetDocuments(
            self._settings.sets,
            found.offsets,
            found.hashes,
            found.weights,
            threads=fingerprinter.threads,
        )
        if fingerprinter.scheme.is_hashed:
            return fingerprinter.rows_of_features(found), found.words, sets
        rows, words = fingerprinter.rows(columns)
        return rows, words, sets

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


def _require_text(text: str) -> None:
    """Refuse a text that is too large for the kernels."""
    size = len(text.encode(errors="replace"))
    if size > LARGEST_TEXT:
        raise InputError(f"a text of {size} bytes exceeds the limit of 1 GiB; split it")


def with_last(items: Iterator[Item]) -> Iterator[tuple[Item, bool]]:
    """Each item, and whether it is the last."""
    waiting: list[Item] = []
    for item in items:
        if waiting:
            yield waiting.pop(), False
        waiting.append(item)
    if waiting:
        yield waiting.pop(), True
