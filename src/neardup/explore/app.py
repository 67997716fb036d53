"""The explorer: from a request to the page that answers it.

It knows no server: `neardup explore` carries it by `explore/server.py`, and others may mount it
below a path of theirs.
"""

from __future__ import annotations

import secrets
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from neardup.errors import InputError, NeardupError, SettingError
from neardup.explore.http import RefusedError, Request, Response
from neardup.explore.pages import (
    cluster,
    clusters,
    compare,
    decisions,
    document,
    families,
    items,
    lab,
    overview,
    review,
    threshold,
    to_label,
)
from neardup.explore.reviewer import name_reviewer
from neardup.explore.site import Site
from neardup.explore.static_files import static_files
from neardup.frozen import dataclass

if TYPE_CHECKING:
    from neardup.parts.contamination.opened import ContaminationFolder
    from neardup.parts.passages.opened import PassagesFolder
    from neardup.runs import Run

Page = Callable[[Site, Request], Response]
_GET, _POST = ("GET",), ("POST",)


@dataclass(frozen=True)
class Route:
    """A page and its address; one that ends with `/*` takes the rest as its argument.

    A form that changes nothing may be sent to read-only pages too.
    """

    methods: tuple[str, ...]
    path: str
    page: Page
    changes: bool = True

    def argument(self, path: str) -> str | None:
        """What the path has after this address; None if it is another address."""
        if not self.path.endswith("*"):
            return "" if path == self.path else None
        start = self.path[:-1]
        return path[len(start) :] if path.startswith(start) else None


ROUTES = (
    Route(_GET, "/", overview.show),
    Route(_GET, "/clusters", clusters.show),
    Route(_GET, "/clusters/*", cluster.show),
    Route(_GET, "/documents", document.show),
    Route(_GET, "/documents/*", document.show),
    Route(_GET, "/others/*", document.show_other),
    Route(_GET, "/compare", compare.show),
    Route(_GET, "/review", review.show),
    Route(_POST, "/reviewer", name_reviewer),
    Route(_GET, "/decisions", decisions.show),
    Route(_POST, "/decisions", decisions.decide),
    Route(_POST, "/decisions/undo", decisions.undo),
    Route(_GET, "/decisions.csv", decisions.download_csv),
    Route(_GET, "/decisions.parquet", decisions.download_parquet),
    Route(_GET, "/threshold", threshold.show),
    Route(_GET, "/lab", lab.index),
    Route(_GET, "/lab/*", lab.show),
    Route(_POST, "/lab/*", lab.show, changes=False),
    Route(_GET, "/static/*", lambda site, request: site.static_files.respond(request.argument)),
)

# Of a file of pairs to label there is no overview, and there are no clusters and no threshold.
_NOT_OF_PAIRS = ("/", "/clusters", "/clusters/*", "/threshold")
ROUTES_TO_LABEL = (
    Route(_GET, "/", to_label.begin),
    *(Route(_GET, path, to_label.missing) for path in _NOT_OF_PAIRS[1:]),
    *(route for route in ROUTES if route.path not in _NOT_OF_PAIRS),
)
# The laboratory, and the files of all pages.
_OF_ALL = tuple(route for route in ROUTES if route.path.startswith(("/lab", "/static")))


def routes_of_passages(folder: PassagesFolder) -> tuple[Route, ...]:
    """The pages of a folder of passages, and the laboratory."""
    return (
        Route(_GET, "/", partial(families.show, folder)),
        Route(_GET, "/families/*", partial(families.show_family, folder)),
        Route(_GET, "/document", partial(families.show_document, folder)),
        *_OF_ALL,
    )


def routes_of_contamination(folder: ContaminationFolder) -> tuple[Route, ...]:
    """The pages of a folder of contamination, and the laboratory."""
    return (
        Route(_GET, "/", partial(items.show, folder)),
        Route(_GET, "/item", partial(items.show_item, folder)),
        Route(_GET, "/document", partial(items.show_document, folder)),
        *_OF_ALL,
    )


