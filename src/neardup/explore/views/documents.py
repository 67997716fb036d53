"""Documents as pages name them, link to them, and are asked for them."""

from __future__ import annotations

from math import isnan
from typing import Any
from urllib.parse import quote

from neardup.explore.http import RefusedError, Request
from neardup.explore.rendering import short
from neardup.explore.site import Site
from neardup.explore.views.room import cut
from neardup.frozen import dataclass
from neardup.runs import DocumentRow, Run

_LONGEST_NAME = 60  # characters
_LARGEST_NAME = 150  # bytes
# An id that is longer in an address is named by its place instead.
_LONGEST_ADDRESS = 120


@dataclass(frozen=True)
class DocumentLink:
    """A document with a short visible name and the address of its page."""

    row: DocumentRow
    name: str
    address: str
    is_to_label: bool = False

    @property
    def place(self) -> int:
        """Its place, by which forms name it."""
        return self.row.place

    @property
    def role(self) -> str:
        """What happened to it, in a word or two; nothing, if it is only to be labelled."""
        if self.is_to_label:
            return ""
        if self.row.is_other:
            return "other collection"
        return "kept" if self.row.kept else "removed"


def link(site: Site, row: DocumentRow) -> DocumentLink:
    """A document as a list shows it."""
    return DocumentLink(row, name_of(row), address_of(site, row), site.run.to_label is not None)


def name_of(row: DocumentRow) -> str:
    """The id, visible, short and on one line."""
    return cut(short(row.id, _LONGEST_NAME), _LARGEST_NAME)


def address_of(site: Site, row: DocumentRow) -> str:
    """The address of a document's page: by its id, unless that is long or names another one."""
    if is_named_by_id(site.run, row):
        return site.document(row.id, is_other=row.is_other)
    return site.url("/documents", place=str(row.place))


def parameter(run: Run, name: str, row: DocumentRow) -> dict[str, str]:
    """The parameter of an address that names a document, as `asked` reads it."""
    if is_named_by_id(run, row) and not row.is_other and row.id != "":
        return {name: str(row.id)}
    return {f"{name}_place": str(row.place)}


def compare_address(site: Site, a: DocumentRow, b: DocumentRow) -> str:
    """The address of the page that compares two documents."""
    return site.url("/compare", **parameter(site.run, "a", a), **parameter(site.run, "b", b))


def is_named_by_id(run: Run, row: DocumentRow) -> bool:
    """Whether the id finds this document, and is short enough for an address."""
    text = str(row.id)
    if len(text) > _LONGEST_ADDRESS:
        return False
    try:
        encoded = quote(text, safe="", errors="strict")
    except UnicodeEncodeError:  # the name of a file that is not UTF-8
        return False
    if len(encoded) > _LONGEST_ADDRESS:
        return False
    # The ids of the input are unique; those of the other collection, and large numbers, are not
    # always found.
    is_certain = not row.is_other and (isinstance(row.id, str) or abs(row.id) < 1 << 63)
    return is_certain or run.find(text, row.is_other) == row.place


def asked(run: Run, request: Request, name: str) -> DocumentRow | None:
    """The document that a parameter asks for by id, or by place; None if it asks for none."""
    place = request.whole(f"{name}_place")
    if place is None:
        text = request.first(name)
        if not text:
            return None
        place = run.find(text)
        if place is None:
            raise RefusedError(404, f"There is no document with the id {text[:200]!r}.")
    return run.document(place)


def pair_similarity(run: Run, a: DocumentRow, b: DocumentRow) -> float | None:
    """The similarity of two documents as the run found it; None if it is not known."""
    for one, other in ((a, b), (b, a)):
        if one.duplicate_of == other.place and one.similarity is not None:
            return one.similarity
        if one.copy_of is not None and one.copy_of == other.place:
            return 1.0
    links = run.links([a.place, b.place])
    return links[0].similarity if links and not isnan(links[0].similarity) else None


def value_text(value: Any) -> str:
    """A value of a column as text; a missing one is empty."""
    return "" if value is None else str(value)
