"""The application of a worker: finds the endpoint, checks the key, answers, counts, logs."""

from __future__ import annotations

import base64
import binascii
import os
import re
import secrets
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from neardup.service.bodies import Disconnected, Receive
from neardup.service.endpoints.endpoint import Endpoint
from neardup.service.endpoints.explore import problem_page
from neardup.service.endpoints.table import ENDPOINTS
from neardup.service.exchange import NDJSON, Exchange, Send
from neardup.service.keys import Key, Keys
from neardup.service.problems import CODES, Problem, problem_of, unavailable
from neardup.service.service import Service, require_role

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:-]{1,64}")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
UNMATCHED = "none"
ROUTES = (*(endpoint.name for endpoint in ENDPOINTS), UNMATCHED)
# 499, as nginx has it: the client went away before it was answered.
GONE = 499
STATUSES = (200, 201, 202, 303, GONE, *sorted({status for status, _ in CODES.values()}))


class App:
    """An ASGI application around the endpoints.

    Without `keys`, it answers only requests for this machine's own names, and none that a page of
    another site made a browser send.
    """

    def __init__(self, service: Callable[[], Service], keys: Keys | None) -> None:
        self._make_service = service
        self._service: Service | None = None
        self._keys = keys
        self._routes = [
            (_pattern(endpoint.path), endpoint, endpoint.name) for endpoint in ENDPOINTS
        ]
        self._process = secrets.token_hex(4)
        self._numbers = count(1)
        self._busy = 0

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._serve(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        self._service = self._make_service()
        self._service.writer.start()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self._service.writer.close()
        self._service.readers.close()
        if self._service.pages is not None:
            self._service.pages.close()
        self._service.log.flush()
        await send({"type": "lifespan.shutdown.complete"})

    async def _serve(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        service = self._service
        assert service is not None
        began = time.perf_counter()
        exchange = Exchange(scope, receive, send, request_id="", limits=service.limits)
        exchange.request_id = self._request_id(exchange)
        endpoint: Endpoint | None = None
        route = UNMATCHED
        self._busy += 1
        service.counters.add("requests_in_progress")
        problem: Problem | None = None
        try:
            endpoint, route = self._found(exchange)
            self._admit(endpoint, exchange, service)
            await endpoint.run(service, exchange)
        except Disconnected:
            exchange.status = GONE
        except Exception as error:
            problem = problem_of(error)
            if problem is None:
                service.log.failure(error, route, exchange.request_id)
                problem = Problem(
                    "internal",
                    f"the service failed; its log says why, under request {exchange.request_id}",
                )
            # A traceback would keep the body in memory until the garbage collector comes by.
            problem.__traceback__ = problem.__context__ = None
            # Paths are told as they are in the data folder, not where that is.
            problem.detail = problem.detail.replace(f"{service.root.path}/", "")
            if exchange.status:  # too late for another answer: the connection is cut
                raise
            if endpoint is not None and endpoint.pages:
                await exchange.answer_problem(problem, problem_page(service, exchange, problem))
            else:
                await exchange.answer_problem(problem)
        finally:
            self._busy -= 1
            spent = time.perf_counter() - began
            status = exchange.status
            service.counters.add("requests_in_progress", -1)
            service.counters.add("requests_total", 1, route, str(status if status else GONE))
            service.counters.observe("request_seconds", spent, route)
            service.counters.add("received_bytes_total", exchange.received)
            if service.log.requests:
                self._log(service, exchange, route, spent, problem)

    def _found(self, exchange: Exchange) -> tuple[Endpoint, str]:
        """The endpoint of a path and method, and the name of its route."""
        method = "GET" if exchange.method == "HEAD" else exchange.method
        allowed = []
        for pattern, endpoint, name in self._routes:
            match = pattern.fullmatch(exchange.path)
            if match is not None:
                if method == endpoint.method:
                    exchange.values = match.groupdict()
                    return endpoint, name
                allowed.append(endpoint.method)
        if allowed:
            methods = ", ".join(sorted(allowed))
            raise Problem(
                "method_not_allowed",
                f"{exchange.method:.20} is not possible here, only {methods}",
                allow=methods,
            )
        raise Problem("not_found", f"there is nothing at {exchange.path!r:.200}; see /docs")

    def _admit(self, endpoint: Endpoint, exchange: Exchange, service: Service) -> None:
        """Refuse what must not be served, before any of the body is read."""
        if endpoint.role is not None:
            exchange.key = self._key(exchange, service, takes_password=endpoint.pages)
            name = exchange.values.get("name") if "/indexes/{name}" in endpoint.path else None
            if name is not None and not exchange.key.sees(name):
                raise Problem(
                    "forbidden",
                    f"the key {exchange.key.name} does not allow the index {name:.100}; use "
                    "another key",
                )
            require_role(exchange.key, endpoint.role)
            if self._busy > service.limits.requests:
                raise unavailable(
                    f"{self._busy - 1} requests are being worked on; nothing was done: try again "
                    "in a second"
                )
        if endpoint.body is not None and not (endpoint.streams and exchange.media_type == NDJSON):
            exchange.body.require_fit()

    def _key(self, exchange: Exchange, service: Service, *, takes_password: bool) -> Key:
        if self._keys is None:
            _require_local(exchange)
            return exchange.key
        sent = exchange.headers.get(b"authorization", b"").decode("latin-1")
        kind, _, given = sent.partition(" ")
        if takes_password and kind.lower() == "basic":
            kind, given = "bearer", _password(given)
        key = self._keys.find(given.strip()) if kind.lower() == "bearer" else None
        if self._keys.fault is not None:
            service.log.event("keys", fault=self._keys.fault)
            self._keys.fault = None
        if key is None:
            what = "the key is unknown or was revoked" if given else "a key is needed"
            raise Problem("unauthorized", f"{what}; send the header Authorization: Bearer KEY")
        return key

    def refused(self, problem: Problem, client: str | None) -> str:
        """Count and log a request that was refused before it came here; return its id."""
        request_id = self._new_id()
        if self._service is not None:
            counters, log = self._service.counters, self._service.log
            counters.add("requests_total", 1, UNMATCHED, str(problem.status))
            log.request(
                request_id=request_id, status=problem.status, code=problem.code, client=client
            )
        return request_id

    def _request_id(self, exchange: Exchange) -> str:
        given = exchange.headers.get(b"x-request-id")
        if given is not None and _REQUEST_ID.fullmatch(given):
            return given.decode()
        return self._new_id()

    def _new_id(self) -> str:
        return f"{self._process}-{next(self._numbers):x}"

    def _log(
        self,
        service: Service,
        exchange: Exchange,
        route: str,
        spent: float,
        problem: Problem | None,
    ) -> None:
        client = exchange.scope.get("client")
        values = {
            "request_id": exchange.request_id,
            "method": exchange.method,
            "path": exchange.path[:500],
            "route": route,
            "status": exchange.status or GONE,
            "ms": round(spent * 1000, 3),
            "received": exchange.received,
            "sent": exchange.sent,
            "key": exchange.key.name,
            "client": client[0] if client else None,
            "worker": os.getpid(),
        }
        if problem is not None:
            values["code"] = problem.code
            if service.log.texts:
                values["detail"] = problem.detail
        service.log.request(**values)


def _pattern(path: str) -> re.Pattern[str]:
    """The paths that belong to an endpoint; a place that is a `path` may hold anything."""
    found = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path)
    return re.compile(re.sub(r"\{(\w+):path\}", r"(?P<\1>.*)", found), re.DOTALL)


def _password(credentials: str) -> str:
    """The password of HTTP Basic, whatever the user name is; empty if there is none.

    >>> _password("YW5uOmtleQ=="), _password("?")
    ('key', '')
    """
    try:
        return base64.b64decode(credentials.strip()).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _require_local(exchange: Exchange) -> None:
    """Refuse what a browser sends for a page of another site, by its Host or its Origin."""
    host = exchange.headers.get(b"host", b"")
    if not _is_local(b"//" + host):
        raise Problem(
            "forbidden",
            f"without keys only requests for localhost are answered, not for "
            f"{host.decode('latin-1')!r:.100}; start the service with --keys",
        )
    origin = exchange.headers.get(b"origin")
    if origin is not None and not _is_local(origin):
        raise Problem(
            "forbidden", "a page of another site sent this; start the service with --keys"
        )


@lru_cache(256)
def _is_local(address: bytes) -> bool:
    try:
        return urlsplit(address.decode("latin-1")).hostname in _LOOPBACK
    except ValueError:
        return False
