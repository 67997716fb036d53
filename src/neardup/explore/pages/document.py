"""`/documents/ID` and `/others/ID`: one document, what happened to it, and why."""

from __future__ import annotations

from typing import Any

from neardup.explore.http import Request, Response
from neardup.explore.rendering import short
from neardup.explore.reviewer import reviewer_of
from neardup.explore.site import Site
from neardup.explore.views.decided import decision_views
from neardup.explore.views.documents import (
    DocumentLink,
    address_of,
    compare_address,
    link,
    value_text,
)
from neardup.explore.views.pair import text_columns
from neardup.explore.views.room import Room, cut
from neardup.frozen import dataclass
from neardup.report.code import is_code
from neardup.report.dedup_page.diff import direction
from neardup.runs import DocumentRow, Run
from neardup.runs.why import why
from neardup.visible import visible, visible_lines

_SHOWN = 20_000  # characters
_TEXT = 60_000  # bytes of a page; with `?all=1`, which shows little else:
_ALL = 76_000
_COLUMNS = 8_000
_LONGEST_VALUE = 1_000
_MOST_COLUMNS = 60
_NEIGHBOURS = 12
_MOST_STEPS = 12
_MOST_DECISIONS = 8


@dataclass(frozen=True)
class NeighbourView:
    """A document that is near this one, with the address that compares the two."""

    document: DocumentLink
    similarity: float | None
    compare: str
    reaches: bool


@dataclass(frozen=True)
class TextView:
    """The text of a document, as far as it fits."""

    text: str
    direction: str
    is_code: bool
    shown: int
    characters: int
    can_show_more: bool


def show(site: Site, request: Request) -> Response:
    """The page of a document of the input."""
    return _shown(site, request, is_other=False)


def show_other(site: Site, request: Request) -> Response:
    """The page of a document of the other collection."""
    return _shown(site, request, is_other=True)


def _shown(site: Site, request: Request, *, is_other: bool) -> Response:
    run = site.run
    place = request.whole("place")
    wanted = request.argument or request.first("id")
    if place is None:
        place = run.find(wanted, is_other)
    if place is None:
        return _missing(site, request, wanted)
    row = run.document(place)
    current = run.decisions.current()
    decisions = current.of_document(row.id, row.is_other)[-_MOST_DECISIONS:][::-1]
    show_all = request.first("all") == "1"
    return site.page(
        request,
        "document.html",
        document=link(site, row),
        name=cut(short(row.id, 300), 1_000),
        duplicate_of=_linked(site, row.duplicate_of),
        copy_of=_linked(site, row.copy_of),
        compare=None
        if row.duplicate_of is None
        else compare_address(site, run.document(row.duplicate_of), row),
        chain=_chain(site, row),
        more_steps=max(0, len(run.chain(place)) - _MOST_STEPS),
        neighbours=_neighbours(site, row),
        neighbours_note=_neighbours_note(run),
        why=cut(visible(why(run, row).sentence), 1_200),
        cluster=None if row.cluster is None else run.cluster(row.cluster),
        all_address=site.url("/documents", place=str(place), all=True),
        text=text_view(run.text(place), show_all=show_all),
        show_all=show_all,
        columns=_columns(run, row),
        decisions=decision_views(site, decisions, current),
        here=address_of(site, row),
        source=cut(short(row.source or "", 300), 600),
        reviewer=reviewer_of(site, request),
    )


def text_view(text: str, *, show_all: bool = False) -> TextView:
    """The beginning of a text, or as much as a page can hold."""
    start = text[: _ALL if show_all else _SHOWN]
    whole = visible_lines(start)
    shown = cut(whole, _ALL if show_all else _TEXT)
    characters = len(start) if shown == whole else len(shown) - 1
    return TextView(
        text=shown,
        direction=direction(start),
        is_code=is_code(start),
        shown=characters,
        characters=len(text),
        can_show_more=not show_all and characters < len(text),
    )


def _missing(site: Site, request: Request, wanted: str) -> Response:
    return site.page(
        request,
        "missing.html",
        status=404,
        wanted=cut(short(wanted, 300), 1_000),
        search=site.url("/clusters", search=wanted[:200]),
        suggestions=[
            link(site, site.run.document(place))
            for place in map(site.run.find, site.run.suggestions(wanted[:1000]))
            if place is not None
        ],
    )


def _linked(site: Site, place: int | None) -> DocumentLink | None:
    return None if place is None else link(site, site.run.document(place))


def _chain(site: Site, row: DocumentRow) -> list[NeighbourView]:
    """The documents that connect this one with the one it duplicates; none if it is a pair."""
    steps = site.run.chain(row.place)
    if len(steps) < 2:
        return []
    found, before = [], row
    for step in steps[:_MOST_STEPS]:
        following = site.run.document(step.place)
        found.append(
            NeighbourView(
                document=link(site, following),
                similarity=step.similarity,
                compare=compare_address(site, before, following),
                reaches=True,
            )
        )
        before = following
    return found


def _neighbours(site: Site, row: DocumentRow) -> list[NeighbourView]:
    run = site.run
    links = run.neighbours(row.place, _NEIGHBOURS)
    rows = run.documents_at([one.b for one in links])
    return [
        NeighbourView(
            document=link(site, rows[one.b]),
            similarity=one.similarity,
            compare=compare_address(site, row, rows[one.b]),
            reaches=run.to_label is not None or one.similarity >= run.threshold,
        )
        for one in links
    ]


def _neighbours_note(run: Run) -> str:
    """Which pairs the run lists, and how to list more."""
    if run.to_label is not None:
        return "Listed are the pairs of the file."
    if run.has_all_pairs and run.floor is not None:
        return f"Listed are all pairs with a similarity of {run.floor:g} or more."
    if run.has_all_pairs:
        return (
            f"Listed are all pairs that reach the threshold of {run.threshold:g}. "
            "neardup dedup --floor 0.6 lists those below it, too."
        )
    return (
        "Listed is one pair for each removed document. neardup dedup --pairs all lists all pairs, "
        "and --floor 0.6 also those below the threshold."
    )


def _columns(run: Run, row: DocumentRow) -> list[tuple[str, str]]:
    """The columns of the row; the text is shown by itself, the fields of records here."""
    if row.is_other:
        return []
    values: dict[str, Any] = run.row(row.place)
    hidden = () if run.fields else text_columns(run)
    room, found = Room(_COLUMNS), []
    for name in [name for name in run.columns if name not in hidden][:_MOST_COLUMNS]:
        room.left -= 60
        value = room.take(short(value_text(values.get(name)), _LONGEST_VALUE))
        if value is None:
            break
        found.append((cut(short(name), 200), value))
    return found
