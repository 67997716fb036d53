"""The pages of a worker: who may see which, as which reviewer, and the threads that make them."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from neardup.errors import NeardupError
from neardup.explore.app import ROUTES, Explorer, Route
from neardup.explore.http import RefusedError, Request, Response, read_fields, read_path
from neardup.service.data_root import DataRoot
from neardup.service.exchange import Exchange
from neardup.service.explore.open_runs import OpenRuns
from neardup.service.keys import ANYBODY, Key
from neardup.service.problems import Problem

if TYPE_CHECKING:
    from neardup.runs import Run

BASE = "/explore"
# A form with a text of 200,000 characters, each of them up to nine bytes as browsers write them.
MOST_FORM = 2_000_000
_FORM = "application/x-www-form-urlencoded"
_AT_ONCE = 4
# Pages that belong to no run.
_WITHOUT_RUN = tuple(route for route in ROUTES if route.path.startswith(("/lab", "/static")))
_NEEDS_KEY = "These pages need a key: reload, then give any user name, and the key as the password."
Made = TypeVar("Made")


class ServedExplorer(Explorer):
    """The pages for one key. Paths are told as they are in the data folder."""

    def __init__(self, root: DataRoot, run: Run | None, **given: Any) -> None:
        # The service has looked at Host and key before.
        super().__init__(run, loopback=False, home=f"{BASE}/", **given)
        self._root = root

    def answer_to(self, error: NeardupError, request: Request | None = None) -> Response:
        """A page with one sentence."""
        error.args = (str(error).replace(f"{self._root.path}/", ""),)
        return super().answer_to(error, request)

    def failed(self, error: Exception) -> NeardupError:
        """Leave a bug, or a problem, to the service, which logs it under the request."""
        raise error


class Pages:
    """What makes pages: a few threads, the open runs, and the secret of all forms."""

    def __init__(self, root: DataRoot, secret: bytes) -> None:
        self.runs = OpenRuns(root)
        self._root = root
        self._secret = secret
        self._threads = ThreadPoolExecutor(_AT_ONCE, "pages")

    def close(self) -> None:
        self.runs.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def made(self, work: Callable[[], Made]) -> Made:
        """What a thread makes; a few at once, and others wait for them in order."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def explorer(
        self,
        key: Key,
        run: Run | None = None,
        *,
        base: str = BASE,
        title: str = "",
        routes: tuple[Route, ...] | None = None,
    ) -> ServedExplorer:
        """The pages of a run or, without one, those of the service."""
        is_named = key is not ANYBODY
        return ServedExplorer(
            self._root,
            run,
            # Without a run, forms change nothing: they only ask.
            read_only=run is not None and not key.allows("write"),
            base=base,
            reviewer=key.name if is_named else "",
            is_signed=is_named,
            title=title,
            token=self._token(key),
            routes=routes if routes is not None or run is not None else _WITHOUT_RUN,
        )

    def of_problem(self, key: Key, problem: Problem) -> Response:
        """A problem as a page."""
        detail = problem.detail
        if problem.status == 404:  # what to do is told to programs
            detail = detail.partition(";")[0]
        sentence = detail[:1].upper() + detail[1:].rstrip(".") + "."
        if problem.status == 401:
            sentence = _NEEDS_KEY
        page = self.explorer(key).answer_to(RefusedError(problem.status, sentence))
        headers = dict(problem.headers)
        if problem.status == 401:
            headers["www-authenticate"] = 'Basic realm="neardup", charset="UTF-8"'
        return Response(page.status, (*page.headers, *headers.items()), page.body)

    def _token(self, key: Key) -> str:
        """One for each key: who may only read must not know that of somebody who may decide."""
        return hmac.new(self._secret, key.part.encode(), hashlib.sha256).hexdigest()


async def request_of(exchange: Exchange, base: str = BASE) -> Request:
    """The request as pages below `base` see it, with its form."""
    form = read_fields(await _form(exchange)) if exchange.method == "POST" else {}
    path = read_path(exchange.scope["raw_path"].decode("latin-1"))
    query = read_fields(exchange.scope["query_string"].decode("latin-1"))
    headers: dict[str, str] = {}
    for name, value in exchange.scope["headers"]:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        # A header that comes twice has both values, which no check lets pass.
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    headers.pop("authorization", None)
    return Request(exchange.method, path[len(base) :], query, headers, form)


async def _form(exchange: Exchange) -> str:
    exchange.require_media_type(_FORM)
    size = exchange.body.size
    if size is None or b"content-encoding" in exchange.headers:
        raise Problem("invalid_request", "a form must be sent with its length, and not packed")
    if size > MOST_FORM:
        raise Problem("body_too_large", f"a form may have up to {MOST_FORM:,} bytes; send less")
    try:
        return (await exchange.body.read()).decode("ascii")
    except UnicodeDecodeError:
        raise Problem("invalid_request", "a form must be percent-encoded") from None
