"""Errors of a server, as a caller sees them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from time import time
from typing import Any

import orjson

from neardup.errors import InputError, NeardupError, SettingError

# What a local index would refuse raises the error that a local index raises.
_AS_LOCAL: dict[str, type[NeardupError]] = {
    "invalid_setting": SettingError,
    "invalid_parameter": SettingError,
    "settings_differ": SettingError,
    "invalid_document": InputError,
}
_TEMPORARY = frozenset({429, 502, 503, 504})
# Codes of single documents in an answer that began well, and of requests that got no answer.
_TEMPORARY_CODES = frozenset({"queue_full", "unavailable", "unreachable", "broken", "no_answer"})
_PLACE = re.compile(r"^document \d+: ")


class ServiceError(NeardupError):
    """A server refused a request, failed, or could not be reached.

    `status` is the HTTP status, None if there was no answer. `code` is a short name such as
    `index_not_found`; `unreachable`, `no_answer` and `broken` are those of a connection.
    `retry_after` is the number of seconds after which the server asks to try again, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.retry_after = retry_after

    @property
    def is_temporary(self) -> bool:
        """Whether the same request may succeed a little later."""
        return self.status in _TEMPORARY or self.code in _TEMPORARY_CODES


def error_of(status: int, headers: Mapping[str, str], content: bytes) -> NeardupError:
    """The error in an answer that is none of success; a proxy may have written it."""
    try:
        problem = orjson.loads(content)
        code, detail = str(problem["code"]), str(problem["detail"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        code, detail = None, f"the server answered {status} {_phrase(status)}"
    if code in _AS_LOCAL:
        return _AS_LOCAL[code](detail)
    after = _seconds(headers.get("retry-after"))
    return ServiceError(detail, status=status, code=code, retry_after=after)


def error_of_document(name: str, error: Mapping[str, Any]) -> NeardupError:
    """The error of one document among many, which `name` names."""
    # The server counts the documents of one request, of which the caller knows nothing.
    code, detail = str(error["code"]), _PLACE.sub("", str(error["detail"]))
    if code in _AS_LOCAL:
        return _AS_LOCAL[code](f"{name}: {detail}")
    return ServiceError(f"{name}: {detail}", code=code)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "without a reason"


def _seconds(retry_after: str | None) -> float | None:
    """The header Retry-After, which has seconds or a date."""
    if retry_after is None:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time())
    except ValueError:
        return None
