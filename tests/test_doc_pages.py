"""Documentation: every link resolves, and the reference is complete.

That commands and examples work as written is tested in tests/docs.
"""

from __future__ import annotations

import doctest
import inspect
import re
import unicodedata
from pathlib import Path

import pytest

import neardup as nd
from neardup.settings import SETTINGS

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.md")]
)
API = ROOT / "docs" / "reference" / "python-api.md"
_FENCE = re.compile(r"^(```|~~~).*?^\1\s*?$", re.M | re.S)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.M)


def prose(page: Path) -> str:
    """A page without its code blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The anchors of all headings, as on GitHub."""
    found: dict[str, int] = {}
    names = set()
    for heading in _HEADING.findall(prose(page)):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
        kept = (c for c in text.lower() if c in " -_" or unicodedata.category(c)[0] in "LN")
        name = "".join(kept).replace(" ", "-")
        names.add(f"{name}-{found[name]}" if name in found else name)
        found[name] = found.get(name, 0) + 1
    return names


def broken_links(page: Path) -> list[str]:
    """The broken relative links of a page."""
    broken = []
    for target in _LINK.findall(prose(page)):
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors(file)):
            broken.append(target)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_resolves(page):
    assert broken_links(page) == []


def test_a_broken_link_is_noticed(tmp_path):
    (tmp_path / "other.md").write_text("# One `two`, three\n\n## Same\n\n## Same\n")
    page = tmp_path / "page.md"
    page.write_text(
        "[fine](other.md#one-two-three) [fine](other.md#same-1) [fine](https://example.org)\n"
        "```\n[code](nowhere.md)\n```\n"
        "[file](nowhere.md) [anchor](other.md#four) [own](#none)\n"
    )
    assert broken_links(page) == ["nowhere.md", "other.md#four", "#none"]


def test_the_index_lists_every_page():
    listed = set(_LINK.findall(prose(ROOT / "docs" / "README.md")))
    pages = {
        page.relative_to(ROOT / "docs").as_posix()
        for page in (ROOT / "docs").rglob("*.md")
        if page.parent.name != "decisions" and page.name != "README.md"
    }
    assert pages <= listed


def test_the_api_page_has_every_public_name():
    told = prose(API)
    assert [name for name in nd.__all__ if f"`{name}`" not in told] == []


@pytest.mark.parametrize(
    "name",
    [name for name in nd.__all__ if name[0].islower()] + ["Index", "MemoryIndex", "Fingerprints"],
)
def test_the_api_page_has_every_argument(name):
    text = API.read_text(encoding="utf-8")
    section = re.search(rf"^### {name}\n(.*?)^##", text, re.M | re.S)
    shown = re.search(rf"nd\.{name}\((.*?)\)(?:`| ->|\n)", section[1], re.S)[1]
    arguments = {part.strip() for part in shown.split(",")}
    for one in inspect.signature(getattr(nd, name)).parameters.values():
        if one.kind is not one.VAR_KEYWORD:
            default = "" if one.default is one.empty else f"={one.default!r}".replace("'", '"')
            assert f"{one.name}{default}" in arguments


def test_the_examples_of_the_api_page_run():
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    failed, tried = doctest.testfile(
        str(API), module_relative=False, globs={"nd": nd}, optionflags=flags
    )
    assert tried > 20
    assert failed == 0


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_the_page_of_settings_has_every_setting(setting):
    page = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith(f"| `{setting.name}` | `--"))
    assert f"`{setting.option}" in row
    if setting.default is not None:
        assert f"`{setting.default}`" in row
