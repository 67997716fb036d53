"""`/docs`: the description of the service as one page, without scripts and without other sites."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import msgspec

from neardup import __version__
from neardup.report.markup import Markup, fill, joined
from neardup.service.endpoints.endpoint import Endpoint
from neardup.service.openapi import ABOUT, TAGS, description, problem_codes
from neardup.service.problems import CODES

ADDRESS = "localhost:7700"
# What the places of a path are called in an example.
NAMES = {
    "/v1/jobs/{id}": "20261117-134652-000001-0123456789abcdef",
    "{name:path}": "kept.parquet",
    "{id:path}": "first",
    "{name}": "pages",
}
_TEXT = "to be or not to be, that is the question"
# The query and the JSON of an example, by endpoint; the others need neither.
EXAMPLES: dict[str, tuple[str, str]] = {
    "POST /v1/indexes/{name}/check": ("?create=true", f'{{"id": "first", "text": "{_TEXT}"}}'),
    "POST /v1/indexes/{name}/query": ("?limit=3", f'{{"text": "{_TEXT}"}}'),
    "POST /v1/indexes/{name}/documents": (
        "",
        '{"documents": [{"id": 1, "text": "all the world is a stage"}, '
        '{"id": 2, "text": "my kingdom for a horse", "metadata": {"act": 5}}]}',
    ),
    "POST /v1/indexes/{name}/documents/delete": ("", '{"ids": [1, 2]}'),
    "POST /v1/indexes/{name}/compare": (
        "",
        f'{{"a": {{"text": "{_TEXT}"}}, "b": {{"text": "to be or not, that is the question"}}}}',
    ),
    "PUT /v1/indexes/{name}": ("", '{"threshold": 0.8}'),
    "POST /v1/indexes/{name}/backup": ("", '{"name": "monday"}'),
    "POST /v1/fingerprint": ("", f'{{"texts": ["{_TEXT}"]}}'),
    "POST /v1/compare": ("", f'{{"a": "{_TEXT}", "b": "to be or not, that is the question"}}'),
    "POST /v1/jobs": (
        "",
        '{"kind": "dedup", "inputs": ["corpus/*.jsonl"], "settings": {"threshold": 0.9}}',
    ),
}
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>neardup: HTTP API</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{style}</style></head>
<body><nav><a class="top" href="#top">neardup <small>{version}</small></a>{contents}</nav>
<main id="top"><h1>neardup over HTTP</h1>{about}
<p>OpenAPI 3.1, for tools: <a href="/openapi.json">/openapi.json</a>. If the service has keys, send
<code>Authorization: Bearer KEY</code>.</p>
<h2 id="start">The shortest way</h2><pre>{shortest}</pre>
<p>The answer says whether something like it was seen before; if not, it is stored now. Send it
again under another id, and it is not new.</p>
{sections}
<h2 id="types">Types</h2>{types}
<h2 id="problems">Errors</h2><p>Every error is an <code>application/problem+json</code> object,
<a href="#type-ProblemDetails">ProblemDetails</a>. Clients should compare <code>code</code>, not
<code>detail</code>, which is for people.</p>
<table><tr><th>Status</th><th>Code</th><th>Meaning</th></tr>{problems}</table></main></body></html>
"""
_STYLE = Markup("""
:root { color-scheme: light dark; --text: #1d2530; --quiet: #5c6773; --line: #dfe3e8;
  --soft: #f5f7f9; --page: #fff; --link: #1a5fb4; --get: #1a5fb4; --post: #1e7b45;
  --put: #96610a; --delete: #b3302c; }
@media (prefers-color-scheme: dark) { :root { --text: #dde3ea; --quiet: #97a3b0;
  --line: #323a44; --soft: #1b2129; --page: #13171c; --link: #78aeed; --get: #78aeed;
  --post: #6cc490; --put: #dcab55; --delete: #ee8883; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; display: grid; grid-template-columns: 19rem minmax(0, 1fr);
  background: var(--page); color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.4rem 1rem 2rem 1.4rem;
  background: var(--soft); border-right: 1px solid var(--line); font-size: 14px; }
nav a { display: flex; gap: .5rem; padding: .13rem 0; color: inherit; }
nav a.top { font-size: 1.25rem; font-weight: 650; align-items: baseline; }
nav a.part { margin-top: .9rem; font-weight: 650; }
nav small { color: var(--quiet); font-weight: 400; }
nav .method { min-width: 2.9rem; font-size: 10.5px; line-height: 21px; }
main { max-width: 54rem; padding: 1.4rem 2.5rem 5rem; }
h1 { margin: 0 0 .8rem; font-size: 2rem; line-height: 1.2; }
h2 { margin: 3.2rem 0 .5rem; padding-bottom: .25rem; border-bottom: 2px solid var(--line); }
h3 { margin: 0; font-size: 1.1rem; } h3 code { font-size: 1rem; overflow-wrap: anywhere; }
h4 { margin: 1rem 0 .2rem; font-size: .82rem; color: var(--quiet); font-weight: 600; }
section { margin: 1.6rem 0; padding: 1.1rem 1.3rem; border: 1px solid var(--line);
  border-radius: 8px; }
section > p { margin: .5rem 0; } section > h4 + p { margin: 0; } p.summary { font-weight: 550; }
.method { font: 650 .78rem/1 ui-monospace, monospace; letter-spacing: .02em; }
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); }
.delete { color: var(--delete); }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .875em; }
p code, td code, summary code { background: var(--soft); border-radius: 4px; padding: .08em .2em; }
pre { margin: .8rem 0; padding: .8rem 1rem; background: var(--soft); border-radius: 6px;
  border: 1px solid var(--line); overflow-x: auto; line-height: 1.5; }
h3 + table { margin-top: .5rem; }
table { border-collapse: collapse; width: 100%; font-size: .94em; }
th { color: var(--quiet); font-weight: 600; font-size: .85em; }
th, td { text-align: left; padding: .32rem .9rem .32rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
tr:last-child td { border-bottom: 0; } td:first-child { white-space: nowrap; width: 1%; }
td.kind { color: var(--quiet); min-width: 9rem; }
details { margin-top: 1rem; font-size: .94em; } summary { cursor: pointer; color: var(--quiet); }
.role { float: right; color: var(--quiet); font-size: .85rem; margin: .15rem 0 0 1rem; }
@media (max-width: 56rem) { body { display: block; } main { padding: 1.2rem 1rem 4rem; }
  nav { position: static; height: auto; border: 0; } section { padding: .9rem; }
  td:first-child { white-space: normal; } }
""")
_ROW = '<tr><td><code>{name}</code></td><td class="kind">{kind}</td><td>{about}</td></tr>'


