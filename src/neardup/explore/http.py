"""A request and its response, as the pages see them, whatever server carries them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from urllib.parse import parse_qs, unquote_to_bytes

from neardup.errors import NeardupError
from neardup.frozen import dataclass

HTML = "text/html; charset=utf-8"
JSON = "application/json"
MOST_FIELDS = 1_000  # of a query or form; a page needs far fewer


@dataclass(frozen=True)
class Request:
    """What was asked: `path` is decoded, below the base, and begins with a slash.

    `argument` is what follows the fixed part of the path: `a/b` of `/documents/a/b`. The names of
    `headers` are in lower case.
    """

    method: str
    path: str
    query: Mapping[str, Sequence[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, Sequence[str]] = field(default_factory=dict)
    argument: str = ""

    @property
    def section(self) -> str:
        """The first step of the path: `/clusters` of `/clusters/12`."""
        return "/" + self.path.split("/", 2)[1]

    def first(self, name: str, default: str = "") -> str:
        """The first value of a name in the query."""
        return next(iter(self.query.get(name, ())), default)

    def whole(self, name: str) -> int | None:
        """A whole number from 0 in the query; None if it is missing or empty."""
        value = self.first(name).strip()
        if not value:
            return None
        if not (value.isascii() and value.isdigit() and len(value) <= 15):
            raise RefusedError(400, f"{name} must be a whole number, not {value[:40]!r}.")
        return int(value)

    def number(self, name: str) -> float | None:
        """A number from 0 to 1 in the query; None if it is missing or empty."""
        value = self.first(name).strip()
        if not value:
            return None
        try:
            found = float(value)
        except ValueError:
            found = -1.0
        if not 0 <= found <= 1:
            raise RefusedError(400, f"{name} must be a number from 0 to 1, not {value[:40]!r}.")
        return found


@dataclass(frozen=True)
class Response:
    """An answer: the server adds the length of the body, and leaves it out for HEAD."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @classmethod
    def of(cls, body: str | bytes, kind: str = HTML, status: int = 200) -> Response:
        """A response with a body of this content type."""
        whole = body.encode("utf-8", "replace") if isinstance(body, str) else body
        return cls(status, (("Content-Type", kind),), whole)

    @classmethod
    def redirect(cls, address: str) -> Response:
        """Ask the browser to GET another page, as after a form was sent."""
        return cls(303, (("Location", address), ("Content-Type", HTML)), b"")

    def header(self, name: str) -> str | None:
        """The value of a header, found in any case."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)


class RefusedError(NeardupError):
    """A request that is answered by a page with one sentence: 400, 403, 404 or 405.

    `allow` are the methods that the address takes, if the one of the request is not among them.
    """

    def __init__(self, status: int, sentence: str, *, allow: str = "") -> None:
        super().__init__(sentence)
        self.status = status
        self.allow = allow


def read_fields(encoded: str) -> dict[str, list[str]]:
    """The fields of a query or of a form in a body; empty ones are kept.

    >>> read_fields("a=1&a=&b=%C3%A9")
    {'a': ['1', ''], 'b': ['é']}
    """
    try:
        return parse_qs(
            encoded, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS
        )
    except ValueError:
        raise RefusedError(400, "The fields of this request are not UTF-8, or too many.") from None


def read_path(encoded: str) -> str:
    """The decoded path.

    >>> read_path("/documents/a%2Fb%20c")
    '/documents/a/b c'
    """
    try:
        return unquote_to_bytes(encoded).decode()
    except UnicodeDecodeError:
        raise RefusedError(400, "The path of this address is not UTF-8.") from None
