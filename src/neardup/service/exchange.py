"""One request and its answer: headers, parameters, body, key; JSON, files and streams back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, BinaryIO, Protocol, TypeVar
from urllib.parse import parse_qsl

import msgspec
import orjson

from neardup.read.limits import TOO_DEEP, printable, too_deep
from neardup.service.bodies import Body, Disconnected, Receive
from neardup.service.keys import ANYBODY, Key
from neardup.service.limits import Limits
from neardup.service.problems import MEDIA_TYPE, Problem
from neardup.settings import require_known

JSON, NDJSON = "application/json", "application/x-ndjson"
ARROW = "application/vnd.apache.arrow.stream"
Send = Callable[[Any], Awaitable[None]]
Parameters = TypeVar("Parameters", bound=msgspec.Struct)
Typed = TypeVar("Typed")
_PIECE = 1 << 18
_LENGTH = b"content-length"
_LONG = 1 << 20
# Documents may hold markup: nobody is to guess their type, show them as a page or keep them.
_SAFE = [
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; sandbox"),
]
_JSON_HEADERS = [(b"content-type", JSON.encode()), *_SAFE]


class Page(Protocol):
    """An answer for a browser."""

    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Iterable[tuple[str, str]]: ...
    @property
    def body(self) -> bytes: ...


class Exchange:
    """A request, and the means to answer it once."""

    def __init__(
        self,
        scope: Mapping[str, Any],
        receive: Receive,
        send: Send,
        *,
        request_id: str,
        limits: Limits,
    ) -> None:
        self.scope = scope
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.request_id = request_id
        self.limits = limits
        self.key: Key = ANYBODY
        self.values: Mapping[str, str] = {}  # of the places in the path
        self.status = 0
        self.sent = 0
        self._receive = receive
        self._send = send
        self._body: Body | None = None

    @property
    def body(self) -> Body:
        if self._body is None:
            self._body = Body(self._receive, self.headers, self.limits)
        return self._body

    @property
    def received(self) -> int:
        """Bytes of the body that have arrived."""
        return 0 if self._body is None else self._body.received

    @property
    def has_body(self) -> bool:
        return self.headers.get(_LENGTH, b"0") != b"0" or b"transfer-encoding" in self.headers

    @property
    def media_type(self) -> str:
        """The type of the body, without parameters."""
        given = self.headers.get(b"content-type", b"").decode("latin-1")
        return given.partition(";")[0].strip().lower()

    def parameters(self, kind: type[Parameters]) -> Parameters:
        """The query parameters."""
        given = self.scope["query_string"]
        if not given:
            return kind()
        try:
            pairs = parse_qsl(given.decode("latin-1"), keep_blank_values=True, max_num_fields=100)
        except ValueError:
            raise Problem("invalid_parameter", "there are more than 100 parameters") from None
        found = dict(pairs)
        names = kind.__struct_fields__
        for name, _ in pairs:
            if name not in names:
                known = ", ".join(names) or "none"
                raise Problem(
                    "unknown_parameter",
                    f"there is no parameter {name!r:.60} here; the parameters are: {known}",
                )
        if len(found) < len(pairs):
            raise Problem("invalid_parameter", "a parameter is given twice; give it once")
        try:
            return msgspec.convert(found, kind, strict=False)
        except msgspec.ValidationError as error:
            said = _said(error, kind)
            raise Problem("invalid_parameter", f"a parameter is invalid: {said}") from None

    def require_media_type(self, *allowed: str) -> str:
        """The type of the body, which must be one of these."""
        found = self.media_type
        if found not in allowed:
            given = f"{found!r:.60}" if found else "missing"
            raise Problem(
                "unsupported_media_type",
                f"the Content-Type is {given}; send {' or '.join(allowed)}",
            )
        return found

    async def json(self) -> Any:
        """The JSON of the body."""
        data = await self.body.read()
        if len(data) <= _LONG:
            return _parsed(data)
        # Others must not wait for millions of values to be looked at.
        return await asyncio.get_running_loop().run_in_executor(None, _parsed, data)

    async def typed(self, kind: type[Typed], wrong: str = "invalid_setting") -> Typed:
        """The JSON body as a type; `wrong` is the code of the problem if it is another."""
        self.require_media_type(JSON)
        found = await self.json()
        if not isinstance(found, dict):
            raise Problem("invalid_json", "the body must be a JSON object")
        try:
            return msgspec.convert(found, kind)
        except msgspec.ValidationError as error:
            known = getattr(kind, "__struct_fields__", ())
            try:
                require_known(found, known)
            except ValueError as unknown:
                raise Problem(wrong, f"the body has an {unknown}") from None
            raise Problem(wrong, f"the body is invalid: {_said(error, kind)}") from None

    async def answer(self, value: Any, status: int = 200) -> None:
        """Answer with JSON."""
        await self.answer_bytes(orjson.dumps(value), status)

    async def answer_bytes(self, body: bytes, status: int = 200) -> None:
        """Answer with JSON that is made already."""
        await self._whole(status, _JSON_HEADERS, body)

    async def answer_text(self, text: str, media_type: str, policy: str | None = None) -> None:
        """Answer with a text; `policy` is the Content-Security-Policy of a page."""
        headers = [(b"content-type", media_type.encode()), *_SAFE]
        if policy is not None:
            headers[-1] = (b"content-security-policy", policy.encode())
        await self._whole(200, headers, text.encode())

    async def answer_page(self, page: Page) -> None:
        """Answer with a page, which has all of its headers."""
        await self._whole(page.status, _encoded(page.headers), page.body)

    async def answer_problem(self, problem: Problem, page: Page | None = None) -> None:
        """Answer with a problem, or the page about it; the rest of the body is read for a moment.

        If it is longer than that, it is cut off.
        """
        headers = [(b"content-type", MEDIA_TYPE.encode()), *_SAFE]
        headers += _encoded(problem.headers.items())
        body = problem.body(self.request_id)
        if page is not None:
            headers, body = _encoded(page.headers), page.body
        rest = self._rest()
        waits = self.headers.get(b"expect", b"").lower() == b"100-continue"
        if rest is not None and not waits and (rest.size or _PIECE) < _PIECE:
            await rest.drain(1.0)  # a short body is taken, and the connection stays
        if problem.code == "timeout":  # nobody waits for more of it
            await self._whole(problem.status, [*headers, (b"connection", b"close")], body)
            return
        if rest is None or rest.ended:
            await self._whole(problem.status, headers, body)
            return
        await self._start(problem.status, [*headers, (b"connection", b"close")], len(body))
        await self._piece(body, more=True)
        # A connection that is closed while data arrive is reset, and the answer may be lost.
        if not waits:
            await rest.drain(2.0)
        await self._piece(b"", more=False)

    async def answer_file(self, file: BinaryIO, size: int, media_type: str, name: str = "") -> None:
        """Answer with a file, as an attachment if it has a name."""
        headers = [(b"content-type", media_type.encode()), *_SAFE]
        if name:
            headers.append((b"content-disposition", f'attachment; filename="{name}"'.encode()))
        await self._start(200, headers, size)
        left = size
        loop = asyncio.get_running_loop()
        while left:
            piece = await loop.run_in_executor(None, file.read, min(_PIECE, left))
            if not piece:
                raise Disconnected  # the file shrank: the client sees a broken connection
            left -= len(piece)
            await self._piece(piece, more=left > 0)
        if not size:
            await self._piece(b"", more=False)

    def _rest(self) -> Body | None:
        """The body that the client may still be sending, however it is encoded."""
        if self._body is None and self.has_body:
            sizes = {name: self.headers[name] for name in (_LENGTH,) if name in self.headers}
            self._body = Body(self._receive, sizes, self.limits)
        return self._body

    async def _whole(self, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        await self._start(status, headers, len(body))
        await self._piece(body, more=False)

    async def _start(self, status: int, headers: list[tuple[bytes, bytes]], size: int) -> None:
        self.status = status
        await self._send(
            {
                "type": "http.response.start",
                "status": status,
                "headers": [
                    *headers,
                    (b"content-length", b"%d" % size),
                    (b"x-request-id", self.request_id.encode()),
                ],
            }
        )

    async def _piece(self, body: bytes, *, more: bool) -> None:
        self.sent += len(body)
        # A client that takes nothing for too long is disconnected by the protocol.
        await self._send({"type": "http.response.body", "body": body, "more_body": more})


def _encoded(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]


def _parsed(data: bytes) -> Any:
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise Problem(
            "invalid_json", f"the body is not valid JSON: {printable(str(error))}"
        ) from None
    if too_deep(found):
        raise Problem("invalid_json", f"the body is {TOO_DEEP}; flatten it")
    return found


def _said(error: msgspec.ValidationError, kind: Any) -> str:
    """The message of msgspec, with the name in front of it, and the choices if there are some."""
    what, _, where = str(error).partition(" - at `$.")
    name = where.rstrip("`")
    for field in getattr(msgspec.inspect.type_info(kind), "fields", ()):
        values = getattr(getattr(field.type, "type", field.type), "values", None)
        if field.name == name and values:
            what = f"{what}; choose {', '.join(values)}"
    return f"{name}: {what}" if name else what
