"""`/explore/indexes/NAME`: an index, whether a document was seen before, and stored documents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from neardup.errors import InputError, NeardupError
from neardup.explore.app import Route
from neardup.explore.http import RefusedError, Request, Response
from neardup.explore.pages.document import text_view
from neardup.explore.rendering import counted, short
from neardup.explore.site import Site
from neardup.explore.views.pair import VIEWS, DiffView, asked_view, diff_view
from neardup.explore.views.room import Room, cut
from neardup.frozen import dataclass
from neardup.index.disk.damage import DamagedIndexError
from neardup.index.entries import Id
from neardup.index.match import Match
from neardup.index.told import StoredDocument
from neardup.service.endpoints.documents import ids_meant
from neardup.service.endpoints.texts import require_length
from neardup.service.explore.home import moment, size_on_disk
from neardup.service.limits import Limits
from neardup.service.problems import Problem, problem_of
from neardup.service.readers import Reader
from neardup.service.results import document_row
from neardup.visible import visible_lines

MOST_TEXT = 200_000  # characters
_MOST_MATCHES = 25
_METADATA = 12_000  # bytes of a page, in a list of matches
_LONGEST_METADATA = 300
_MOST_METADATA = 8_000
_LONGEST_NAME, _LARGEST_NAME = 60, 150
_LONGEST_ADDRESS = 2_000
_STEPS = ("", ".", "..")  # in a path, these name no document


@dataclass(frozen=True)
class Field:
    """A field of the form, with what was typed."""

    name: str
    label: str
    typed: str


@dataclass(frozen=True)
class MatchView:
    """A match in a list; `number` is its place there."""

    number: int
    name: str
    address: str
    similarity: float | None
    distance: int
    metadata: str


@dataclass(frozen=True)
class Compared:
    """The diff of a document with a match, and how to show it."""

    match: MatchView
    diff: DiffView


class IndexPages:
    """The pages of an index for one request; `matches` is what a query has found."""

    def __init__(self, reader: Reader, limits: Limits) -> None:
        self._reader = reader
        self._index = reader.index
        self._limits = limits
        self.matches: list[Match] | None = None

    def routes(self) -> tuple[Route, ...]:
        """The page of the index, and those of its documents."""
        start = f"/indexes/{self._reader.name}"
        return (
            Route(("GET",), start, self._show),
            Route(("POST",), start, self._show, changes=False),
            Route(("GET",), f"{start}/documents/*", self._show_document),
        )

    def _show(self, site: Site, request: Request) -> Response:
        try:
            return self._page(site, request)
        except NeardupError as error:
            raise _as_problem(error) from None

    def _show_document(self, site: Site, request: Request) -> Response:
        try:
            return self._document_page(site, request)
        except NeardupError as error:
            raise _as_problem(error) from None

    def _page(self, site: Site, request: Request) -> Response:
        fields = self._fields(request)
        fault = ""
        is_asked = any(field.typed for field in fields)
        if is_asked:
            try:
                self._query(fields)
            except DamagedIndexError:
                raise
            except InputError as error:
                fault = str(error)
        matches = [*self._views(site, self.matches or ())]
        compared = self._compared(request, fields, matches) if matches else None
        stats = self._reader.apart.stats(0)
        return site.page(
            request,
            "served/index.html",
            status=422 if fault else 200,
            name=self._reader.name,
            settings=self._index.settings,
            stats=stats,
            oldest=None if stats.oldest is None else moment(stats.oldest),
            newest=None if stats.newest is None else moment(stats.newest),
            bytes=size_on_disk(self._index.path),
            life=_life(self._index.settings.ttl),
            fields=fields,
            most=MOST_TEXT,
            is_asked=is_asked and not fault,
            fault=cut(short(fault, 500), 1_000),
            matches=matches,
            most_matches=_MOST_MATCHES,
            compared=compared,
        )

    def _fields(self, request: Request) -> list[Field]:
        """The fields of the form: a text, the fields of a record, or terms."""
        given = _given(request)
        scheme = self._index.scheme
        if scheme.fields is not None:
            named = [(f"field-{n}", short(name)) for n, name in enumerate(scheme.fields.names)]
        elif scheme.features.are_given:
            named = [("terms", "Terms, one on each line")]
        else:
            named = [("text", "Text")]
        found = []
        for name, label in named:
            typed = next(iter(given.get(name, ())), "")
            if len(typed) > MOST_TEXT:
                raise RefusedError(413, f"This page takes up to {MOST_TEXT:,} characters.")
            # As browsers send line ends; those of the text that was copied are not known.
            typed = typed.replace("\r\n", "\n")
            require_length(typed, self._limits)
            found.append(Field(name, label, typed))
        return found

    def _query(self, fields: Sequence[Field]) -> None:
        scheme = self._index.scheme
        typed = [field.typed for field in fields]
        row: dict[str, Any] = {"text": typed[0]}
        if scheme.fields is not None:
            row = dict(zip(scheme.fields.names, typed, strict=True))
        elif scheme.features.are_given:
            row = {"terms": [line.strip() for line in typed[0].splitlines() if line.strip()]}
        _, document, _ = self._reader.form.read(row)
        self.matches = self._index.query(document, limit=_MOST_MATCHES)

    def _views(self, site: Site, matches: Sequence[Match]) -> Iterator[MatchView]:
        room = Room(_METADATA)
        for number, match in enumerate(matches):
            about = "" if match.metadata is None else _json(match.metadata)
            yield MatchView(
                number,
                _name(match.id),
                self._address(site, match.id),
                match.similarity,
                match.distance,
                room.take(short(about, _LONGEST_METADATA)) or "",
            )

    def _compared(
        self, request: Request, fields: Sequence[Field], matches: Sequence[MatchView]
    ) -> Compared | None:
        """The diff with the match that was chosen, or the best one; None without its text."""
        chosen = next(iter(_given(request).get("compare", ())), "0")
        known = chosen.isascii() and chosen.isdigit() and len(chosen) < 4
        number = int(chosen) if known and int(chosen) < len(matches) else 0
        assert self.matches is not None
        stored = self._index.get(self.matches[number].id)
        if stored is None or stored.text is None:
            return None
        return Compared(matches[number], diff_view(stored.text, fields[0].typed, VIEWS[0]))

    def _document_page(self, site: Site, request: Request) -> Response:
        stored = self._stored(request, request.argument or request.first("id"), "id_type")
        matches: list[Match] = []
        if stored.text is not None and len(stored.text) <= MOST_TEXT:
            found = self._index.query(stored.text, limit=_MOST_MATCHES + 1)
            matches = [match for match in found if match.id != stored.id][:_MOST_MATCHES]
        row = document_row(stored, self._index.scheme)
        other = self._other(request)
        seen = stored.seen
        view = asked_view(request)
        address = self._address(site, stored.id)
        return site.page(
            request,
            "served/document.html",
            index=self._reader.name,
            name=cut(short(stored.id, 300), 1_000),
            stored=stored,
            fingerprint=row["fingerprint"],
            first=None if seen.first is None else moment(seen.first),
            last=None if seen.last is None else moment(seen.last),
            expires=None if stored.expires is None else moment(stored.expires),
            metadata="" if stored.metadata is None else _pretty(stored.metadata),
            text=None if stored.text is None else text_view(stored.text),
            matches=[*self._views(site, matches)],
            compare=[self._compare_address(site, stored.id, match.id) for match in matches],
            address=address,
            other=None if other is None else _name(other.id),
            other_address="" if other is None else self._address(site, other.id),
            diff=None
            if other is None or other.text is None or stored.text is None
            else diff_view(stored.text, other.text, view),
            views={
                name: ""
                if other is None
                else self._compare_address(site, stored.id, other.id, name)
                for name in VIEWS
            },
        )

    def _other(self, request: Request) -> StoredDocument | None:
        asked = request.first("with")
        return self._stored(request, asked, "with_type") if asked else None

    def _stored(self, request: Request, asked: str, kind: str) -> StoredDocument:
        """A document by what is in the address: the text if there is one, else the number."""
        wanted = request.first(kind)
        for id in ids_meant(asked, wanted if wanted in ("integer", "string") else None):
            found = self._index.get(id)
            if found is not None:
                return found
        raise Problem(
            "document_not_found", f"the index {self._reader.name} has no document {asked!r:.200}"
        )

    def _address(self, site: Site, id: Id, **query: Any) -> str:
        folder, text = f"/indexes/{self._reader.name}/documents/", str(id)
        if isinstance(id, int) and text in self._index:
            query["id_type"] = "integer"
        if text in _STEPS or "/" in text or len(text) > _LONGEST_ADDRESS:
            return site.url(folder, id=text, **query)
        return site.url(folder + text, **query)

    def _compare_address(self, site: Site, id: Id, other: Id, view: str = VIEWS[0]) -> str:
        kind = "integer" if isinstance(other, int) and str(other) in self._index else None
        shown = None if view == VIEWS[0] else view
        query = {"with": str(other), "with_type": kind, "view": shown}
        return self._address(site, id, **query) + "#diff"


def _as_problem(error: NeardupError) -> Exception:
    """An error of an index as the service answers it; what refuses a request is a page already."""
    if isinstance(error, RefusedError):
        return error
    return problem_of(error) or error


def _given(request: Request) -> Mapping[str, Sequence[str]]:
    """What was asked, by the form, or by an address for short texts."""
    return request.form if request.method == "POST" else request.query


def _life(seconds: float | None) -> str:
    """A time to live in the largest unit that fits it.

    >>> _life(2_592_000), _life(5400), _life(None)
    ('30 days', '90 minutes', '')
    """
    if seconds is None:
        return ""
    for unit, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= unit and seconds % unit == 0:
            return counted(int(seconds // unit), name)
    return f"{seconds:,g} seconds"


def _name(id: Id) -> str:
    return cut(short(id, _LONGEST_NAME), _LARGEST_NAME)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _pretty(value: Any) -> str:
    return cut(visible_lines(json.dumps(value, ensure_ascii=False, indent=2)), _MOST_METADATA)
