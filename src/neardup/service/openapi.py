"""The OpenAPI description, made from the table of endpoints and their types."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from types import UnionType
from typing import Any, get_args

import msgspec
import orjson

from neardup import __version__
from neardup.service import typed
from neardup.service.endpoints.endpoint import Endpoint
from neardup.service.exchange import ARROW, JSON, NDJSON
from neardup.service.problems import CODES, MEDIA_TYPE

_PLACE = re.compile(r"\{(\w+)(:\w+)?\}")
_SCHEMAS = "#/components/schemas/{name}"
# Problems that every endpoint, every one with a body, and every one with a key may have.
_ALWAYS = ("unknown_parameter", "invalid_parameter", "internal", "unavailable")
_WITH_BODY = ("invalid_json", "timeout", "body_too_large", "unsupported_media_type")
_WITH_KEY = ("unauthorized", "forbidden")
TAGS = {
    "documents": "Check, query, add and delete documents.",
    "indexes": "Create, describe and delete indexes.",
    "operations": "Look after an index.",
    "texts": "Fingerprint and compare texts; nothing is stored.",
    "jobs": "Run dedup, tune and sweep over files of the data folder.",
    "service": "Health and metrics.",
}
ABOUT = """\
Near-duplicates over HTTP: "was something like this seen before?", answered with proof.

Options are query parameters. Bodies are JSON, NDJSON (`application/x-ndjson`) or Arrow IPC streams
(`application/vnd.apache.arrow.stream`), and may be packed (`Content-Encoding: gzip` or `zstd`).
Every error is a problem (`application/problem+json`) with a code, a sentence and what to do; 429
and 503 say in `Retry-After` when to try again. Every write with an id can be repeated.
"""


def description(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """The whole description."""
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        place = _PLACE.sub(r"{\1}", endpoint.path)
        paths.setdefault(place, {})[endpoint.method.lower()] = _operation(endpoint)
    types = {typed.ProblemDetails}
    for endpoint in endpoints:
        types |= {*_kinds(endpoint.body), *_kinds(endpoint.answer)}
    ordered = sorted(types, key=lambda kind: str(kind.__name__))
    _, components = msgspec.json.schema_components(ordered, ref_template=_SCHEMAS)
    # Records have fields of any name beside the known ones.
    components["Document"]["additionalProperties"] = True
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "neardup",
            "version": __version__,
            "description": ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "tags": [{"name": name, "description": about} for name, about in TAGS.items()],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


@cache
def description_json(endpoints: tuple[Endpoint, ...]) -> bytes:
    """The description as JSON."""
    return orjson.dumps(description(endpoints))


def problem_codes(endpoint: Endpoint) -> list[str]:
    """The codes of the problems that an endpoint may answer with, by status."""
    codes = {*_ALWAYS, *endpoint.codes}
    if endpoint.body is not None:
        codes |= {*_WITH_BODY, "invalid_encoding", "invalid_document", "invalid_setting"}
    if endpoint.role is not None:
        codes |= {*_WITH_KEY}
    if "{name}" in endpoint.path:
        codes |= {"disk_full", "index_damaged"}
    return sorted(codes, key=lambda code: (CODES[code][0], code))


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    words = re.sub(r"[^a-z]+", "_", _PLACE.sub(r"\1", endpoint.path).lower()).strip("_")
    found: dict[str, Any] = {
        "operationId": f"{endpoint.method.lower()}_{words}",
        "tags": [endpoint.tag],
        "summary": endpoint.summary,
        "parameters": [*_places(endpoint), *_parameters(endpoint)],
        "responses": _responses(endpoint),
    }
    if endpoint.about:
        found["description"] = endpoint.about
    if endpoint.body is not None:
        content: dict[str, Any] = {JSON: {"schema": _schema(endpoint.body)}}
        if endpoint.streams:
            content[NDJSON] = {"schema": {"type": "string", "description": "A document a line."}}
            content[ARROW] = {"schema": {"type": "string", "format": "binary"}}
        is_needed = endpoint.body is not typed.IndexRequest
        found["requestBody"] = {"required": is_needed, "content": content}
    if endpoint.role is not None:
        found["security"] = [{}, {"key": []}]
        found["x-role"] = endpoint.role
    return found


def _places(endpoint: Endpoint) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", "minLength": 1},
        }
        for name, _ in _PLACE.findall(endpoint.path)
    ]


def _parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    if not endpoint.parameters.__struct_fields__:
        return []
    (_, components) = msgspec.json.schema_components([endpoint.parameters])
    properties = components[endpoint.parameters.__name__]["properties"]
    found = []
    for name, schema in properties.items():
        about = schema.pop("description", None)
        choices = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
        if len(choices) == 1:  # a parameter that is not given is not null
            schema = dict(choices[0])
            about = schema.pop("description", about)
        if schema.get("default", 0) is None:
            del schema["default"]
        one = {"name": name, "in": "query", "required": False, "schema": schema}
        found.append(one if about is None else {**one, "description": about})
    return found


def _responses(endpoint: Endpoint) -> dict[str, Any]:
    content: dict[str, Any] = {endpoint.media_type: {}}
    if endpoint.answer is not None:
        content = {JSON: {"schema": _schema(endpoint.answer)}}
    if endpoint.streams:
        content[NDJSON] = {"schema": {"type": "string"}}
        content[ARROW] = {"schema": {"type": "string", "format": "binary"}}
    found: dict[str, Any] = {
        str(endpoint.status): {"description": endpoint.summary, "content": content}
    }
    if endpoint.status == 201:
        found["200"] = {
            "description": "It was there already, with these settings.",
            "content": content,
        }
    codes: dict[int, list[str]] = {}
    for code in problem_codes(endpoint):
        codes.setdefault(CODES[code][0], []).append(code)
    problem = {MEDIA_TYPE: {"schema": {"$ref": _SCHEMAS.format(name="ProblemDetails")}}}
    for status, some in codes.items():
        said = "; ".join(f"{code}: {CODES[code][1]}" for code in some)
        found[str(status)] = {"description": said, "content": problem}
        if status in (429, 503):
            found[str(status)]["headers"] = {
                "Retry-After": {"schema": {"type": "integer"}, "description": "Seconds to wait."}
            }
    return found


def _kinds(kind: Any) -> tuple[Any, ...]:
    if kind is None:
        return ()
    return get_args(kind) if isinstance(kind, UnionType) else (kind,)


def _schema(kind: Any) -> dict[str, Any]:
    references = [{"$ref": _SCHEMAS.format(name=each.__name__)} for each in _kinds(kind)]
    return references[0] if len(references) == 1 else {"anyOf": references}
