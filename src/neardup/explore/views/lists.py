"""Lists that are shown page by page."""

from __future__ import annotations

from neardup.explore.http import RefusedError, Request

PER_PAGE = 50
_EXCERPT = 2_000  # characters of a text that a line is made of


def asked_page(request: Request) -> int:
    """The number of the page that is asked for, from 1."""
    return max(1, request.whole("page") or 1)


def pages_of(total: int, page: int) -> int:
    """How many pages so many rows take; one that is not there is refused."""
    pages = max(1, -(-total // PER_PAGE))
    if page > pages:
        raise RefusedError(404, f"There are {pages:,} pages of these.")
    return pages


def on_one_line(text: str) -> str:
    r"""The beginning of a text, without line breaks.

    >>> on_one_line("one\n  two")
    'one two'
    """
    return " ".join(text[:_EXCERPT].split())
