"""Somebody who reads the pages in a browser, and notices whatever is wrong with them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import (
        Browser,
        ConsoleMessage,
        Dialog,
        Page,
        Request,
        Response,
        WebError,
    )

# Long enough for a busy machine; a test that waits so long has failed.
PATIENCE = 60_000
# Violations of the policy are events; layout shifts are kept for the page to be asked.
_WATCH = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
window.__shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.__shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""


class Visitor:
    """A browser of one's own: a context, its pages, and the faults that were seen."""

    def __init__(self, browser: Browser, *origins: str, **options: Any) -> None:
        options.setdefault("viewport", {"width": 1280, "height": 900})
        self.origins = list(origins)
        self.faults: list[str] = []
        self.sizes: dict[str, int] = {}
        self._expected: list[str] = []
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(PATIENCE)
        self.context.add_init_script(_WATCH)
        self.context.on("console", self._heard)
        self.context.on("weberror", self._failed)
        self.context.on("dialog", self._asked)
        self.context.on("request", self._sent)
        self.context.on("requestfailed", self._lost)
        self.context.on("response", self._answered)

    def open(self, address: str = "") -> Page:
        """A new page at an address."""
        page = self.context.new_page()
        if address:
            page.goto(address)
        return page

    def expect(self, pattern: str) -> None:
        """Faults that a test causes on purpose."""
        self._expected.append(pattern)

    def check(self) -> None:
        """Fail if there was any other fault."""
        unexpected = [
            fault
            for fault in self.faults
            if not any(re.search(pattern, fault) for pattern in self._expected)
        ]
        if unexpected:  # by hand: pytest explains assertions of tests alone
            raise AssertionError("\n".join(unexpected))

    def close(self) -> None:
        """Close the pages, and fail if there were faults."""
        self.context.close()
        self.check()

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") or "policy" in message.text.lower():
            self.faults.append(f"console {message.type}: {message.text}")

    def _failed(self, error: WebError) -> None:
        self.faults.append(f"error in a script: {error.error}")

    def _asked(self, dialog: Dialog) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _sent(self, request: Request) -> None:
        if not request.url.startswith(tuple(self.origins)):
            self.faults.append(f"request to elsewhere: {request.url}")

    def _lost(self, request: Request) -> None:
        # A page that is left takes its requests back, as the laboratory does while one types.
        if request.failure != "net::ERR_ABORTED":
            self.faults.append(f"request failed: {request.url} {request.failure}")

    def _answered(self, response: Response) -> None:
        if response.headers.get("content-type", "").startswith("text/html"):
            self.sizes[response.url] = int(response.headers.get("content-length", "0"))
