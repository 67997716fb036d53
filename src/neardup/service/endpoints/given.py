"""The documents of a JSON body: one, or many with an error for each that is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from neardup.errors import InputError
from neardup.index.entries import Id
from neardup.index.lines import Asked, LineFormat
from neardup.service.endpoints.texts import require_count, require_length
from neardup.service.limits import Limits
from neardup.service.problems import Problem
from neardup.service.results import Row


@dataclass(frozen=True)
class Given:
    """A document as it was given, or what is wrong with it."""

    id: Id | None
    document: Any = None
    metadata: Any = None
    fault: Problem | None = None

    def faulty(self) -> Row:
        """The answer to a document that is wrong."""
        assert self.fault is not None
        return {"id": self.id, "error": self.fault.row()}


def documents_of(found: Any) -> list[Any] | None:
    """The documents of a JSON body with many; None if the body is one document."""
    if not isinstance(found, dict):
        raise Problem(
            "invalid_document",
            'the body must be a document, such as {"id": 1, "text": "..."}, or many as '
            '{"documents": [...]}',
        )
    many = found.get("documents")
    return many if isinstance(many, list) and "text" not in found else None


def read_one(found: Any, form: LineFormat, limits: Limits) -> Given:
    """One document; a problem is raised."""
    given = _read(found, form, limits, "the document: ")
    if given.fault is not None:
        raise given.fault
    return given


def read_many(found: list[Any], form: LineFormat, limits: Limits) -> list[Given]:
    """Many documents, some of them perhaps with faults."""
    require_count(len(found), limits)
    return [_read(each, form, limits, f"document {place}: ") for place, each in enumerate(found)]


def of_line(asked: Asked, limits: Limits) -> Given:
    """The document of a line."""
    if asked.fault is not None:
        return Given(asked.id, fault=Problem("invalid_document", asked.fault))
    try:
        _require_size(asked.document, limits)
    except Problem as fault:
        return Given(asked.id, fault=Problem(fault.code, f"line {asked.number}: {fault.detail}"))
    return Given(asked.id, asked.document, asked.metadata)


def _read(found: Any, form: LineFormat, limits: Limits, where: str) -> Given:
    if type(found) is not dict:
        return Given(None, fault=Problem("invalid_document", f"{where}it is not a JSON object"))
    id = found.get("id")
    known = id if isinstance(id, str | int) and not isinstance(id, bool) else None
    try:
        id, document, metadata = form.read(found)
        _require_size(document, limits)
    except InputError as error:
        return Given(known, fault=Problem("invalid_document", f"{where}{error}"))
    except Problem as fault:
        return Given(known, fault=Problem(fault.code, f"{where}{fault.detail}"))
    return Given(id, document, metadata)


def _require_size(document: Any, limits: Limits) -> None:
    if isinstance(document, str):
        require_length(document, limits)
    elif isinstance(document, dict):
        for value in document.values():
            if isinstance(value, str):
                require_length(value, limits)
    elif isinstance(document, list) and len(document) > limits.features:
        raise Problem(
            "too_many_features",
            f"it has {len(document):,} terms, more than one document may have "
            f"({limits.features:,}); split it",
        )
