"""The page docs/how-it-works/reproductions.md: prose from template.md, numbers from the results."""

from __future__ import annotations

import re
from pathlib import Path

from scripts.reproductions_page import facts
from scripts.reproductions_page.results import Json

PAGE = Path(__file__).parents[2] / "docs" / "how-it-works" / "reproductions.md"
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
    """Write docs/how-it-works/reproductions.md."""
    PAGE.write_text(page(parts), encoding="utf-8")
