"""Jobs: runs of dedup, tune and sweep over files under the data folder."""

from __future__ import annotations

import mimetypes
import os

import msgspec

from neardup.service import typed
from neardup.service.endpoints.endpoint import Endpoint
from neardup.service.exchange import Exchange
from neardup.service.jobs import result_file
from neardup.service.problems import Problem
from neardup.service.service import Service


def require_all(exchange: Exchange) -> None:
    """Jobs read any file and index of the data folder, so that a key must see all of them."""
    exchange.parameters(typed.NoParameters)
    if not exchange.key.sees_all:
        raise Problem("forbidden", "jobs can read every index; use a key for all indexes")


async def submit(service: Service, exchange: Exchange) -> None:
    require_all(exchange)
    given = await exchange.typed(typed.JobRequest)
    job = await service.writer.call("submit_job", (msgspec.structs.asdict(given),))
    await exchange.answer(job, 202)


async def list_jobs(service: Service, exchange: Exchange) -> None:
    require_all(exchange)
    await exchange.answer({"jobs": await service.writer.call("list_jobs", ())})


async def get_job(service: Service, exchange: Exchange) -> None:
    require_all(exchange)
    await exchange.answer(await service.writer.call("get_job", (exchange.values["id"],)))


async def delete_job(service: Service, exchange: Exchange) -> None:
    require_all(exchange)
    await exchange.answer(await service.writer.call("delete_job", (exchange.values["id"],)))


async def get_file(service: Service, exchange: Exchange) -> None:
    """A file that a job wrote; always an attachment, as a report is made of hostile texts."""
    require_all(exchange)
    id, name = exchange.values["id"], exchange.values["name"]
    path = result_file(service.root.path, id, name)
    if path is None:
        raise Problem(
            "file_not_found",
            f"the job {id!r:.60} has no file {name!r:.100}; GET /v1/jobs/ID lists them",
        )
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        await exchange.answer_file(file, size, kind, path.name)


_JOB = "/v1/jobs/{id}"
ENDPOINTS = [
    Endpoint(
        "POST",
        "/v1/jobs",
        submit,
        "Run dedup, tune or sweep over files under the data folder",
        "admin",
        typed.Job,
        about="Answers at once; GET the job to follow its progress. `settings` are those of the "
        "command of that name. Jobs need a key for all indexes.",
        body=typed.JobRequest,
        status=202,
        codes=("invalid_setting", "invalid_parameter", "queue_full"),
    ),
    Endpoint(
        "GET", "/v1/jobs", list_jobs, "List the jobs, the newest first", "admin", typed.JobList
    ),
    Endpoint(
        "GET", _JOB, get_job, "A job and its progress", "admin", typed.Job, codes=("job_not_found",)
    ),
    Endpoint(
        "DELETE",
        _JOB,
        delete_job,
        "Cancel a job, or remove an ended one with its files",
        "admin",
        typed.Job,
        codes=("job_not_found",),
    ),
    Endpoint(
        "GET",
        f"{_JOB}/files/{{name:path}}",
        get_file,
        "A file that a job wrote",
        "admin",
        None,
        codes=("file_not_found",),
        media_type="application/octet-stream",
    ),
]
