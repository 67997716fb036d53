"""A browser for each file, a new context for each test, and no test without its faults seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from tests.explore.browser.serving import started_browser, why_not
from tests.explore.browser.visitor import PATIENCE, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Visit = Callable[..., Visitor]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Not for the whole session: Playwright's event loop would run in the tests of others."""
    if reason := why_not():
        pytest.skip(reason)
    from playwright.sync_api import expect

    expect.set_options(timeout=PATIENCE)
    with started_browser() as started:
        yield started


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Makes visitors of some origins; whatever fault one of them saw fails the test."""
    with ExitStack() as visitors:

        def made(*origins: str, **options: Any) -> Visitor:
            visitor = Visitor(browser, *origins, **options)
            visitors.callback(visitor.close)
            return visitor

        yield made
