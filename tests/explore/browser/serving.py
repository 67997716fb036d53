"""A running `neardup explore`, and the browser that looks at it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from tests.explore.browser.samples import NEARDUP

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
)


def chromium() -> str | None:
    """The browser of this machine, or the one in NEARDUP_CHROMIUM."""
    given = os.environ.get("NEARDUP_CHROMIUM")
    return given or next(filter(None, map(shutil.which, _NAMES)), None)


def why_not() -> str | None:
    """Why no browser can be started here; None if one can."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "playwright is not installed: pip install playwright"
    if chromium() is None:
        return "there is no Chromium: apt install chromium, or set NEARDUP_CHROMIUM to its path"
    return None


@contextmanager
def started_browser() -> Iterator[Browser]:
    """A Chromium without a window, until the block ends."""
    from playwright.sync_api import sync_playwright

    # Chromium refuses to be root in its sandbox.
    sandbox = ("--no-sandbox",) if os.getuid() == 0 else ()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=[*_ARGUMENTS, *sandbox]
        )
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Explored:
    """A run that is being served at `origin`."""

    out: Path
    origin: str
    process: subprocess.Popen[str]

    def at(self, path: str = "/") -> str:
        """The whole address of a page."""
        return self.origin + path

    def document(self, id: object) -> str:
        """The whole address of a document."""
        return self.at(f"/documents/{quote(str(id), safe='')}")

    def lines(self) -> list[str]:
        """The stored decisions; none if there is no file."""
        path = self.out / "decisions.jsonl"
        return path.read_text("utf-8").splitlines() if path.exists() else []


@contextmanager
def explored(out: Path, *arguments: str) -> Iterator[Explored]:
    """`neardup explore` on a free port, until the block ends."""
    process = subprocess.Popen(
        [NEARDUP, "explore", str(out), "--no-browser", "--port", "0", *arguments],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        said = ""
        assert process.stderr is not None
        while (found := re.search(r"http://[^/\s]+", said)) is None:
            line = process.stderr.readline()
            assert line, f"it ended: {said}"
            said += line
        yield Explored(out, found[0], process)
    finally:
        process.terminate()
        process.communicate()
