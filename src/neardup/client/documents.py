"""Documents as a server takes them: a JSON object each, in portions of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

import orjson
import pyarrow as pa

from neardup.errors import InputError, SettingError
from neardup.features.columns import DocumentColumns, GivenTerms
from neardup.fingerprints import Fingerprints, Scheme
from neardup.index import intake
from neardup.index.entries import Id, checked_id

# A portion is sent when it has reached either size.
DOCUMENTS_AT_ONCE = 1000
BYTES_AT_ONCE = 4 << 20
Object = bytes  # a document as JSON


def one(scheme: Scheme, document: Any, id: Id | None = None, metadata: Any = None) -> Object:
    """One document with its id and metadata."""
    columns = intake.one(_no_fingerprint(document), scheme)
    return _json(next(_objects(columns, scheme)), id, intake.metadata_json(metadata))


def one_text(text: str, id: Id | None = None, metadata: Any = None) -> Object:
    """One plain text, for which the scheme of the index need not be known."""
    return _json({"text": text}, id, intake.metadata_json(metadata))


def many(given: Any, scheme: Scheme, metadata: Sequence[str]) -> Iterator[Object]:
    """The documents that `Index.add_many` takes, each with its id and metadata."""
    if isinstance(given, list | tuple | Iterator):  # one by one: a stream may have large texts
        for item in given:
            if isinstance(item, tuple | list):
                yield _of_pair(item, scheme)
            else:
                yield from many(item, scheme, metadata)
        return
    for batch in intake.batches(_no_fingerprint(given), scheme, metadata):
        if batch.made:
            raise InputError(
                "documents without ids cannot be sent to a server, because a repeated request "
                "would store them twice; name the column with the ids"
            )
        assert not isinstance(batch.held, Fingerprints)
        about: Iterable[bytes] = (
            repeat(b"") if batch.metadata is None else batch.metadata.to_pylist()
        )
        ids = batch.ids.to_pylist()
        for id, held, json in zip(ids, _objects(batch.held, scheme), about, strict=False):
            yield _json(held, id, json)


def questions(given: Any, scheme: Scheme) -> Iterator[Object]:
    """The documents that `Index.query_many` takes."""
    if isinstance(given, list | tuple | Iterator):
        for place, document in enumerate(given):
            try:
                yield _json(_object(document, scheme))
            except InputError as error:
                raise InputError(f"document {place}: {error}") from None
        return
    for columns in intake.columns_of(_no_fingerprint(given), scheme):
        yield from map(_json, _objects(columns, scheme))


def portions(
    objects: Iterable[Object], documents: int = DOCUMENTS_AT_ONCE, size: int = BYTES_AT_ONCE
) -> Iterator[list[Object]]:
    """The documents to send together, in order; a larger one than `size` goes alone."""
    waiting: list[Object] = []
    held = 0
    for each in objects:
        if waiting and (len(waiting) >= documents or held + len(each) > size):
            yield waiting
            waiting, held = [], 0
        waiting.append(each)
        held += len(each)
    if waiting:
        yield waiting


def body_of(portion: Sequence[Object]) -> bytes:
    """A request of many documents."""
    return b'{"documents":[' + b",".join(portion) + b"]}"


def _of_pair(pair: Sequence[Any], scheme: Scheme) -> Object:
    if len(pair) not in (2, 3):
        raise InputError(f"a document is (id, text) or (id, text, metadata), not {pair!r:.80}")
    about = intake.metadata_json(pair[2] if len(pair) == 3 else None)
    return _json(_object(pair[1], scheme), checked_id(pair[0]), about)


def _object(document: Any, scheme: Scheme) -> dict[str, Any]:
    """One document among many, where None is an empty one."""
    if scheme.fields is None and not scheme.features.are_given:
        if document is None:
            return {"text": ""}
        if isinstance(document, str):
            return {"text": document}
    return next(_objects(intake.one(_no_fingerprint(document), scheme), scheme))


def _objects(columns: DocumentColumns, scheme: Scheme) -> Iterator[dict[str, Any]]:
    if isinstance(columns, GivenTerms):
        weights = repeat(None) if columns.weights is None else _values(columns.weights)
        for terms, amounts in zip(_values(columns.terms), weights, strict=False):
            held = {"terms": terms or []}
            yield held if amounts is None else {**held, "weights": amounts}
    elif scheme.fields is None:
        for text in _values(columns[0].texts):
            yield {"text": text or ""}
    else:
        names = scheme.fields.names
        for values in zip(*(_values(column.texts) for column in columns), strict=True):
            yield dict(zip(names, values, strict=True))


def _values(column: pa.Array) -> Iterator[Any]:
    """The values of a column, made one by one: all at once would take much memory."""
    return (value.as_py() for value in column)


def _no_fingerprint(document: Any) -> Any:
    number = isinstance(document, int) and not isinstance(document, bool)
    if number or isinstance(document, Fingerprints):
        raise SettingError("a server takes documents, not their fingerprints; give the texts")
    return document


def _json(held: dict[str, Any], id: Id | None = None, metadata: bytes = b"") -> Object:
    document = held if id is None else {"id": id, **held}
    if metadata:
        document["metadata"] = orjson.Fragment(metadata)
    try:
        return orjson.dumps(document)
    except TypeError:  # of lone surrogates, which str allows and UTF-8 does not
        raise InputError("a text is not valid Unicode; repair it") from None