_POLICY = "; ".join(
    (
        "default-src 'none'",
        "style-src 'self'",
        "script-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
# Without a referrer, browsers would send the origin `null` with our own forms.
_ALWAYS = (
    ("Content-Security-Policy", _POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_BUG = "This page failed; the terminal in which neardup runs has the details."


class Explorer:
    """The pages of a run; without one, only the laboratory.

    `base` is the path below which it is mounted. `loopback` refuses requests for other names than
    those of this machine, so that a site whose name is made to lead here reads nothing. Several
    processes that answer for the same pages share a `token`. `home` and `is_signed` are as in
    `Site`. `routes` are other pages than those of a run.
    """

    def __init__(
        self,
        run: Run | None,
        *,
        read_only: bool = False,
        base: str = "",
        reviewer: str = "",
        title: str = "",
        token: str | None = None,
        loopback: bool = True,
        home: str = "",
        is_signed: bool = False,
        routes: tuple[Route, ...] | None = None,
    ) -> None:
        self.site = Site(
            opened=run,
            base=base.rstrip("/"),
            read_only=read_only,
            reviewer=reviewer,
            token=token or secrets.token_urlsafe(32),
            title=title or "neardup",
            static_files=static_files(),
            home=home,
            is_signed=is_signed,
        )
        self._loopback = loopback
        of_run = ROUTES if run is None or run.to_label is None else ROUTES_TO_LABEL
        self._routes = of_run if routes is None else routes

    def respond(self, request: Request) -> Response:
        """The answer to a request, which may be a page about what is wrong with it."""
        try:
            self._admit(request)
            response = self._answer(request)
        except NeardupError as error:
            return self.answer_to(error, request)
        except Exception as error:
            return self.answer_to(self.failed(error), request)
        return with_headers(response)

    def failed(self, error: Exception) -> NeardupError:
        """Report a bug in the terminal; what the reader is told instead."""
        traceback.print_exception(error, file=sys.stderr)
        return RefusedError(500, _BUG)

    def answer_to(self, error: NeardupError, request: Request | None = None) -> Response:
        """A page with one sentence; without a request if that could not be read."""
        status = _status(error)
        page = self.site.page(
            request or Request("GET", "/error"),
            "error.html",
            status=status,
            status_name=HTTPStatus(status).phrase.capitalize(),
            sentence=str(error),
        )
        if isinstance(error, RefusedError) and error.allow:
            page = replace(page, headers=(*page.headers, ("Allow", error.allow)))
        return with_headers(page)

    def _answer(self, request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        allowed: set[str] = set()
        for route in self._routes:
            argument = route.argument(request.path)
            if argument is None:
                continue
            if method in route.methods:
                return route.page(self.site, replace(request, argument=argument))
            allowed.update(route.methods)
        if allowed:
            methods = sorted(allowed)
            raise RefusedError(
                405, f"This address takes {' and '.join(methods)} alone.", allow=", ".join(methods)
            )
        raise RefusedError(404, "There is no such page.")

    def _admit(self, request: Request) -> None:
        """Refuse what other sites might send."""
        if self._loopback and host_of(request.headers.get("host", "")) not in _LOOPBACK:
            raise RefusedError(403, "These pages answer only to 127.0.0.1 and localhost.")
        if request.method in ("GET", "HEAD"):
            return
        if request.method != "POST":
            raise RefusedError(
                405, "These pages take GET, HEAD and POST alone.", allow="GET, HEAD, POST"
            )
        if self.site.read_only and self._changes(request):
            raise RefusedError(403, "These pages are read-only; nothing was changed.")
        if not _same_origin(request) or not self.site.holds_token(request):
            raise RefusedError(
                403, "This form is not from these pages, or neardup was started again: reload it."
            )

    def _changes(self, request: Request) -> bool:
        """Whether a form may change something; one for no page is taken to."""
        routes = [route for route in self._routes if request.method in route.methods]
        return all(route.changes for route in routes if route.argument(request.path) is not None)


def with_headers(response: Response) -> Response:
    """A response with what every one has: the policy, and no copy kept unless it says so."""
    stored = () if response.header("Cache-Control") else (("Cache-Control", "no-store"),)
    return replace(response, headers=(*response.headers, *stored, *_ALWAYS))


def host_of(address: str) -> str | None:
    """The host of a Host header, without the port; None if it is none.

    >>> host_of("localhost:7800"), host_of("[::1]:7800"), host_of("127.0.0.1")
    ('localhost', '::1', '127.0.0.1')
    >>> host_of("localhost@evil.example"), host_of("")
    (None, None)
    """
    if any(sign in address for sign in "@/?#\\ \t"):
        return None
    try:
        parts = urlsplit(f"//{address}")
        _ = parts.port  # a port that is no number is an error
    except ValueError:
        return None
    return parts.hostname


def _same_origin(request: Request) -> bool:
    """Whether the page that sent the form was one of ours, by the host that was asked for."""
    sender = request.headers.get("origin") or request.headers.get("referer", "")
    try:
        parts = urlsplit(sender)
    except ValueError:
        return False
    known = parts.scheme in ("http", "https")
    return known and bool(parts.netloc) and parts.netloc == request.headers.get("host")


def _status(error: NeardupError) -> int:
    if isinstance(error, RefusedError):
        return error.status
    if isinstance(error, SettingError):
        return 400
    return 404 if isinstance(error, InputError) else 500
