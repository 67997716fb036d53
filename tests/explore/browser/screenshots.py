"""Pictures of every page, to be looked at: python -m tests.explore.browser.screenshots DIR.

A picture is named RUN-PAGE-WIDTH-THEME.png.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tests.explore.browser.addresses import LABORATORY, pages_of
from tests.explore.browser.samples import code_run, records_run, sample_run
from tests.explore.browser.serving import Explored, explored, started_browser, why_not

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WIDTHS = (360, 800, 1280)
THEMES = ("light", "dark")
RUNS = {"sample": sample_run, "records": records_run, "code": code_run}


def take_all(folder: Path) -> int:
    """Write the pictures of all runs; their number."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    with TemporaryDirectory(prefix="neardup-") as made, started_browser() as browser:
        for name, make in RUNS.items():
            room = Path(made) / name
            room.mkdir()
            with explored(make(room), "--by", "ann") as served:
                pages = pages_of(served.out) | (LABORATORY if name == "sample" else {})
                _decide(browser, served)
                for width in WIDTHS:
                    for theme in THEMES:
                        count += _take(browser, served, pages, width, theme, folder / name)
    return count


def _decide(browser: Browser, served: Explored) -> None:
    """One decision, so that pages have something to show of it."""
    page = browser.new_page()
    page.goto(served.at("/review"))
    with page.expect_navigation():
        page.keyboard.press("d")
    page.close()


def _take(
    browser: Browser, served: Explored, pages: dict[str, str], width: int, theme: str, start: Path
) -> int:
    dark = theme == "dark"
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme="dark" if dark else "light"
    )
    page = context.new_page()
    for what, address in pages.items():
        page.goto(served.at(address))
        path = start.with_name(f"{start.name}-{what}-{width}-{theme}.png")
        page.screenshot(path=path, full_page=True)
    context.close()
    return len(pages)


def main() -> None:
    """Write the pictures into the folder that is named."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.explore.browser.screenshots DIR")
    if reason := why_not():
        sys.exit(reason)
    print(f"{take_all(Path(sys.argv[1]))} pictures")


if __name__ == "__main__":
    main()
