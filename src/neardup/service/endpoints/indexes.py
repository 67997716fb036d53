"""Indexes: list, create, look at, delete; and their operations."""

from __future__ import annotations

from neardup.errors import NeardupError
from neardup.features.spec import record_fields
from neardup.service import typed
from neardup.service.endpoints.endpoint import Endpoint
from neardup.service.endpoints.texts import given_settings
from neardup.service.exchange import Exchange
from neardup.service.problems import Problem
from neardup.service.results import index_row
from neardup.service.service import Service


async def list_indexes(service: Service, exchange: Exchange) -> None:
    exchange.parameters(typed.NoParameters)
    found = []
    for name in service.readers.names():
        if exchange.key.sees(name):
            try:
                reader = await service.readers.get(name)
                found.append(index_row(name, reader.index))
            except (Problem, NeardupError) as error:  # deleted meanwhile, or damaged
                service.log.event("unreadable", index=name, fault=type(error).__name__)
    await exchange.answer({"indexes": found})


async def create_index(service: Service, exchange: Exchange) -> None:
    exchange.parameters(typed.NoParameters)
    name = exchange.values["name"]
    service.root.index(name)  # a bad name is refused before the body is read
    given = typed.IndexRequest()
    if exchange.has_body:
        given = await exchange.typed(typed.IndexRequest)
    if given.text is not None and record_fields(given.text) is None:
        raise Problem(
            "invalid_setting",
            f"text={given.text!r:.60} must name the fields of records, such as name+city; a "
            "document that is one text has it under the key text",
        )
    row, is_new = await service.writer.call("create_index", (name, given_settings(given)))
    await exchange.answer(row, 201 if is_new else 200)


async def get_index(service: Service, exchange: Exchange) -> None:
    exchange.parameters(typed.NoParameters)
    name = exchange.values["name"]
    reader = await service.readers.get(name)
    await exchange.answer(index_row(name, reader.index))


async def delete_index(service: Service, exchange: Exchange) -> None:
    exchange.parameters(typed.NoParameters)
    name = exchange.values["name"]
    await service.writer.call("delete_index", (name,))
    await exchange.answer({"name": name, "deleted": True})


async def stats(service: Service, exchange: Exchange) -> None:
    exchange.parameters(typed.NoParameters)
    reader = await service.readers.get(exchange.values["name"])
    found = await reader.ask_apart(lambda index: index.stats(0).to_dict())
    await exchange.answer(found)


async def compact(service: Service, exchange: Exchange) -> None:
    exchange.parameters(typed.NoParameters)
    await exchange.answer(await service.writer.call("compact", (exchange.values["name"], 0)))


async def expire(service: Service, exchange: Exchange) -> None:
    exchange.parameters(typed.NoParameters)
    await exchange.answer(await service.writer.call("expire", (exchange.values["name"], 0)))


async def backup(service: Service, exchange: Exchange) -> None:
    exchange.parameters(typed.NoParameters)
    given = await exchange.typed(typed.BackupRequest)
    done = await service.writer.call("backup", (exchange.values["name"], given.name))
    await exchange.answer(done)


_INDEX = "/v1/indexes/{name}"
_MISSING = ("index_not_found",)
ENDPOINTS = [
    Endpoint(
        "GET",
        "/v1/indexes",
        list_indexes,
        "List the indexes",
        "read",
        typed.IndexList,
        about="Only those that the key may see. One that cannot be read is left out, and its GET "
        "says why.",
    ),
    Endpoint(
        "PUT",
        _INDEX,
        create_index,
        "Create an index",
        "admin",
        typed.IndexInfo,
        about="The settings are those of `nd.Index` and are fixed. The same request again changes "
        "nothing (200); other settings are refused (409). Without a body, all are defaults.",
        body=typed.IndexRequest,
        status=201,
        codes=("settings_differ", "name_taken", "invalid_setting"),
    ),
    Endpoint(
        "GET", _INDEX, get_index, "Describe an index", "read", typed.IndexInfo, codes=_MISSING
    ),
    Endpoint(
        "DELETE",
        _INDEX,
        delete_index,
        "Delete an index",
        "admin",
        typed.IndexDeleted,
        about="All of its documents are deleted.",
        codes=_MISSING,
    ),
    Endpoint(
        "GET",
        f"{_INDEX}/stats",
        stats,
        "Size, age and growth of an index",
        "read",
        typed.Stats,
        codes=_MISSING,
    ),
    Endpoint(
        "POST",
        f"{_INDEX}/compact",
        compact,
        "Merge segments and free the space of deleted documents",
        "admin",
        typed.Compacted,
        about="Other writes of the index wait meanwhile.",
        codes=(*_MISSING, "queue_full"),
    ),
    Endpoint(
        "POST",
        f"{_INDEX}/expire",
        expire,
        "Remove the documents whose time is over",
        "admin",
        typed.Expired,
        about="They match nothing from that time on, whether they were removed or not.",
        codes=(*_MISSING, "queue_full"),
    ),
    Endpoint(
        "POST",
        f"{_INDEX}/backup",
        backup,
        "Write a verified copy to a new folder under `backups`",
        "admin",
        typed.BackedUp,
        about="Writes go on meanwhile. The copy is an index of its own.",
        body=typed.BackupRequest,
        codes=(*_MISSING, "backup_exists", "invalid_setting"),
    ),
]
