"""Write docs/reference/http-api.md: every endpoint of the service, its types and its errors.

    python scripts/http_api_page.py [--check]

With --check nothing is written; the exit code tells whether the page is up to date. The page is
made from the table of endpoints and their OpenAPI description, as is /docs of a running service.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from neardup.service.docs_page import default_of, example, kind_of
from neardup.service.endpoints.endpoint import Endpoint
from neardup.service.endpoints.table import DESCRIBED
from neardup.service.openapi import ABOUT, TAGS, description, problem_codes
from neardup.service.problems import CODES

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "http-api.md"
HEAD = f"""\
# HTTP API

Generated from the program by `make docs`; a running service shows the same at `/docs`, and as
OpenAPI 3.1 at `/openapi.json`. The guide is [Serve over HTTP](../guides/serve.md).

{ABOUT}
If the service has keys, send `Authorization: Bearer KEY`. Each role includes the ones before it:
`read`, `write`, `admin`. A check that adds documents needs `write`, and `create=true` needs `admin`
if there is no such index yet.
"""


def page() -> str:
    """The whole page."""
    described = description(DESCRIBED)
    tags = [tag for tag in TAGS if any(one.tag == tag for one in DESCRIBED)]
    parts = [HEAD, *_contents()]
    for tag in tags:
        parts += ["", f"## {tag.capitalize()}", "", TAGS[tag]]
        for endpoint in DESCRIBED:
            if endpoint.tag == tag:
                parts += _endpoint(endpoint, described["paths"])
    parts += ["", "## Types"]
    for name, schema in sorted(described["components"]["schemas"].items()):
        parts += _type(name, schema)
    parts += ["", "## Errors", "", *_problems()]
    return "\n".join(parts) + "\n"


def _contents() -> Iterator[str]:
    yield "| endpoint | role | what it does |"
    yield "|---|---|---|"
    for endpoint in DESCRIBED:
        link = f"[`{_title(endpoint)}`](#{_anchor(_title(endpoint))})"
        yield f"| {link} | {endpoint.role or 'none'} | {endpoint.summary} |"


def _endpoint(endpoint: Endpoint, paths: dict[str, Any]) -> Iterator[str]:
    operation = paths[_path(endpoint)][endpoint.method.lower()]
    yield from ("", f"### {_title(endpoint)}", "", f"{endpoint.summary}. {endpoint.about}".rstrip())
    yield from ("", "```sh", example(endpoint), "```", "")
    parameters = [one for one in operation["parameters"] if one["in"] == "query"]
    if parameters:
        yield from ("| parameter | type | meaning |", "|---|---|---|")
        for one in parameters:
            said = f"{one.get('description', '')} {default_of(one)}".strip()
            yield f"| `{one['name']}` | {_cell(kind_of(one['schema']))} | {_cell(said)} |"
        yield ""
    body = operation.get("requestBody", {}).get("content", {})
    if body:
        yield f"- Body: {_media(body)}"
    answer = operation["responses"][str(endpoint.status)]["content"]
    yield f"- Answer {endpoint.status}: {_media(answer)}"
    codes = (f"{CODES[code][0]} `{code}`" for code in problem_codes(endpoint))
    yield f"- Errors: {', '.join(codes)}"


def _media(content: dict[str, Any]) -> str:
    """The types of JSON, as links, and the media types."""
    (first, schema), *others = content.items()
    kind = _linked(schema["schema"]) + " as " if schema else ""
    return kind + ", ".join(f"`{each}`" for each in (first, *(other for other, _ in others)))


def _type(name: str, schema: dict[str, Any]) -> Iterator[str]:
    yield from ("", f"### {_heading(name)}", "")
    if schema.get("description"):
        yield from (schema["description"], "")
    yield from ("| field | type | meaning |", "|---|---|---|")
    for field, each in schema.get("properties", {}).items():
        yield f"| `{field}` | {_linked(each)} | {_cell(each.get('description', ''))} |"


def _problems() -> Iterator[str]:
    yield f"Every error is an `application/problem+json` object, {_link('ProblemDetails')}."
    yield "Compare `code`, not `detail`, which is for people."
    yield from ("", "| status | code | meaning |", "|---|---|---|")
    for code, (status, title) in CODES.items():
        yield f"| {status} | `{code}` | {title} |"


def _linked(schema: dict[str, Any]) -> str:
    """A schema in a few words, its types as links."""
    if "$ref" in schema:
        return _link(kind_of(schema))
    if "anyOf" in schema:
        return " or ".join(map(_linked, schema["anyOf"]))
    if schema.get("type") == "array" and schema.get("items"):
        return f"array of {_linked(schema['items'])}"
    return _cell(kind_of(schema))


def _link(name: str) -> str:
    return f"[{name}](#{_anchor(_heading(name))})"


def _heading(name: str) -> str:
    """The heading of a type, which differs from those of the sections."""
    return f"{name} object"


def _path(endpoint: Endpoint) -> str:
    return endpoint.path.replace(":path}", "}")


def _title(endpoint: Endpoint) -> str:
    return f"{endpoint.method} {_path(endpoint)}"


def _anchor(heading: str) -> str:
    kept = (sign for sign in heading.lower() if sign.isalnum() or sign in " -_")
    return "".join(kept).replace(" ", "-")


def _cell(text: str) -> str:
    """Text in which no sign divides the table."""
    return text.replace("|", "\\|")


def main() -> None:
    """Write the page, or check it."""
    wanted = page()
    if "--check" in sys.argv[1:]:
        sys.exit(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != wanted)
    PAGE.write_text(wanted, encoding="utf-8")


if __name__ == "__main__":
    main()
