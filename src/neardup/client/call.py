"""Calls as data, and what happens around one: reading its answer, and trying again.

Everything a client does is a generator of steps: it yields calls, which somebody sends, and pauses,
which somebody waits for. Only that somebody differs between `Client` and `AsyncClient`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from itertools import count
from pathlib import Path
from random import uniform
from typing import Any, Generic, NamedTuple, TypeVar

import orjson

from neardup.client.errors import ServiceError, error_of
from neardup.errors import NeardupError
from neardup.frozen import dataclass

T = TypeVar("T")

_FIRST_WAIT, _LONGEST_WAIT = 0.25, 8.0
# A server that asks for a longer pause is left alone: a caller has to know of it.
_MOST_PATIENCE = 60.0


class Reply(NamedTuple):
    """What came back: `headers` have names in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Pause(NamedTuple):
    """A number of seconds to wait."""

    seconds: float


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request, and how its answer is read.

    `path` is percent-encoded. `read` takes the JSON value of the answer. Only a `repeatable` call
    is sent again after an error: one that does the same if the first one was carried out after all.
    A `slow` one takes as long as the index is large. The answer goes `into` a file, if that is
    given, instead of memory.
    """

    method: str
    path: str
    read: Callable[[Any], T]
    parameters: Mapping[str, str] | None = None
    body: bytes | None = None  # JSON
    repeatable: bool = True
    slow: bool = False
    into: Path | None = None

    def answer(self, reply: Reply) -> T:
        """What a reply says; an error if it says that."""
        if not 200 <= reply.status < 300:
            raise error_of(*reply)
        if self.into is not None:
            return self.read(None)
        try:
            return self.read(orjson.loads(reply.content))
        except NeardupError:
            raise
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ServiceError(
                f"the answer to {self.method} {self.path} is not one of neardup serve of this "
                f"version ({type(error).__name__}: {error}); check the URL and the versions",
                status=reply.status,
                code="unexpected_answer",
            ) from None


def nothing(_: Any) -> None:
    """Read an answer that says no more than that all is well."""


# A call is answered with a reply, a pause with None.
Steps = Generator[Call[Any] | Pause, Any, T]


def ask(call: Call[T], retries: int) -> Steps[T]:
    """Send a call and read its answer; after a temporary error, wait and repeat it.

    Whoever runs the steps throws a `ServiceError` in if no answer comes.
    """
    for attempt in count(1):
        try:
            return call.answer((yield call))
        except ServiceError as error:
            if not (call.repeatable and error.is_temporary and attempt <= retries):
                raise
            if (error.retry_after or 0) > _MOST_PATIENCE:
                raise
            pause = _pause(attempt, error.retry_after)
        yield pause
    raise AssertionError("unreachable")


def _pause(attempt: int, retry_after: float | None) -> Pause:
    """Twice as long after each attempt, and at random, so that clients do not return together."""
    most = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (attempt - 1))
    return Pause((retry_after or 0.0) + uniform(most / 2, most))
