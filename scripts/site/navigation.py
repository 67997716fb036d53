"""The navigation of the site, made from the list of pages in docs/README.md.

Sections are headings of the second level, groups in them of the third; the pages are the links that
begin the items of lists. So a page that the list names is in the navigation.
"""

import re
from typing import Any

from scripts.site.pages import DECISIONS, DOCS, HOME, place_of, title

_ITEM = re.compile(r"^- \[(?P<text>[^\]]+)\]\((?P<target>[^)]+)\)")
_FIRST = "## Start here"


def navigation() -> list[Any]:
    """The sections as mkdocs.yml has them: one-entry mappings of names to pages or lists."""
    text = HOME.read_text(encoding="utf-8")
    sections: list[Any] = [{"Home": "index.md"}]
    into: list[Any] = sections
    for line in text[text.index(_FIRST) :].splitlines():
        if line.startswith("## "):
            into = _opened(sections, line[3:])
        elif line.startswith("### "):
            into = _opened(_last(sections), line[4:])
        elif found := _ITEM.match(line):
            into.append({found["text"]: _page(found["target"])})
    return sections


def _opened(into: list[Any], name: str) -> list[Any]:
    held: list[Any] = []
    into.append({name: held})
    return held


def _last(sections: list[Any]) -> list[Any]:
    (held,) = sections[-1].values()
    return held  # type: ignore[no-any-return]


def _page(target: str) -> str | list[dict[str, str]]:
    file = (DOCS / target).resolve()
    if file == DECISIONS:
        pages = sorted(DECISIONS.glob("*.md"))
        return [
            {"All decisions": "decisions/index.md"},
            *({title(page): f"decisions/{page.name}"} for page in pages),
        ]
    return target if file.is_relative_to(DOCS) else str(place_of(file))
