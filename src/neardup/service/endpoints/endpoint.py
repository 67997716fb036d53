"""An endpoint: what it takes, what it answers, who may use it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from neardup.service.exchange import Exchange
from neardup.service.service import Service
from neardup.service.typed import NoParameters

Run = Callable[[Service, Exchange], Awaitable[None]]


@dataclass(frozen=True, eq=False)
class Endpoint:
    """One method of one path.

    `role` is the least that a key must have, None if no key is needed. `body` and `answer` are the
    types of JSON; `streams` says that NDJSON and Arrow are taken too. `codes` are the problems that
    only some endpoints have. `pages` are for browsers: problems are pages, too, and the key may be
    the password of HTTP Basic.
    """

    method: str
    path: str
    run: Run
    summary: str
    role: str | None
    answer: Any
    about: str = ""
    parameters: type[msgspec.Struct] = NoParameters
    body: Any = None
    streams: bool = False
    status: int = 200
    codes: tuple[str, ...] = ()
    media_type: str = "application/json"
    pages: bool = False

    @property
    def name(self) -> str:
        """The method and the path, as metrics and the log have it."""
        return f"{self.method} {self.path.replace(':path}', '}')}"

    @property
    def tag(self) -> str:
        """What it is about, for the description."""
        parts = self.path.strip("/").split("/")
        if parts[0] != "v1":
            return "service"
        if parts[1] in ("jobs",):
            return "jobs"
        if parts[1] != "indexes":
            return "texts"
        return (
            "indexes"
            if len(parts) < 4
            else (
                "operations"
                if parts[3] in ("stats", "compact", "expire", "backup")
                else "documents"
            )
        )
