"""The page docs/seeds.md: its prose is template.md, its numbers are those of the results."""

from __future__ import annotations

import re
from pathlib import Path

from scripts.seeds_page import facts
from scripts.seeds_page.results import Json

PAGE = Path(__file__).parents[2] / "docs" / "seeds.md"
TEMPLATE = Path(__file__).parent / "template.md"
_BLANK = re.compile(r"\{\{(\w+)\}\}")


def page(parts: dict[str, Json]) -> str:
    """The whole page, every blank of the template filled in."""
    known = facts.every(parts)
    text = TEMPLATE.read_text(encoding="utf-8")
    blanks = set(_BLANK.findall(text))
    if blanks != set(known):
        odd = sorted(blanks ^ set(known))
        raise SystemExit(f"{TEMPLATE.name} and the facts do not agree on {', '.join(odd)}")
    return _BLANK.sub(lambda blank: known[blank[1]], text)


def write(parts: dict[str, Json]) -> None:
    """Write docs/seeds.md."""
    PAGE.write_text(page(parts), encoding="utf-8")
