"""`/explore`: pages for browsers, of the indexes and of what jobs have deduplicated.

A key is the password of HTTP Basic here. A job's pages need a key for all indexes, as jobs do; to
decide needs the role write, and who may only read sees the pages without buttons.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from neardup.errors import NeardupError
from neardup.service.endpoints.endpoint import Endpoint, Run
from neardup.service.exchange import Exchange, Page
from neardup.service.problems import Problem
from neardup.service.readers import Reader
from neardup.service.service import Service

if TYPE_CHECKING:
    from neardup.service.explore.pages import Pages

_HTML = "text/html"


async def to_home(service: Service, exchange: Exchange) -> None:
    await _redirect(service, exchange, "/explore/")


async def home(service: Service, exchange: Exchange) -> None:
    """The indexes that the key sees, and the dedup jobs."""
    from neardup.service.explore import home as page
    from neardup.service.explore.pages import request_of

    pages, request = await _pages(service), await request_of(exchange)
    names = [name for name in service.readers.names() if exchange.key.sees(name)]
    shown, first = page.page_of(names, request, "indexes")
    readers: list[Reader | None] = []
    for name in shown:
        try:
            readers.append(await service.readers.get(name))
        except (Problem, NeardupError) as error:  # deleted meanwhile, or damaged
            service.log.event("unreadable", index=name, fault=type(error).__name__)
            readers.append(None)
    jobs: list[dict[str, Any]] | None = None
    if exchange.key.sees_all:
        every = await service.writer.call("list_jobs", ())
        jobs = [job for job in every if job["kind"] == "dedup"]
    found = page.Found(names, first, list(zip(shown, readers, strict=True)), jobs)
    routes = page.routes(found)
    explorer = pages.explorer(exchange.key, routes=routes)
    await exchange.answer_page(await pages.made(lambda: explorer.respond(request)))


async def index(service: Service, exchange: Exchange) -> None:
    """An index: its figures, and whether a text was seen before."""
    from neardup.service.explore.index_pages import IndexPages
    from neardup.service.explore.pages import request_of

    pages, request = await _pages(service), await request_of(exchange)
    reader = await service.readers.get(exchange.values["name"])
    shown = IndexPages(reader, service.limits)
    explorer = pages.explorer(exchange.key, routes=shown.routes())
    response = await pages.made(lambda: explorer.respond(request))
    if shown.matches is not None:
        service.counters.add("documents_queried_total")
        service.counters.add("matches_total", bool(shown.matches))
    await exchange.answer_page(response)


async def job(service: Service, exchange: Exchange) -> None:
    """The run of a job: all of its pages."""
    from neardup.explore.http import RefusedError
    from neardup.service.explore.open_runs import NoRunError, OpeningError
    from neardup.service.explore.pages import BASE, request_of
    from neardup.service.explore.waiting import job_without_run, opening

    pages, id = await _pages(service), exchange.values["id"]
    if not exchange.key.sees_all:
        raise Problem("forbidden", "jobs can read every index; use a key for all indexes")
    base = f"{BASE}/jobs/{id}"
    request = await request_of(exchange, base)
    explorer = pages.explorer(exchange.key)
    try:
        async with pages.runs.using(id) as run:
            inputs = [str(one["name"]) for one in run.summary.get("inputs") or ()]
            title = ", ".join(inputs) or f"job {id}"
            of_run = pages.explorer(exchange.key, run, base=base, title=title)
            response = await pages.made(lambda: of_run.respond(request))
    except OpeningError as error:
        response = opening(explorer, error.share)
    except NoRunError:
        found = await service.writer.call("get_job", (id,))
        response = job_without_run(explorer, found)
    except NeardupError as error:
        response = explorer.answer_to(RefusedError(500, str(error)))
    await exchange.answer_page(response)


async def others(service: Service, exchange: Exchange) -> None:
    """The laboratory, and the addresses where there is nothing."""
    from neardup.service.explore.pages import request_of

    pages, request = await _pages(service), await request_of(exchange)
    steps = request.path.split("/")
    if request.method != "POST" and steps[1] == "jobs" and len(steps) == 3 and steps[2]:
        await _redirect(service, exchange, f"{exchange.scope['raw_path'].decode('latin-1')}/")
        return
    explorer = pages.explorer(exchange.key)
    await exchange.answer_page(await pages.made(lambda: explorer.respond(request)))


def problem_page(service: Service, exchange: Exchange, problem: Problem) -> Page:
    """A problem that a browser shows."""
    return _made(service).of_problem(exchange.key, problem)


async def _redirect(service: Service, exchange: Exchange, address: str) -> None:
    await _pages(service)
    from neardup.explore.app import with_headers
    from neardup.explore.http import Response

    await exchange.answer_page(with_headers(Response.redirect(address)))


async def _pages(service: Service) -> Pages:
    if service.pages is None:
        # The modules of the pages take a fifth of a second, and nobody must wait for that.
        await asyncio.get_running_loop().run_in_executor(None, _imported)
    return _made(service)


def _made(service: Service) -> Pages:
    if service.pages is None:
        from neardup.service.explore.pages import Pages

        service.pages = Pages(service.root, service.secret)
    return service.pages


def _imported() -> None:
    import neardup.service.explore.pages  # noqa: F401


_INDEX, _JOB = "/explore/indexes/{name}", "/explore/jobs/{id}/{rest:path}"
_OTHERS = "/explore/{rest:path}"


def _page(method: str, path: str, run: Run, summary: str, role: str | None = "read") -> Endpoint:
    return Endpoint(method, path, _told(run), summary, role, None, media_type=_HTML, pages=True)


def _told(run: Run) -> Run:
    """An endpoint that answers refusals of its own by a page, as the pages do."""

    async def answered(service: Service, exchange: Exchange) -> None:
        try:
            await run(service, exchange)
        except NeardupError as error:
            from neardup.explore.http import RefusedError

            if not isinstance(error, RefusedError):
                raise
            await exchange.answer_page(_made(service).explorer(exchange.key).answer_to(error))

    return answered


ENDPOINTS = [
    # Who has not given a key yet sees the page that asks for it as it is meant to be.
    _page("GET", "/explore/static/{name:path}", others, "Stylesheets and scripts", None),
    _page("GET", _JOB, job, "The run of a job"),
    _page("POST", _JOB, job, "Decide, or ask"),
    _page("GET", f"{_INDEX}/documents/{{id:path}}", index, "A document"),
    _page("GET", _INDEX, index, "An index"),
    _page("POST", _INDEX, index, "Whether a document was seen before"),
    _page("GET", "/explore", to_home, "To the list of indexes and jobs", None),
    _page("GET", "/explore/", home, "Indexes and jobs"),
    _page("GET", _OTHERS, others, "The laboratory"),
    _page("POST", _OTHERS, others, "Ask the laboratory"),
]
