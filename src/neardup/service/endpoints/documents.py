"""Documents: check, query, add, get, delete."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow as pa

from neardup.errors import InputError
from neardup.index import Index
from neardup.index.entries import Id
from neardup.read.limits import TooLong
from neardup.service import results, typed
from neardup.service.endpoints.endpoint import Endpoint
from neardup.service.endpoints.given import (
    Given,
    documents_of,
    of_line,
    read_many,
    read_one,
)
from neardup.service.endpoints.streams import Stream, answer_arrow, arrow_batches, streamed
from neardup.service.endpoints.texts import require_count
from neardup.service.exchange import ARROW, JSON, NDJSON, Exchange
from neardup.service.problems import Problem
from neardup.service.readers import Reader
from neardup.service.results import Row
from neardup.service.service import Service, require_role

# A portion of lines that are checked or queried together: one transaction, or one search.
_LINES_AT_ONCE = 1 << 20


# Answers documents, given with the size of their text: a row for each.
Answered = Callable[[list[Given], int], Awaitable[list[Row]]]


async def check(service: Service, exchange: Exchange) -> None:
    """Say whether documents were seen before, and add those that are new."""
    parameters = exchange.parameters(typed.CheckParameters)
    exchange.require_media_type(JSON, NDJSON, ARROW)
    name = exchange.values["name"]
    adds = parameters.add != "never"
    if adds:
        require_role(exchange.key, "write", "to add documents")
    if parameters.create:
        await service.make_index(exchange.key, name)
    reader = await service.readers.get(name)
    rules = _DEFAULT_RULES
    if parameters != typed.CheckParameters():
        rules = _rules_of(parameters)
        reader.index.rules(**rules)  # wrong ones are refused before the body is read

    async def checked(given: list[Given], size: int) -> list[Row]:
        good = [
            (service.made_id() if one.id is None else one.id, one.document, one.metadata)
            for one in given
            if one.fault is None
        ]
        if not good:
            rows: list[Row] = []
        elif adds:
            rows = await service.writer.call("check_many", (name, size, good, rules))
        else:
            verdicts = await reader.ask(size, lambda index: index.check_many(good, **rules))
            service.counters.add("documents_checked_total", len(good))
            service.counters.add("matches_total", sum(not one.is_new for one in verdicts))
            rows = [
                results.verdict_row(one[0], verdict)
                for one, verdict in zip(good, verdicts, strict=True)
            ]
        return _merged(given, rows)

    one = await _unless_many(
        service, exchange, reader, checked, _Form(results.check_columns, results.CHECK_SCHEMA)
    )
    if one is not None and adds:
        id = service.made_id() if one.id is None else one.id
        call = (name, exchange.body.size_read, (id, one.document, one.metadata), rules)
        await exchange.answer_bytes(await service.writer.call("check", call))
    elif one is not None:
        await exchange.answer(_only(await checked([one], exchange.body.size_read)))


async def query(service: Service, exchange: Exchange) -> None:
    """Find the documents near the given ones."""
    parameters = exchange.parameters(typed.QueryParameters)
    exchange.require_media_type(JSON, NDJSON, ARROW)
    reader = await service.readers.get(exchange.values["name"])
    options = msgspec.structs.asdict(parameters)
    if parameters != typed.QueryParameters():
        reader.index.query_many([], **options)  # wrong ones are refused before the body is read

    async def queried(given: list[Given], size: int) -> list[Row]:
        good = [one for one in given if one.fault is None]

        def answer(index: Index) -> list[Row]:
            found = index.query_many([one.document for one in good], **options)
            return results.answer_rows([one.id for one in good], found)

        rows = await reader.ask(size, answer) if good else []
        _count(service, len(rows), sum(bool(row["matches"]) for row in rows))
        return _merged(given, rows)

    one = await _unless_many(
        service, exchange, reader, queried, _Form(results.query_columns, results.QUERY_SCHEMA)
    )
    if one is not None:
        document = one.document
        matches = await reader.ask(
            exchange.body.size_read, lambda index: index.query(document, **options)
        )
        _count(service, 1, bool(matches))
        await exchange.answer(results.matches_row(one.id, matches))


async def add(service: Service, exchange: Exchange) -> None:
    """Add documents; one that has the id of a stored one replaces it."""
    parameters = exchange.parameters(typed.AddParameters)
    exchange.require_media_type(JSON, NDJSON, ARROW)
    name, ttl = exchange.values["name"], parameters.ttl
    if parameters.create:
        await service.make_index(exchange.key, name)
    reader = await service.readers.get(name)
    reader.index.rules(ttl=ttl)  # a wrong one is refused before the body is read

    async def added(given: list[Given], size: int) -> list[Row]:
        given = [_with_id(one) for one in given]
        good = [(one.id, one.document, one.metadata) for one in given if one.fault is None]
        rows: list[Row] = []
        if good:
            rows = await service.writer.call("add", (name, size, good, ttl))
        return _merged(given, rows)

    def lines_added(stream: Stream) -> None:
        """The writer reads the lines; the next portion arrives while it commits one."""
        waiting: list[Any] = []

        def finish() -> None:
            answers, stored = waiting.pop(0).result()
            count = answers.count(b"\n")
            stream.answered(answers, count, count - stored)

        line = 1
        for block in stream.blocks(service.limits.portion):
            if isinstance(block, TooLong):
                while waiting:
                    finish()
                stream.too_long(block)
                line += 1
                continue
            while len(waiting) > 1:
                finish()
            call = service.writer.call("add_lines", (name, block, line, ttl))
            waiting.append(stream.later(call))
            line += block.count(b"\n") + 1
        while waiting:
            finish()
        if stream.done:
            stream.wait(service.writer.call("settle", (name, 0)))

    form = _Form(
        results.stored_columns,
        results.STORED_SCHEMA,
        lambda rows: {"results": rows, "stored": sum("error" not in row for row in rows)},
        lines_added,
    )
    one = await _unless_many(service, exchange, reader, added, form)
    if one is not None:
        await exchange.answer(_only(await added([one], exchange.body.size_read)))


async def get_document(service: Service, exchange: Exchange) -> None:
    parameters = exchange.parameters(typed.IdParameters)
    reader = await service.readers.get(exchange.values["name"])
    for id in ids_meant(exchange.values["id"], parameters.id_type):
        found = reader.index.get(id)
        if found is not None:
            await exchange.answer(results.document_row(found, reader.index.scheme))
            return
    raise _no_document(exchange.values["name"], exchange.values["id"])


async def delete_document(service: Service, exchange: Exchange) -> None:
    parameters = exchange.parameters(typed.IdParameters)
    name = exchange.values["name"]
    for id in ids_meant(exchange.values["id"], parameters.id_type):
        if await service.writer.call("delete_documents", (name, len(exchange.path), [id])):
            await exchange.answer({"id": id, "deleted": True})
            return
    raise _no_document(name, exchange.values["id"])


async def delete_documents(service: Service, exchange: Exchange) -> None:
    exchange.parameters(typed.NoParameters)
    given = await exchange.typed(typed.Ids, "invalid_document")
    require_count(len(given.ids) // 10, service.limits)
    call = (exchange.values["name"], exchange.body.size_read, given.ids)
    await exchange.answer({"deleted": await service.writer.call("delete_documents", call)})


def _rules_of(parameters: typed.CheckParameters) -> dict[str, Any]:
    """The arguments of `Index.check`."""
    rules = msgspec.structs.asdict(parameters)
    del rules["create"]
    return rules


_DEFAULT_RULES = _rules_of(typed.CheckParameters())


@dataclass(frozen=True)
class _Form:
    """How the answers to many documents look: as Arrow columns, as JSON, and by `lines`."""

    columns: Callable[[list[Row], int], pa.RecordBatch]
    schema: pa.Schema
    whole: Callable[[list[Row]], Any] = lambda rows: {"results": rows}
    lines: Callable[[Stream], None] | None = None


async def _unless_many(
    service: Service, exchange: Exchange, reader: Reader, answered: Answered, form: _Form
) -> Given | None:
    """Answer a body with many documents; return the document of a body with one."""
    limits, kind = service.limits, exchange.media_type
    if kind == NDJSON:
        work = form.lines or (lambda stream: _by_lines(stream, reader, answered))
        await streamed(service, exchange, work)
    elif kind == ARROW:
        await _by_batches(service, exchange, reader, answered, form)
    else:
        found = await exchange.json()
        many = documents_of(found)
        if many is None:
            return read_one(found, reader.form, limits)
        rows = await answered(read_many(many, reader.form, limits), exchange.body.size_read)
        await exchange.answer(form.whole(rows))
    return None


def _by_lines(stream: Stream, reader: Reader, answered: Answered) -> None:
    """Answer the lines of a stream, portion by portion."""
    for block in stream.blocks(_LINES_AT_ONCE):
        if isinstance(block, TooLong):
            stream.too_long(block)
            continue
        asked = reader.form.asked_of(block, stream.done + 1)
        given = [of_line(one, stream.service.limits) for one in asked]
        stream.rows(stream.wait(answered(given, len(block))))


async def _by_batches(
    service: Service, exchange: Exchange, reader: Reader, answered: Answered, form: _Form
) -> None:
    """Answer the rows of an Arrow body."""
    batches = await arrow_batches(exchange)
    require_count(sum(map(len, batches)), service.limits)
    done, made = 0, []
    for batch in batches:
        given = read_many(_objects(batch), reader.form, service.limits)
        rows = await answered(given, batch.nbytes)
        made.append(form.columns(rows, done))
        done += len(rows)
    await answer_arrow(exchange, made, form.schema)


def _objects(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    try:
        return list(batch.to_pylist())
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise InputError(f"a row cannot be read: {error}") from None


def _merged(given: list[Given], rows: list[Row]) -> list[Row]:
    """The answers to all documents, in order, with the faults in their places."""
    if len(rows) == len(given):
        return rows
    good = iter(rows)
    return [next(good) if one.fault is None else one.faulty() for one in given]


def _only(rows: list[Row]) -> Row:
    """The answer to one document; its error is the problem of the request."""
    (row,) = rows
    if "error" in row:
        raise Problem(row["error"]["code"], row["error"]["detail"])
    return row


def _with_id(given: Given) -> Given:
    if given.fault is None and given.id is None:
        fault = Problem(
            "invalid_document",
            "a document to add needs an id, so that the request can be repeated; give it one",
        )
        return Given(None, fault=fault)
    return given


def _count(service: Service, queried: int, matched: int) -> None:
    service.counters.add("documents_queried_total", queried)
    service.counters.add("matches_total", matched)


def ids_meant(id: str, kind: str | None) -> list[Id]:
    """What an id in a path may mean: the string or, if there is none, the number."""
    meant: list[Id] = [] if kind == "integer" else [id]
    if kind != "string" and re.fullmatch(r"0|-?[1-9][0-9]{0,18}", id):
        number = int(id)
        if -(2**63) <= number < 2**63:
            meant.append(number)
    return meant


def _no_document(name: str, id: str) -> Problem:
    return Problem("document_not_found", f"the index {name} has no document {id!r:.200}")


_INDEX = "/v1/indexes/{name}"
_WRONG = (
    *("index_not_found", "invalid_document", "text_too_long", "too_many_documents"),
    *("too_many_features", "answers_too_large"),
)
_STREAMS = (
    ' Takes one document, many as `{"documents": [...]}`, NDJSON of any length, or an Arrow '
    "stream; NDJSON is answered by a line for each line, Arrow by an Arrow stream."
)
ENDPOINTS = [
    Endpoint(
        "POST",
        f"{_INDEX}/check",
        check,
        "Say whether documents were seen before, and add those that are new",
        "read",
        typed.Verdict | typed.Verdicts,
        about="In one transaction: two requests with the same text never both get `is_new`. A "
        "document without an id gets one that is new. To add needs the role write, to create "
        "the index the role admin." + _STREAMS,
        parameters=typed.CheckParameters,
        body=typed.Document | typed.Documents,
        streams=True,
        codes=(*_WRONG, "queue_full"),
    ),
    Endpoint(
        "POST",
        f"{_INDEX}/query",
        query,
        "Find the documents near the given ones",
        "read",
        typed.Matches | typed.ManyMatches,
        about="The most similar first; nothing is changed." + _STREAMS,
        parameters=typed.QueryParameters,
        body=typed.Document | typed.Documents,
        streams=True,
        codes=_WRONG,
    ),
    Endpoint(
        "POST",
        f"{_INDEX}/documents",
        add,
        "Add documents, near-duplicates too",
        "write",
        typed.Stored | typed.ManyStored,
        about="One that has the id of a stored one replaces it. Every document needs an id."
        + _STREAMS,
        parameters=typed.AddParameters,
        body=typed.Document | typed.Documents,
        streams=True,
        codes=(*_WRONG, "queue_full"),
    ),
    Endpoint(
        "POST",
        f"{_INDEX}/documents/delete",
        delete_documents,
        "Delete documents by their ids",
        "write",
        typed.Deleted,
        about="Ids that are not there are ignored.",
        body=typed.Ids,
        codes=("index_not_found", "queue_full"),
    ),
    Endpoint(
        "GET",
        f"{_INDEX}/documents/{{id:path}}",
        get_document,
        "A stored document",
        "read",
        typed.StoredDocument,
        about="`17` means the string if there is one, else the number.",
        parameters=typed.IdParameters,
        codes=("index_not_found", "document_not_found"),
    ),
    Endpoint(
        "DELETE",
        f"{_INDEX}/documents/{{id:path}}",
        delete_document,
        "Delete a document",
        "write",
        typed.DocumentDeleted,
        parameters=typed.IdParameters,
        codes=("index_not_found", "document_not_found", "queue_full"),
    ),
]
