"""`/compare?a=ID&b=ID`: any two documents, their similarity and what they share."""

from __future__ import annotations

from neardup.explore.http import Request, Response
from neardup.explore.reviewer import reviewer_of
from neardup.explore.site import Site
from neardup.explore.views.decided import decision_views, named_ids
from neardup.explore.views.documents import asked, parameter
from neardup.explore.views.pair import VIEWS, asked_view, pair_view
from neardup.explore.views.shared import shared_view


def show(site: Site, request: Request) -> Response:
    """The comparison, or the form that asks which documents to compare."""
    run = site.run
    left, right = asked(run, request, "a"), asked(run, request, "b")
    view = asked_view(request)
    if left is None or right is None:
        return site.page(
            request,
            "compare.html",
            pair=None,
            a=request.first("a")[:200],
            b=request.first("b")[:200],
        )
    current = run.decisions.current()
    of_pair = current.of_pair(*named_ids(left, right))
    shared = shared_view(run, run.text(left.place), run.text(right.place))
    query = {**parameter(run, "a", left), **parameter(run, "b", right)}
    return site.page(
        request,
        "compare.html",
        pair=pair_view(site, left, right, view),
        views={name: site.url("/compare", **query, view=name) for name in VIEWS},
        here=site.url("/compare", **query, view=view if view != VIEWS[0] else None),
        facts=shared.facts,
        facts_note=shared.note,
        threshold=run.threshold,
        floor=run.floor,
        of_pair=decision_views(site, of_pair, current),
        is_same_document=left.place == right.place,
        reviewer=reviewer_of(site, request),
    )
