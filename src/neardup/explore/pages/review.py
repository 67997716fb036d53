"""`/review`: the doubtful pairs, one at a time."""

from __future__ import annotations

from neardup.decisions import Decision
from neardup.explore.http import Request, Response
from neardup.explore.reviewer import reviewer_of
from neardup.explore.site import Site
from neardup.explore.views.decided import decision_views, named_ids
from neardup.explore.views.pair import VIEWS, asked_view, pair_view
from neardup.runs.rerun import rerun_command


def show(site: Site, request: Request) -> Response:
    """The doubtful pair at `?at=N` of those that are not decided, or the end of the queue."""
    run, reviewer = site.run, reviewer_of(site, request)
    view = asked_view(request)
    at = request.whole("at") or 0
    items = run.queue(at, 2, reviewer)
    if not items and at:  # the last one was decided: go on with what was left out before
        at = 0
        items = run.queue(at, 2, reviewer)
    decided, total = run.queue_progress(reviewer)
    shown = {"view": view if view != VIEWS[0] else None}
    current = run.decisions.current()
    last = _last_of(run.decisions.history(), {one.key for one in current.decisions}, reviewer)
    pair = None
    of_pair: tuple[Decision, ...] = ()
    if items:
        rows = run.documents_at([items[0].a, items[0].b])
        left, right = rows[items[0].a], rows[items[0].b]
        pair = pair_view(site, left, right, view)
        of_pair = current.of_pair(*named_ids(left, right))
    return site.page(
        request,
        "review.html",
        item=items[0] if items else None,
        pair=pair,
        of_pair=decision_views(site, of_pair, current),
        at=at,
        decided=decided,
        total=total,
        here=site.url("/review", at=at or None, **shown),
        earlier=site.url("/review", at=at - 1 or None, **shown) if at else None,
        later=site.url("/review", at=at + 1, **shown) if len(items) > 1 else None,
        views={name: site.url("/review", at=at or None, view=name) for name in VIEWS},
        last=next(iter(decision_views(site, [last] if last else (), current)), None),
        holding=len(current.decisions),
        command=rerun_command(run),
        reviewer=reviewer,
    )


def _last_of(history: tuple[Decision, ...], holding: set[str], by: str) -> Decision | None:
    """The reviewer's latest decision that holds."""
    for one in reversed(history):
        if one.by == by and one.key in holding:
            return one
    return None
