"""`/docs`: the description of the service as one page, without scripts and without other sites."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import msgspec

from neardup.report.dedup_page.markup import Markup, fill, joined
from neardup.service.endpoints.endpoint import Endpoint
from neardup.service.openapi import ABOUT, TAGS, description, problem_codes
from neardup.service.problems import CODES

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>neardup: HTTP API</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{style}</style></head>
<body><header><h1>neardup</h1><p>{about}</p>
<p>The same for programs: <a href="/openapi.json">/openapi.json</a></p>
<h2>The shortest way</h2><pre>{shortest}</pre>
<nav>{contents}</nav></header><main>{sections}<h2 id="types">Types</h2>{types}
<h2 id="problems">Problems</h2><table><tr><th>code</th><th>status</th><th>meaning</th></tr>
{problems}</table></main></body></html>
"""
_STYLE = Markup("""
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --blue: #2563b0; }
@media (prefers-color-scheme: dark) { :root { --blue: #7db1f0; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
a { color: var(--blue); } nav a { margin-right: 1rem; }
code, pre { font: 14px/1.45 ui-monospace, monospace; }
pre { background: var(--soft); padding: .8rem; overflow-x: auto; border-radius: 6px; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0;
  padding: .4rem .8rem; }
summary { cursor: pointer; } summary b { display: inline-block; min-width: 4.2rem; }
summary span { float: right; opacity: .75; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; }
th, td { text-align: left; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
@media (max-width: 50rem) { summary span { float: none; display: block; } }
""")
_SHORTEST = """\
curl 'localhost:7700/v1/indexes/pages/check?create=true' \\
  -H 'Content-Type: application/json' \\
  -d '{"id": "first", "text": "to be or not to be, that is the question"}'"""
_ROW = "<tr><td><code>{name}</code></td><td><code>{kind}</code></td><td>{about}</td></tr>"


@cache
def page(endpoints: tuple[Endpoint, ...]) -> str:
    """The whole page."""
    described = description(endpoints)
    tags = [tag for tag in TAGS if any(endpoint.tag == tag for endpoint in endpoints)]
    return fill(
        _PAGE,
        style=_STYLE,
        about=ABOUT,
        shortest=_SHORTEST,
        contents=joined(
            fill('<a href="#{tag}">{tag}</a>', tag=tag) for tag in (*tags, "types", "problems")
        ),
        sections=joined(_section(tag, endpoints, described["paths"]) for tag in tags),
        types=joined(
            _type(name, schema) for name, schema in described["components"]["schemas"].items()
        ),
        problems=joined(
            fill(
                "<tr><td><code>{code}</code></td><td>{status}</td><td>{title}</td></tr>",
                code=code,
                status=status,
                title=title,
            )
            for code, (status, title) in CODES.items()
        ),
    )


def _section(tag: str, endpoints: Sequence[Endpoint], paths: dict[str, Any]) -> Markup:
    some = [endpoint for endpoint in endpoints if endpoint.tag == tag]
    return fill(
        '<h2 id="{tag}">{tag}</h2><p>{about}</p>{rows}',
        tag=tag,
        about=TAGS[tag],
        rows=joined(_endpoint(endpoint, paths) for endpoint in some),
    )


def _endpoint(endpoint: Endpoint, paths: dict[str, Any]) -> Markup:
    place = endpoint.path.replace(":path}", "}")
    operation = paths[place][endpoint.method.lower()]
    parameters = joined(
        fill(
            _ROW,
            name=one["name"],
            kind=_kind(one["schema"]),
            about=_default(one),
        )
        for one in operation["parameters"]
        if one["in"] == "query"
    )
    content = operation.get("requestBody", {}).get("content", {})
    codes = ", ".join(f"{CODES[code][0]} {code}" for code in problem_codes(endpoint))
    return fill(
        "<details><summary><b>{method}</b><code>{path}</code> <span>{summary}</span></summary>"
        "{about}{role}{parameters}{body}{answer}<p>Problems: {codes}</p></details>",
        method=endpoint.method,
        path=place,
        summary=endpoint.summary,
        about=fill("<p>{about}</p>", about=endpoint.about) if endpoint.about else "",
        role=fill("<p>Role: {role}</p>", role=endpoint.role) if endpoint.role else "",
        parameters=fill("<p>Parameters:</p><table>{rows}</table>", rows=parameters)
        if parameters
        else "",
        body=joined(_contents("Body", content)),
        answer=joined(_contents("Answer", operation["responses"][str(endpoint.status)]["content"])),
        codes=codes,
    )


def _contents(what: str, content: dict[str, Any]) -> Iterator[Markup]:
    for media_type, each in content.items():
        yield fill(
            "<p>{what}: <code>{media_type}</code> {kind}</p>",
            what=what,
            media_type=media_type,
            kind=_linked(each.get("schema", {})),
        )


def _linked(schema: dict[str, Any]) -> Markup:
    """The names of types, as links to their descriptions."""
    names = [
        one["$ref"].rpartition("/")[2] for one in schema.get("anyOf", [schema]) if "$ref" in one
    ]
    links = [fill('<a href="#type-{name}">{name}</a>', name=name) for name in names]
    return Markup(" or ".join(links))


def _default(parameter: dict[str, Any]) -> str:
    about = str(parameter.get("description", ""))
    default = parameter["schema"].get("default")
    return about if default is None else f"{about} Default: {default}."


def _type(name: str, schema: dict[str, Any]) -> Markup:
    rows = joined(
        fill(_ROW, name=field, kind=_kind(each), about=each.get("description", ""))
        for field, each in schema.get("properties", {}).items()
    )
    return fill(
        '<details id="type-{name}"><summary><code>{name}</code> {about}</summary>'
        "<table>{rows}</table></details>",
        name=name,
        about=schema.get("description", ""),
        rows=rows,
    )


def _kind(schema: dict[str, Any]) -> str:
    """A schema in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return " or ".join(_kind(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(msgspec.json.encode(one).decode() for one in schema["enum"])
    if schema.get("type") == "array":
        return f"array of {_kind(schema.get('items', {}))}"
    return str(schema.get("type", "any"))
