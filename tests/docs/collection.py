"""The pages, in parts that are tested side by side; the last one has those of new folders."""

from __future__ import annotations

from pathlib import Path

from tests.docs.steps import ROOT

_PARTS = ("docs/guides/", "docs/reference/", "docs/start/")


def pages() -> list[str]:
    """Every page for users, by its path from the root."""
    found: list[Path] = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    found += (ROOT / "examples").rglob("*.md")
    names = (page.relative_to(ROOT).as_posix() for page in found)
    return sorted(name for name in names if not name.startswith("docs/decisions/"))


def of_part(part: str) -> list[str]:
    """The pages below a folder of `_PARTS`; those of no such folder for an empty part."""
    if part:
        return [page for page in pages() if page.startswith(part)]
    return [page for page in pages() if not page.startswith(_PARTS)]
