"""What a client asks of a server, as steps: indexes, stateless calls, and jobs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from time import monotonic
from typing import Any
from urllib.parse import quote

import orjson

from neardup.atomic import replacing
from neardup.client.answers import (
    IndexInfo,
    comparison_of,
    fingerprints_of,
    joined_fingerprints,
)
from neardup.client.call import Call, Pause, Steps, ask, nothing
from neardup.client.documents import portions
from neardup.client.errors import ServiceError
from neardup.client.job import Job
from neardup.comparison.result import Comparison
from neardup.errors import SettingError
from neardup.fingerprints import Fingerprints
from neardup.index.intake import with_last
from neardup.read.memory import string_chunks

_FIRST_LOOK, _LONGEST_LOOK = 0.1, 2.0


def index_path(name: str, *rest: str) -> str:
    """The path of an index, or of something below it."""
    if not isinstance(name, str) or not name or "/" in name:
        raise SettingError(f"{name!r} is not the name of an index; give a text such as 'pages'")
    return "/".join(["/v1/indexes", segment(name), *rest])


def segment(name: str) -> str:
    """A name as one segment of a path, whatever it contains."""
    quoted = quote(name, safe="")
    # A segment of dots alone would be taken for the way to a folder above.
    return quoted.replace(".", "%2E") if name in (".", "..") else quoted


def json_of(value: Mapping[str, Any]) -> bytes:
    """The body of a request; a `SettingError` names what JSON cannot express."""
    try:
        return orjson.dumps(value, default=_plain)
    except TypeError as error:
        raise SettingError(f"this cannot be sent to a server: {error}") from None


class ServerSteps:
    """The calls of a client; each method returns the steps that a client runs."""

    def __init__(self, retries: int) -> None:
        self._retries = retries

    def indexes(self) -> Steps[list[IndexInfo]]:
        """All indexes of the server that the key may see."""

        def read(found: Any) -> list[IndexInfo]:
            return [IndexInfo.of(one) for one in found["indexes"]]

        return ask(Call("GET", "/v1/indexes", read), self._retries)

    def create_index(self, name: str, **settings: Any) -> Steps[IndexInfo]:
        """Create an index with the settings of `nd.Index`, unless it exists with the same ones."""
        given = {key: value for key, value in settings.items() if value is not None}
        call = Call("PUT", index_path(name), IndexInfo.of, body=json_of(given))
        return ask(call, self._retries)

    def delete_index(self, name: str) -> Steps[None]:
        """Delete an index and its documents. Backups of it stay."""
        # Not repeatable: the second answer would be that there is no such index.
        call = Call("DELETE", index_path(name), nothing, repeatable=False)
        return ask(call, self._retries)

    def fingerprint(self, /, texts: Any, **settings: Any) -> Steps[Fingerprints]:
        """Fingerprint texts as `nd.fingerprint` does, with its settings, but on the server."""
        recipe = json_of(settings)
        parts = []
        # Without texts there is one request, too: it tells the scheme, and refuses bad settings.
        for portion, is_last in with_last(chain([[]], portions(_texts(texts)))):
            if not portion and not is_last:
                continue
            body = b'{"texts":[' + b",".join(portion) + b'],"settings":' + recipe + b"}"
            call = Call("POST", "/v1/fingerprint", fingerprints_of, body=body)
            parts.append((yield from ask(call, self._retries)))
        return joined_fingerprints(parts)

    def compare(self, /, a: str, b: str, **settings: Any) -> Steps[Comparison]:
        """Compare two texts as `nd.compare` does, with its settings, but on the server."""
        body = json_of({"a": a, "b": b, "settings": settings})
        return ask(Call("POST", "/v1/compare", comparison_of, body=body), self._retries)

    def submit_job(
        self,
        /,
        kind: str,
        inputs: str | Sequence[str],
        against: Sequence[str] = (),
        **settings: Any,
    ) -> Steps[Job]:
        """Start a run of `dedup`, `tune` or `sweep` over files in the data folder of the server.

        `inputs` and `against` are files, folders and globs, relative to that folder; `settings` are
        those of `nd.dedup`, `nd.tune` or `nd.sweep`. It is not repeated after an error, because
        that might start two jobs.
        """
        body = {
            "kind": kind,
            "inputs": _paths(inputs),
            "against": _paths(against),
            "settings": settings,
        }
        call = Call("POST", "/v1/jobs", Job.of, body=json_of(body), repeatable=False)
        return ask(call, self._retries)

    def jobs(self) -> Steps[list[Job]]:
        """All jobs of the server."""

        def read(found: Any) -> list[Job]:
            return [Job.of(one) for one in found["jobs"]]

        return ask(Call("GET", "/v1/jobs", read), self._retries)

    def job(self, id: str) -> Steps[Job]:
        """A job, as it is now."""
        return ask(Call("GET", f"/v1/jobs/{segment(id)}", Job.of), self._retries)

    def cancel_job(self, id: str) -> Steps[Job]:
        """Cancel a job that waits or runs; of one that has ended, remove the record and files."""
        # Not repeatable: the second request would remove the record.
        call = Call("DELETE", f"/v1/jobs/{segment(id)}", Job.of, repeatable=False)
        return ask(call, self._retries)

    def wait_for_job(
        self,
        id: str,
        *,
        timeout: float | None = None,
        progress: Callable[[Job], None] | None = None,
    ) -> Steps[Job]:
        """Wait until a job is over, and return it; its `state` says how it ended.

        `progress` is called with the job each time it was looked at. After `timeout` seconds, a
        `ServiceError` with the code `timeout` is raised, and the job goes on.
        """
        end = None if timeout is None else monotonic() + timeout
        wait = _FIRST_LOOK
        while True:
            job = yield from self.job(id)
            if progress:
                progress(job)
            if job.is_over:
                return job
            if end is not None and monotonic() >= end:
                raise ServiceError(
                    f"the job {id} is still {job.state} after {timeout:g} s; it goes on, so wait "
                    "again, or cancel it",
                    code="timeout",
                )
            yield Pause(wait if end is None else max(0.0, min(wait, end - monotonic())))
            wait = min(_LONGEST_LOOK, 1.5 * wait)

    def download(self, job_id: str, name: str, path: str | os.PathLike[str]) -> Steps[None]:
        """Write a file of a job to `path`, which appears complete or not at all."""
        where = f"/v1/jobs/{segment(job_id)}/files/{quote(name)}"
        with replacing(path) as new:
            yield from ask(Call("GET", where, nothing, into=new), self._retries)


def _plain(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{value!r:.80} is no JSON value")


def _paths(given: str | Sequence[str]) -> list[str]:
    paths = [given] if isinstance(given, str | os.PathLike) else given
    return [os.fspath(path) for path in paths]


def _texts(given: Any) -> Iterator[bytes]:
    """Texts as JSON; a missing one is empty."""
    for chunk in string_chunks(given):
        for text in chunk:
            yield orjson.dumps(text.as_py() or "")
