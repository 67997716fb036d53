"""The pages of a folder of passages: families, one family, the passages of a document."""

from __future__ import annotations

from functools import partial
from typing import Any

from neardup.explore.http import RefusedError, Request, Response
from neardup.explore.site import Site
from neardup.explore.views.lists import PER_PAGE, asked_page, on_one_line, pages_of
from neardup.parts.passages.opened import SORTS, PassagesFolder
from neardup.report.code import is_code

_LONGEST_SEARCH = 200
_NAMES = dict(zip(SORTS, ("largest", "documents", "repeated text", "length"), strict=True))


def show(folder: PassagesFolder, site: Site, request: Request) -> Response:
    """All families, searched, sorted and paged."""
    search = request.first("search").strip()[:_LONGEST_SEARCH]
    sort = request.first("sort", "largest")
    if sort not in SORTS:
        raise RefusedError(400, f"sort must be one of {', '.join(SORTS)}.")
    page = asked_page(request)
    found = folder.families(search=search, sort=sort, first=(page - 1) * PER_PAGE, count=PER_PAGE)
    pages = pages_of(found.total, page)
    return site.page(
        request,
        "families.html",
        summary=folder.summary,
        rows=[{**row, "title": on_one_line(row["text"])} for row in found.rows],
        total=found.total,
        search=search,
        sort=sort,
        sorts=_NAMES,
        page=page,
        pages=pages,
        here=partial(_here, site, {"search": search, "sort": None if sort == "largest" else sort}),
    )


def show_family(folder: PassagesFolder, site: Site, request: Request) -> Response:
    """One family: its text, and where it occurs."""
    if not request.argument.isdecimal():
        raise RefusedError(404, "There is no such family.")
    family = folder.family(int(request.argument))
    every = folder.occurrences(int(request.argument))
    page = asked_page(request)
    pages = pages_of(len(every), page)
    rows = every.slice((page - 1) * PER_PAGE, PER_PAGE).to_pylist()
    return site.page(
        request,
        "family.html",
        family=family,
        is_code=is_code(family["text"]) or "\n" in family["text"],
        rows=[{**row, "title": on_one_line(row["text"] or "")} for row in rows],
        shows_texts=any(not row["kept"] for row in rows),
        total=len(every),
        page=page,
        pages=pages,
        here=lambda **changes: site.url(f"/families/{request.argument}", **changes),
    )


def show_document(folder: PassagesFolder, site: Site, request: Request) -> Response:
    """The passages of a document that are in families."""
    id = request.first("id")
    rows = folder.in_document(id)
    if not rows:
        raise RefusedError(404, "No passage of such a document is in a family.")
    texts = folder.texts([row["family"] for row in rows])
    texts = {number: on_one_line(text) for number, text in texts.items()}
    return site.page(request, "passages_of.html", id=id, rows=rows, texts=texts)


def _here(site: Site, asked: dict[str, Any], **changes: Any) -> str:
    return site.url("/", **{**asked, **changes})
