"""`/clusters/N`: one cluster, its members and their graph, and two of them compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from neardup.decisions import Decision
from neardup.explore.http import RefusedError, Request, Response
from neardup.explore.pages.decisions import MOST_DOCUMENTS
from neardup.explore.rendering import counted, ending
from neardup.explore.reviewer import reviewer_of
from neardup.explore.site import Site
from neardup.explore.views.decided import DecisionView, decision_views, named_ids
from neardup.explore.views.documents import (
    DocumentLink,
    asked,
    compare_address,
    link,
    name_of,
    parameter,
)
from neardup.explore.views.graph import MOST_NODES, GraphView, graph_view
from neardup.explore.views.pair import VIEWS, asked_view, pair_view
from neardup.explore.views.room import cut
from neardup.frozen import dataclass
from neardup.report.plots.curves import percent
from neardup.runs import ClusterRow, DocumentRow, Run
from neardup.visible import shown_similarity

_PER_PAGE = 50
_COPIES = 40
_MOST_DECISIONS = 12
_LARGEST_SOURCE = 90  # bytes


@dataclass(frozen=True)
class MemberView:
    """A row of the table of members; `letter` is A or B if it is compared on this page.

    `compare` shows it beside the one in the middle, `against` beside B.
    """

    document: DocumentLink
    source: str
    compare: str | None
    against: str
    letter: str
    is_weak: bool


@dataclass(frozen=True)
class _Shown:
    """What the page was asked to show."""

    site: Site
    cluster: ClusterRow
    left: DocumentRow
    right: DocumentRow
    view: str
    page: int

    def address(
        self, left: DocumentRow | None = None, right: DocumentRow | None = None, **more: Any
    ) -> str:
        """The address of this page with another pair, view or page of members."""
        run, left, right = self.site.run, left or self.left, right or self.right
        query: dict[str, Any] = dict(parameter(run, "with", right))
        if left.place != self.cluster.around.place:
            query |= parameter(run, "against", left)
        query["view"] = self.view if self.view != VIEWS[0] else None
        query["page"] = self.page if self.page > 1 else None
        return self.site.url(f"/clusters/{self.cluster.number}", **{**query, **more})


def show(site: Site, request: Request) -> Response:
    """The page of a cluster."""
    run = site.run
    cluster = run.cluster(_number(request.argument))
    page = request.whole("page") or 1
    pages = max(1, -(-(cluster.size - cluster.copies) // _PER_PAGE))
    if page > pages:
        raise RefusedError(404, f"The cluster has {counted(pages, 'page')} of members.")
    members = run.members(cluster.number, page, _PER_PAGE, copies=False)
    shown = _Shown(site, cluster, *_asked_pair(run, request, cluster), asked_view(request), page)
    pair = pair_view(site, shown.left, shown.right, shown.view)
    current = run.decisions.current()
    of_pair = current.of_pair(*named_ids(shown.left, shown.right))
    return site.page(
        request,
        "cluster.html",
        cluster=cluster,
        around=link(site, cluster.around),
        sentences=list(sentences(run, cluster)),
        pair=pair,
        shown=shown,
        here=shown.address(),
        compare=compare_address(site, shown.left, shown.right),
        member_page=lambda page: shown.address(page=page),
        threshold=f"{run.threshold:g}",
        has_all_pairs=run.has_all_pairs,
        has_sources=len(run.sources) > 1,
        members=[_member(shown, row) for row in members],
        copies=[link(site, row) for row in run.members(cluster.number, 1, _COPIES, copies=True)],
        pages=pages,
        graph=_graph(shown, members),
        is_chain=pair.similarity is not None and pair.similarity < run.threshold,
        of_pair=decision_views(site, of_pair, current),
        of_cluster=_of_cluster(site, [cluster.around, *members], of_pair),
        is_whole=cluster.size <= MOST_DOCUMENTS,
        most=MOST_DOCUMENTS,
        earlier=cluster.number - 1 if cluster.number else None,
        later=cluster.number + 1 if cluster.number + 1 < run.clusters_count else None,
        steps=_steps(shown, members),
        reviewer=reviewer_of(site, request),
    )


def sentences(run: Run, cluster: ClusterRow) -> Iterator[str]:
    """What happened to the cluster; the first sentence goes on after the name of the middle."""
    others = cluster.size - 1
    if cluster.around.is_other:
        yield f"is in the other collection; {counted(others, 'document')} repeat it."
    elif not cluster.around.kept:
        yield f"and {counted(others, 'document')} like it are removed: no document is kept."
    elif str(run.summary.get("settings", {}).get("keep", "")).startswith("each"):
        yield "is the first that is kept; what repeats the kept ones is removed."
    else:
        removed = "is removed as a duplicate" if others == 1 else "are removed as duplicates"
        yield f"is kept; {counted(others, 'document')} {removed} of it."
    if cluster.weakest is not None:
        copies = counted(cluster.copies, "exact copy", "exact copies")
        lowest = f"he lowest similarity is {shown_similarity(cluster.weakest)}."
        if cluster.copies:
            yield f"{copies}; t{lowest}" if cluster.weakest < 1 else f"{copies}, nothing else."
        else:
            yield f"T{lowest}"
    if cluster.chains:
        yield (
            f"{counted(cluster.chains, 'document is', 'documents are')} below the threshold of "
            f"{run.threshold:g}: only chains of pairs lead to the kept one."
        )
    if cluster.density is not None and cluster.size > 2:
        yield f"Of all pairs of its documents, {percent(cluster.density)} reach the threshold."


def _number(argument: str) -> int:
    if not (argument.isascii() and argument.isdigit() and len(argument) <= 15):
        raise RefusedError(404, f"There is no cluster {argument[:40]!r}: clusters have numbers.")
    return int(argument)


def _asked_pair(run: Run, request: Request, cluster: ClusterRow) -> tuple[DocumentRow, DocumentRow]:
    """The pair to show: the kept document and the weakest member, unless others are asked for."""
    left = asked(run, request, "against") or cluster.around
    right = asked(run, request, "with")
    if right is not None and right.place == left.place:
        left, right = cluster.around, right if right.place != cluster.around.place else None
    return left, right or _weakest(run, cluster, left)


def _weakest(run: Run, cluster: ClusterRow, besides: DocumentRow) -> DocumentRow:
    """The member that is least similar; a copy if there are only copies."""
    found = run.weakest_member(cluster.number)
    if found is not None and found.place != besides.place:
        return found
    members = [*run.members(cluster.number, 1, 2, copies=True), *run.members(cluster.number, 1, 3)]
    return next(row for row in members if row.place != besides.place)


def _member(shown: _Shown, row: DocumentRow) -> MemberView:
    around = shown.cluster.around
    return MemberView(
        document=link(shown.site, row),
        source=cut(ending(row.source or "", 40), _LARGEST_SOURCE),
        compare=None
        if row.place == around.place
        else shown.address(left=around, right=row) + "#pair",
        against=shown.address(left=row) + "#pair",
        letter={shown.left.place: "A", shown.right.place: "B"}.get(row.place, ""),
        is_weak=row.similarity is not None and row.similarity < shown.site.run.threshold,
    )


def _steps(shown: _Shown, members: Sequence[DocumentRow]) -> tuple[str | None, str | None]:
    """The addresses that show the member before and after the chosen one."""
    others = [row for row in members if row.place != shown.left.place]
    places = [row.place for row in others]
    if shown.right.place not in places:
        return None, shown.address(right=others[0]) if others else None
    at = places.index(shown.right.place)
    return (
        shown.address(right=others[at - 1]) if at else None,
        shown.address(right=others[at + 1]) if at + 1 < len(others) else None,
    )


def _graph(shown: _Shown, members: Sequence[DocumentRow]) -> GraphView | None:
    """The graph of the listed pairs; none of two documents, which a line would be."""
    cluster, run = shown.cluster, shown.site.run
    distinct = cluster.size - cluster.copies
    if distinct < 3:
        return None
    if shown.page > 1 or distinct > _PER_PAGE:
        members = run.members(cluster.number, 1, MOST_NODES, copies=False)
    rows = {row.place: row for row in members[:MOST_NODES]} | {shown.right.place: shown.right}
    rows.pop(cluster.around.place, None)
    everyone = [cluster.around, *rows.values()]
    return graph_view(
        cluster.around,
        list(rows.values()),
        run.links([row.place for row in everyone]),
        threshold=run.threshold,
        chosen=shown.right.place,
        names={row.place: name_of(row) for row in everyone},
        addresses={row.place: shown.address(left=cluster.around, right=row) for row in everyone},
        all_members=distinct - 1,
    )


def _of_cluster(
    site: Site, rows: Sequence[DocumentRow], shown: Sequence[Decision]
) -> tuple[DecisionView, ...]:
    """The latest decisions about the members on the page, besides those already shown."""
    current, known = site.run.decisions.current(), {one.key for one in shown}
    found = {
        one.key: one
        for row in rows
        for one in current.of_document(row.id, row.is_other)
        if one.key not in known
    }
    latest = sorted(found.values(), key=lambda one: one.at, reverse=True)[:_MOST_DECISIONS]
    return decision_views(site, latest, current)
