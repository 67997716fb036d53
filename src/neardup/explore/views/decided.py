"""Decisions as pages show them: who said what of which documents, and whether it holds."""

from __future__ import annotations

from collections.abc import Iterable

from neardup.decisions import Current, Decision, Named
from neardup.explore.rendering import short
from neardup.explore.site import Site
from neardup.explore.views.documents import address_of
from neardup.explore.views.room import cut
from neardup.frozen import dataclass
from neardup.runs import DocumentRow, Run

_NAMED = 4  # documents of a decision that are shown
_LARGEST_WHY = 400  # bytes
_LARGEST_NAME = 120

SAYS = {"same": "same", "different": "different", "keep": "keep", "skip": "skipped", "undo": "undo"}


@dataclass(frozen=True)
class NamedView:
    """A document that a decision names; without an address if the run has none of this id."""

    name: str
    address: str | None


@dataclass(frozen=True)
class DecisionView:
    """A decision; `state` is `holds`, `undone`, `replaced` or `undo`."""

    key: str
    says: str
    word: str
    documents: tuple[NamedView, ...]
    more: int
    by: str
    at: str
    when: str
    why: str
    state: str
    is_contested: bool

    @property
    def can_be_undone(self) -> bool:
        """Whether to offer a button for it."""
        return self.state == "holds"


def decision_views(
    site: Site, decisions: Iterable[Decision], current: Current, undone: Iterable[str] = ()
) -> tuple[DecisionView, ...]:
    """Decisions, in the given order."""
    holding = {one.key for one in current.decisions}
    contested = {one.key for found in current.disagreements for one in found.decisions}
    taken_back = set(undone)
    return tuple(
        DecisionView(
            key=one.key,
            says=one.says,
            word=SAYS[one.says],
            documents=tuple(_named(site, named) for named in one.documents[:_NAMED]),
            more=max(0, len(one.documents) - _NAMED),
            by=cut(short(one.by, 40), _LARGEST_NAME),
            at=one.at,
            when=one.at[:16].replace("T", " "),
            why=cut(short(one.why, 300), _LARGEST_WHY),
            state=_state(one, holding, taken_back),
            is_contested=one.key in contested,
        )
        for one in decisions
    )


def place_of(run: Run, named: Named) -> int | None:
    """The place of the document that a decision names; None if the run has none of this id."""
    place = run.find(str(named.id), named.other)
    return None if place is None or run.document(place).id != named.id else place


def named_ids(*rows: DocumentRow) -> tuple[Named, ...]:
    """Documents to look decisions up by: `Current` goes by ids, whatever the content was."""
    return tuple(Named(row.id, "", row.is_other) for row in rows)


def _state(decision: Decision, holding: set[str], undone: set[str]) -> str:
    if decision.says == "undo":
        return "undo"
    if decision.key in holding:
        return "holds"
    return "undone" if decision.key in undone else "replaced"


def _named(site: Site, named: Named) -> NamedView:
    place = place_of(site.run, named)
    address = None if place is None else address_of(site, site.run.document(place))
    return NamedView(cut(short(named.id, 40), _LARGEST_NAME), address)
