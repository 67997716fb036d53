"""Whether everybody can use a page: names, order, contrast, focus and sizes, as WCAG 2.2 asks.

The checks run in the page itself, on what the browser computed. Each finding is a sentence with
the element it is about; a page without findings is a good one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

_CHECKS = Path(__file__).parent / "checks"
PARTS = ("structure", "contrast", "sizes", "focus")


def findings(page: Page, *parts: str) -> list[str]:
    """What is wrong with a page; all parts are checked if none is named."""
    shared = (_CHECKS / "shared.js").read_text("utf-8")
    found: list[str] = []
    for part in parts or PARTS:
        script = (_CHECKS / f"{part}.js").read_text("utf-8")
        found += page.evaluate(f"() => {{ {shared}\n{script}\nreturn [...new Set(findings)]; }}")
    return found


def tab_stops(page: Page, most: int = 400) -> list[str]:
    """What the tab key visits, from the top of a page until it leaves it or returns.

    A page that holds the focus has `most` stops.
    """
    page.evaluate("() => { document.activeElement?.blur(); scrollTo(0, 0); }")
    page.evaluate("() => { let n = 0; window.__stop = (e) => e.__stop ??= String(n++); }")
    stops: list[str] = []
    while len(stops) < most:
        page.keyboard.press("Tab")
        stop = page.evaluate(
            "() => document.activeElement === document.body || !document.activeElement"
            " ? null : window.__stop(document.activeElement)"
        )
        if stop is None or stop in stops:
            break
        stops.append(stop)
    return stops
