"""`/clusters`: all clusters, searched, filtered, sorted and paged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from neardup.explore.http import RefusedError, Request, Response
from neardup.explore.site import Site
from neardup.frozen import dataclass
from neardup.runs import ClusterQuery
from neardup.runs.views import SORTS

PER_PAGE = (25, 50, 100)
_LONGEST_SEARCH = 1_000
_MOST_SOURCES = 200  # in the list to choose from; others can be typed into the address
# What the first click on a header shows on top: the large clusters, but the weak ones.
_DESCENDING = {"size": True, "weakest": False, "density": False, "source": True, "number": False}


@dataclass(frozen=True)
class Heading:
    """A header of the table; `address` sorts by it, or turns the order round."""

    name: str
    hint: str
    look: str
    address: str | None = None
    order: str | None = None


def show(site: Site, request: Request) -> Response:
    """The page of clusters that the query asks for."""
    run = site.run
    query = read_query(request)
    found = run.clusters(query)
    if query.page > max(1, found.pages):
        raise RefusedError(404, f"There are {found.pages:,} pages of these clusters.")
    asked = parameters(query)

    def here(**changes: Any) -> str:
        """The same list with other parameters; a page number holds for one list alone."""
        return site.url("/clusters", **{**asked, "page": None, **changes})

    shows = {"density": run.has_all_pairs, "source": len(run.sources) > 1}
    names = [source.name for source in run.sources[:_MOST_SOURCES]]
    if query.source is not None and query.source not in names:
        names.append(query.source)
    return site.page(
        request,
        "clusters.html",
        found=found,
        query=query,
        here=here,
        headings=_headings(shows, query, here),
        shows=shows,
        sources=names,
        per_page=PER_PAGE,
        filters=asked.keys() - {"sort", "order", "per_page", "page"},
        all_clusters=run.summary["clusters"],
        first=(found.page - 1) * query.per_page + 1,
    )


def read_query(request: Request) -> ClusterQuery:
    """What the address asks for."""
    sort = request.first("sort", "size")
    if sort not in SORTS:
        raise RefusedError(400, f"sort must be one of {', '.join(SORTS)}.")
    order = request.first("order") or ("descending" if _DESCENDING[sort] else "ascending")
    if order not in ("ascending", "descending"):
        raise RefusedError(400, "order must be ascending or descending.")
    per_page = request.whole("per_page") or PER_PAGE[0]
    page = request.whole("page")
    return ClusterQuery(
        search=request.first("search").strip()[:_LONGEST_SEARCH],
        sort=sort,
        descending=order == "descending",
        size_least=request.whole("size_least"),
        size_most=request.whole("size_most"),
        similarity_least=request.number("similarity_least"),
        similarity_most=request.number("similarity_most"),
        chains=request.first("chains") == "1",
        source=request.first("source") or None,
        undecided=request.first("undecided") == "1",
        page=1 if page is None else max(1, page),
        per_page=min(per_page, PER_PAGE[-1]),
    )


def parameters(query: ClusterQuery) -> dict[str, Any]:
    """The parameters of the address of a query; what is usual is left out."""
    usual = _DESCENDING[query.sort] == query.descending
    every = {
        "search": query.search,
        "sort": None if query.sort == "size" else query.sort,
        "order": None if usual else ("descending" if query.descending else "ascending"),
        "size_least": query.size_least,
        "size_most": query.size_most,
        "similarity_least": query.similarity_least,
        "similarity_most": query.similarity_most,
        "chains": query.chains,
        "source": query.source,
        "undecided": query.undecided,
        "per_page": None if query.per_page == PER_PAGE[0] else query.per_page,
        "page": None if query.page == 1 else query.page,
    }
    return {name: value for name, value in every.items() if value not in (None, "", False)}


def _headings(
    shows: dict[str, bool], query: ClusterQuery, here: Callable[..., str]
) -> list[Heading]:
    def sorting(name: str, hint: str, look: str, sort: str) -> Heading:
        if sort != query.sort:
            return Heading(name, hint, look, here(sort=sort, order=None))
        order = "descending" if query.descending else "ascending"
        other = "ascending" if query.descending else "descending"
        return Heading(name, hint, look, here(order=other), order)

    sources = "files that the documents come from"
    density = "share of the possible pairs that reach the threshold"
    return [
        sorting("#", "number of the cluster", "which", "number"),
        Heading("Kept document", "its id, and how it begins", "what"),
        sorting("Size", "documents in the cluster", "number", "size"),
        Heading("Copies", "exact copies that were removed", "number"),
        sorting("Weakest", "lowest similarity at which one was removed", "number", "weakest"),
        *([sorting("Density", density, "number", "density")] if shows["density"] else []),
        *([sorting("Sources", sources, "number", "source")] if shows["source"] else []),
        Heading("Decided", "whether people decided about its removals", "said"),
    ]
