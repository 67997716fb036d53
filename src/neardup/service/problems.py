"""Errors of the service as problem+json: a code, a sentence, and what to do."""

from __future__ import annotations

import errno
from typing import Any

import orjson

from neardup.errors import InputError, NeardupError, SchemeMismatchError, SettingError
from neardup.index.disk.damage import DamagedIndexError, FullDiskError
from neardup.index.disk.turns import WaitedTooLongError

# Every code with its status and its title. They are part of the interface: clients compare codes.
CODES: dict[str, tuple[int, str]] = {
    "invalid_json": (400, "The body is not valid JSON"),
    "invalid_encoding": (400, "The body cannot be unpacked"),
    "invalid_request": (400, "The request is not valid HTTP"),
    "unknown_parameter": (400, "Unknown parameter"),
    "unauthorized": (401, "A valid key is needed"),
    "forbidden": (403, "The key does not allow this"),
    "not_found": (404, "No such path"),
    "index_not_found": (404, "No such index"),
    "document_not_found": (404, "No such document"),
    "job_not_found": (404, "No such job"),
    "file_not_found": (404, "No such file"),
    "method_not_allowed": (405, "Method not allowed"),
    "timeout": (408, "The request took too long to arrive"),
    "settings_differ": (409, "The index has other settings"),
    "name_taken": (409, "The name is in use"),
    "backup_exists": (409, "The backup exists"),
    "body_too_large": (413, "The body is too large"),
    "answers_too_large": (413, "The answers are too large"),
    "text_too_long": (413, "A text is too long"),
    "too_many_documents": (413, "Too many documents in one request"),
    "too_many_features": (413, "A document has too many features"),
    "unsupported_media_type": (415, "The content type is not supported"),
    "invalid_parameter": (422, "A parameter is invalid"),
    "invalid_document": (422, "The document is invalid"),
    "invalid_setting": (422, "A setting is invalid"),
    "queue_full": (429, "Too many requests are waiting"),
    "headers_too_large": (431, "The headers are too large"),
    "internal": (500, "Internal error"),
    "index_damaged": (500, "The index is damaged"),
    "unavailable": (503, "The service is not available"),
    "disk_full": (507, "The disk is full"),
}
MEDIA_TYPE = "application/problem+json"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Problem(Exception):  # noqa: N818 - the word of RFC 9457
    """A request that cannot be served: its code, the sentence, and headers such as Retry-After."""

    def __init__(
        self, code: str, detail: str, *, retry_after: int | None = None, allow: str | None = None
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.retry_after = retry_after
        self.allow = allow

    @property
    def status(self) -> int:
        return CODES[self.code][0]

    @property
    def headers(self) -> dict[str, str]:
        """The headers that belong to the status."""
        found = {}
        if self.retry_after is not None:
            found["retry-after"] = str(self.retry_after)
        if self.allow is not None:
            found["allow"] = self.allow
        if self.status == 401:
            found["www-authenticate"] = 'Bearer realm="neardup"'
        return found

    def body(self, request_id: str) -> bytes:
        """The problem as JSON."""
        status, title = CODES[self.code]
        return orjson.dumps(
            {
                "type": f"urn:neardup:problem:{self.code}",
                "title": title,
                "status": status,
                "code": self.code,
                "detail": self.detail,
                "request_id": request_id,
            }
        )

    def packed(self) -> tuple[str, str, int | None]:
        """To be sent from the writer to a worker."""
        return self.code, self.detail, self.retry_after

    @classmethod
    def of_packed(cls, packed: Any) -> Problem:
        """Read back what `packed` returned."""
        code, detail, retry_after = packed
        return cls(code, detail, retry_after=retry_after)

    def row(self) -> dict[str, str]:
        """The error of one document among many."""
        return {"code": self.code, "detail": self.detail}


def unavailable(detail: str, retry_after: int = 1) -> Problem:
    """A 503: the same request will succeed later."""
    return Problem("unavailable", detail, retry_after=retry_after)


def no_index(name: str) -> Problem:
    """There is no index of that name."""
    return Problem(
        "index_not_found",
        f"there is no index {name}; create it with PUT /v1/indexes/{name}, or add ?create=true to "
        "a check",
    )


def problem_of(error: Exception, *, wrong_setting: str = "invalid_parameter") -> Problem | None:
    """The problem that an error of neardup is for a client; None for errors in the program."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, WaitedTooLongError):
        return Problem("queue_full", str(error), retry_after=1)
    if isinstance(error, DamagedIndexError):
        return Problem("index_damaged", str(error))
    if isinstance(error, SettingError | SchemeMismatchError):
        return Problem(wrong_setting, str(error))
    if isinstance(error, InputError):
        return Problem("invalid_document", str(error))
    if isinstance(error, FullDiskError):
        return Problem("disk_full", str(error))
    if isinstance(error, NeardupError):
        return unavailable(str(error), 5)
    if isinstance(error, OSError) and error.errno in _FULL:
        return Problem("disk_full", f"the disk is full ({error.strerror}); free some space")
    return None
