"""The pages of a folder of contamination: items, one item, the hits in a document."""

from __future__ import annotations

from typing import Any

from neardup.explore.http import RefusedError, Request, Response
from neardup.explore.site import Site
from neardup.explore.views.lists import PER_PAGE, asked_page, on_one_line, pages_of
from neardup.parts.contamination.opened import SORTS, ContaminationFolder

_LONGEST_SEARCH = 200
_NAMES = dict(zip(SORTS, ("share", "words in a row", "documents"), strict=True))


def show(folder: ContaminationFolder, site: Site, request: Request) -> Response:
    """All items with hits, searched, sorted and paged."""
    search = request.first("search").strip()[:_LONGEST_SEARCH]
    benchmark, sort = request.first("benchmark"), request.first("sort", "share")
    if sort not in SORTS:
        raise RefusedError(400, f"sort must be one of {', '.join(SORTS)}.")
    page = asked_page(request)
    found = folder.items(
        benchmark=benchmark,
        search=search,
        sort=sort,
        first=(page - 1) * PER_PAGE,
        count=PER_PAGE,
    )
    asked = {"search": search, "benchmark": benchmark, "sort": None if sort == "share" else sort}

    def here(**changes: Any) -> str:
        return site.url("/", **{**asked, **changes})

    return site.page(
        request,
        "items.html",
        summary=folder.summary,
        benchmarks=folder.benchmarks,
        rows=[{**row, "title": on_one_line(row["text"])} for row in found.rows],
        total=found.total,
        search=search,
        benchmark=benchmark,
        sort=sort,
        sorts=_NAMES,
        page=page,
        pages=pages_of(found.total, page),
        here=here,
    )


def show_item(folder: ContaminationFolder, site: Site, request: Request) -> Response:
    """One item: how it begins, and where it occurs."""
    benchmark, name = request.first("benchmark"), request.first("item")
    item = folder.item(benchmark, name)
    every = folder.hits(benchmark, item["same_as"] or name)
    page = asked_page(request)
    return site.page(
        request,
        "item.html",
        item=item,
        rows=every.slice((page - 1) * PER_PAGE, PER_PAGE).to_pylist(),
        total=len(every),
        page=page,
        pages=pages_of(len(every), page),
        here=lambda **changes: site.url("/item", benchmark=benchmark, item=name, **changes),
    )


def show_document(folder: ContaminationFolder, site: Site, request: Request) -> Response:
    """The hits in a document."""
    id = request.first("id")
    rows = folder.in_document(id)
    if not rows:
        raise RefusedError(404, "Such a document has no hits.")
    return site.page(request, "hits_of.html", id=id, rows=rows[:1000], total=len(rows))