@cache
def page(endpoints: tuple[Endpoint, ...]) -> str:
    """The whole page."""
    described = description(endpoints)
    paths, types = described["paths"], described["components"]["schemas"]
    tags = [tag for tag in TAGS if any(endpoint.tag == tag for endpoint in endpoints)]
    return fill(
        _PAGE,
        style=_STYLE,
        version=__version__,
        about=_paragraphs(ABOUT),
        shortest=example(
            next(one for one in endpoints if _name(one) == "POST /v1/indexes/{name}/check")
        ),
        contents=joined(
            [
                *(_links(tag, endpoints, paths) for tag in tags),
                Markup('<a class="part" href="#types">Types</a>'),
                Markup('<a class="part" href="#problems">Errors</a>'),
            ]
        ),
        sections=joined(_part(tag, endpoints, paths) for tag in tags),
        types=joined(_type(name, types[name]) for name in sorted(types)),
        problems=_codes(CODES),
    )


def example(endpoint: Endpoint) -> str:
    """A command that calls an endpoint."""
    path = endpoint.path
    for place, name in NAMES.items():
        path = path.replace(place, f"/v1/jobs/{name}" if place.startswith("/") else name)
    query, body = EXAMPLES.get(_name(endpoint), ("", ""))
    method = "" if endpoint.method == ("POST" if body else "GET") else f"-X {endpoint.method} "
    place = f"'{ADDRESS}{path}{query}'" if query else f"{ADDRESS}{path}"
    if not body:
        return f"curl {method}{place}"
    return f"curl {method}{place} \\\n  -H 'Content-Type: application/json' \\\n  -d '{body}'"


