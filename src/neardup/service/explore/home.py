"""`/explore/`: the indexes of the service, and the runs of its jobs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeVar

from neardup.errors import NeardupError
from neardup.explore.app import Route
from neardup.explore.http import RefusedError, Request, Response
from neardup.explore.rendering import short
from neardup.explore.site import Site
from neardup.explore.views.room import cut
from neardup.frozen import dataclass
from neardup.service.readers import Reader
from neardup.system.files import allocated_bytes

_PER_PAGE = 50
_LONGEST, _LARGEST = 120, 300  # characters, and bytes, of what a job read
_STATES = {"done": "kept", "failed": "removed"}  # with the colours of these
Item = TypeVar("Item")


@dataclass(frozen=True)
class IndexRow:
    """An index in the list; one that cannot be read has a name alone."""

    name: str
    finds: str = ""
    documents: int | None = None
    bytes: int | None = None


@dataclass(frozen=True)
class JobRow:
    """A dedup job in the list."""

    id: str
    inputs: str
    state: str
    look: str
    created: str
    documents: int | None
    removed: int | None
    note: str

    @property
    def is_done(self) -> bool:
        """Whether there is something to look at."""
        return self.state == "done"


@dataclass(frozen=True)
class Found:
    """What a key sees: the names of its indexes, those of a page opened, and the dedup jobs.

    A key for some indexes sees no jobs: None.
    """

    names: Sequence[str]
    page: int
    readers: Sequence[tuple[str, Reader | None]]
    jobs: Sequence[dict[str, Any]] | None


def routes(found: Found) -> tuple[Route, ...]:
    """The list as a page."""
    return (Route(("GET",), "/", lambda site, request: _show(site, request, found)),)


def page_of(items: Sequence[Item], request: Request, name: str) -> tuple[Sequence[Item], int]:
    """The items of the page that the query asks for, and its number."""
    page = request.whole(name) or 1
    pages = last_page(items)
    if page > pages:
        raise RefusedError(404, f"There are only {pages:,} pages of {name}.")
    return items[(page - 1) * _PER_PAGE : page * _PER_PAGE], page


def last_page(items: Sequence[Any]) -> int:
    """The number of the last page."""
    return max(1, -(-len(items) // _PER_PAGE))


def size_on_disk(path: Path) -> int | None:
    """The bytes that an index takes; None if it is gone."""
    try:
        return allocated_bytes(path / "data.mdb")
    except OSError:
        return None


def moment(seconds: float) -> str:
    """A time in seconds since 1970, in ISO 8601."""
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="seconds")


def _show(site: Site, request: Request, found: Found) -> Response:
    jobs, page = page_of(found.jobs or (), request, "jobs")
    return site.page(
        request,
        "served/home.html",
        indexes=[_index_row(name, reader) for name, reader in found.readers],
        all_indexes=len(found.names),
        indexes_page=found.page,
        indexes_pages=last_page(found.names),
        sees_jobs=found.jobs is not None,
        jobs=[_job_row(job) for job in jobs],
        all_jobs=len(found.jobs or ()),
        jobs_page=page,
        jobs_pages=last_page(found.jobs or ()),
        page_of_indexes=lambda page=None: site.url("/", indexes=page, jobs=request.first("jobs")),
        page_of_jobs=lambda page=None: site.url("/", indexes=request.first("indexes"), jobs=page),
    )


def _index_row(name: str, reader: Reader | None) -> IndexRow:
    if reader is None:
        return IndexRow(name)
    try:
        documents = len(reader.index)
    except NeardupError:
        return IndexRow(name)
    return IndexRow(name, reader.index.settings.finds, documents, size_on_disk(reader.index.path))


def _job_row(job: dict[str, Any]) -> JobRow:
    summary = job["summary"] or {}
    return JobRow(
        id=job["id"],
        inputs=cut(short(", ".join(job["inputs"]), _LONGEST), _LARGEST),
        state=job["state"],
        look=_STATES.get(job["state"], ""),
        created=moment(job["created"]),
        documents=summary.get("documents"),
        removed=summary.get("removed"),
        note=cut(short(job["error"] or "", 200), 400),
    )
