"""A job whose run cannot be shown, or not yet: a page with one sentence."""

from __future__ import annotations

from typing import Any

from neardup.explore.app import with_headers
from neardup.explore.http import Request, Response
from neardup.service.explore.pages import ServedExplorer

_RELOADED = ("Refresh", "3")
_SENTENCES = {
    "queued": "It waits for other jobs.",
    "done": "Its results are gone: somebody has removed its files.",
    "cancelled": "It was cancelled, so there is nothing to see.",
}


def opening(explorer: ServedExplorer, share: float | None) -> Response:
    """The index of a run is being built."""
    sentence = "The run is being indexed, once. This page comes back by itself."
    return _page(explorer, 202, "One moment", sentence, share, (_RELOADED,))


def job_without_run(explorer: ServedExplorer, job: dict[str, Any]) -> Response:
    """A job that has no run to show: of another kind, not done, or without its files."""
    state = job["state"]
    if job["kind"] != "dedup":
        sentence = f"It is a {job['kind']} job; only what dedup jobs remove can be explored."
        return _page(explorer, 404, f"The job is {state}", sentence)
    if state == "running":
        told = job["progress"] or {}
        share = told["done"] / told["total"] if told.get("total") else None
        stage = f" ({told['stage']})" if told.get("stage") else ""
        sentence = f"Its pages are here when it is done{stage}."
        return _page(explorer, 409, "The job is running", sentence, share, (_RELOADED,))
    sentence = _SENTENCES.get(state) or f"There is nothing to see: {job['error']}."
    reloaded = (_RELOADED,) if state == "queued" else ()
    status = 404 if state == "done" else 409
    return _page(explorer, status, f"The job is {state}", sentence, None, reloaded)


def _page(
    explorer: ServedExplorer,
    status: int,
    heading: str,
    sentence: str,
    share: float | None = None,
    headers: tuple[tuple[str, str], ...] = (),
) -> Response:
    page = explorer.site.page(
        Request("GET", "/waiting"),
        "served/waiting.html",
        status=status,
        heading=heading,
        sentence=sentence,
        share=share,
    )
    return with_headers(Response(page.status, (*page.headers, *headers), page.body))