def kind_of(schema: dict[str, Any]) -> str:
    """A schema in a few words, with the limits of numbers."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return " or ".join(kind_of(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(msgspec.json.encode(one).decode() for one in schema["enum"])
    if schema.get("type") == "array":
        items = schema.get("items", {})
        return f"array of {kind_of(items)}" if items else "array"
    return str(schema.get("type", "any")) + _limits(schema)


def default_of(parameter: dict[str, Any]) -> str:
    """What holds if a parameter is not given; "" if nothing does."""
    default = parameter["schema"].get("default")
    return "" if default is None else f"Default: `{_spelt(default)}`."


def _name(endpoint: Endpoint) -> str:
    return f"{endpoint.method} {endpoint.path}"


def _operation(endpoint: Endpoint, paths: dict[str, Any]) -> dict[str, Any]:
    place = endpoint.path.replace(":path}", "}")
    found: dict[str, Any] = paths[place][endpoint.method.lower()]
    return found


def _links(tag: str, endpoints: Sequence[Endpoint], paths: dict[str, Any]) -> Markup:
    """The endpoints of a tag in the table of contents; what all paths begin with is left out."""
    return fill(
        '<a class="part" href="#{tag}">{title}</a>{rows}',
        tag=tag,
        title=tag.capitalize(),
        rows=joined(
            fill(
                '<a href="#{id}">{method}<span>{path}</span></a>',
                id=_operation(endpoint, paths)["operationId"],
                method=_method(endpoint),
                path=_breakable(endpoint.path.replace(":path}", "}").removeprefix("/v1/")),
            )
            for endpoint in endpoints
            if endpoint.tag == tag
        ),
    )


def _breakable(path: str) -> Markup:
    """A path that may be broken before each of its names."""
    return joined(
        fill("<wbr>/{name}" if place else "{name}", name=name)
        for place, name in enumerate(path.split("/"))
    )


def _part(tag: str, endpoints: Sequence[Endpoint], paths: dict[str, Any]) -> Markup:
    return fill(
        '<h2 id="{tag}">{title}</h2><p>{about}</p>{rows}',
        tag=tag,
        title=tag.capitalize(),
        about=_prose(TAGS[tag]),
        rows=joined(_endpoint(endpoint, paths) for endpoint in endpoints if endpoint.tag == tag),
    )


def _endpoint(endpoint: Endpoint, paths: dict[str, Any]) -> Markup:
    operation = _operation(endpoint, paths)
    parameters = [one for one in operation["parameters"] if one["in"] == "query"]
    answer = operation["responses"][str(endpoint.status)]["content"]
    return fill(
        '<section id="{id}">{role}<h3>{method} <code>{path}</code></h3>'
        '<p class="summary">{summary}.</p>{about}<pre>{example}</pre>{parameters}{body}{answer}'
        "<details><summary>Errors</summary><table>{codes}</table></details></section>",
        id=operation["operationId"],
        role=fill('<span class="role">role: {role}</span>', role=endpoint.role)
        if endpoint.role
        else "",
        method=_method(endpoint),
        path=endpoint.path.replace(":path}", "}"),
        summary=_prose(endpoint.summary),
        about=_paragraphs(endpoint.about),
        example=example(endpoint),
        parameters=fill("<h4>Parameters</h4><table>{rows}</table>", rows=_parameters(parameters))
        if parameters
        else "",
        body=_contents("Body", operation.get("requestBody", {}).get("content", {})),
        answer=_contents(f"Answer {endpoint.status}", answer),
        codes=_codes(problem_codes(endpoint)),
    )


def _method(endpoint: Endpoint) -> Markup:
    return fill(
        '<b class="method {kind}">{method}</b>',
        kind=endpoint.method.lower(),
        method=endpoint.method,
    )


def _parameters(parameters: Sequence[dict[str, Any]]) -> Markup:
    return joined(
        fill(
            _ROW,
            name=one["name"],
            kind=_linked(one["schema"]),
            about=_prose(f"{one.get('description', '')} {default_of(one)}".strip()),
        )
        for one in parameters
    )


def _contents(what: str, content: dict[str, Any]) -> Markup:
    """The type of JSON of a body or an answer, and the other media types."""
    if not content:
        return Markup()
    first, *others = content
    kind = _linked(content[first]["schema"]) if content[first] else Markup()
    streams = joined(fill(", <code>{other}</code>", other=other) for other in others)
    return fill(
        "<h4>{what}</h4><p>{kind} <code>{first}</code>{streams}</p>",
        what=what,
        kind=kind,
        first=first,
        streams=streams,
    )


def _codes(codes: Iterable[str]) -> Markup:
    return joined(
        fill(
            "<tr><td>{status}</td><td><code>{code}</code></td><td>{title}.</td></tr>",
            status=CODES[code][0],
            code=code,
            title=CODES[code][1],
        )
        for code in codes
    )


def _type(name: str, schema: dict[str, Any]) -> Markup:
    about = schema.get("description", "")
    return fill(
        '<section id="type-{name}"><h3><code>{name}</code></h3>{about}<table>{rows}</table>'
        "</section>",
        name=name,
        about=_paragraphs(about),
        rows=joined(
            fill(
                _ROW,
                name=field,
                kind=_linked(each),
                about=_prose(str(each.get("description", ""))),
            )
            for field, each in schema.get("properties", {}).items()
        ),
    )


def _linked(schema: dict[str, Any]) -> Markup:
    """A schema in a few words, its types as links to their descriptions."""
    if "$ref" in schema:
        return fill('<a href="#type-{name}">{name}</a>', name=kind_of(schema))
    if "anyOf" in schema:
        return Markup(" or ".join(_linked(one) for one in schema["anyOf"]))
    if schema.get("type") == "array" and schema.get("items"):
        return fill("array of {items}", items=_linked(schema["items"]))
    return fill("{kind}", kind=kind_of(schema))


def _limits(schema: dict[str, Any]) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None:
        return f", {least} to {most}"
    above = schema.get("exclusiveMinimum")
    if above is not None and most is not None:
        return f", above {above}, up to {most}"
    return ""


def _spelt(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _paragraphs(text: str) -> Markup:
    return joined(fill("<p>{text}</p>", text=_prose(one)) for one in text.split("\n\n") if one)


def _prose(text: str) -> Markup:
    """Text in which what stands between backticks is code."""
    return joined(
        fill("<code>{part}</code>" if number % 2 else "{part}", part=part)
        for number, part in enumerate(text.split("`"))
    )
