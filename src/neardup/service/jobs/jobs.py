"""The jobs of a data folder: queued, run one after the other, listed, cancelled and removed."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import signal
import time
from collections import Counter, deque
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from neardup.errors import NeardupError
from neardup.kernels.machine import thread_count
from neardup.service.data_root import DataRoot
from neardup.service.jobs.process import JobProcess
from neardup.service.jobs.record import (
    CANCELLED,
    DONE,
    FAILED,
    INTERRUPTED,
    QUEUED,
    RUNNING,
    STATES,
    Job,
    JobFolders,
    NewIds,
    stored,
)
from neardup.service.jobs.request import TUNING_FILE, JobRequest

log = logging.getLogger("neardup.service.jobs")

MOST_LISTED = 1_000
_MOST_SUMMARY = 1_000_000  # bytes; a longer one is only in the files
_AGAIN = "submit it again"

Result = TypeVar("Result")


class QueueFull(NeardupError):  # noqa: N818 - the state of the queue, which is no mistake
    """As many jobs are waiting as may wait; submit the job later."""


class Jobs:
    """All jobs of a data folder, for one process and one event loop.

    Jobs run in processes of their own, `at_once` of them; up to `most_waiting` more are queued.
    A state is on disk before it is told; progress is only in memory. Nothing is removed unless
    `delete` is called.
    """

    def __init__(
        self, root: str | os.PathLike[str], *, at_once: int = 1, most_waiting: int = 16
    ) -> None:
        self._root = DataRoot(root)
        self._folders = JobFolders(self._root)
        self._at_once, self._most_waiting = at_once, most_waiting
        self._ids = NewIds()
        self._states: dict[str, str] = {}  # of all jobs
        self._recent: dict[str, Job] = {}  # those that have not ended, and the newest others
        self._waiting: deque[str] = deque()
        self._runs: dict[str, _Run] = {}
        self._submitting = 0
        self._unsaved: set[str] = set()  # their records on disk are out of date
        self._ends: dict[str, asyncio.Event] = {}  # of jobs that somebody waits for
        self._changing = asyncio.Lock()  # held while the records on disk are changed
        self._begun: set[asyncio.Task[Any]] = set()
        self._is_closed = False

    async def start(self) -> None:
        """Read the stored jobs: queue those that were queued, mark those that ran as interrupted.

        Call it once, before anything else.
        """
        for job in await asyncio.to_thread(self._stored_jobs):
            self._remember(job)
            if job.state == RUNNING:
                files = await asyncio.to_thread(self._clear, job)
                why = f"the service ended while the job ran; {_AGAIN}"
                await self._save(job.at_its_end(INTERRUPTED, why, files=files))
            elif job.state == QUEUED:
                self._waiting.append(job.id)
        self._run_next()

    async def submit(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Queue a job; it is returned once it is stored.

        `SettingError` or `InputError` for a wrong request, `QueueFull`, `NeardupError` if the job
        cannot be stored.
        """
        return await self._whole(self._submit(request))

    async def _submit(self, request: Mapping[str, Any]) -> dict[str, Any]:
        self._require_room()
        self._submitting += 1
        try:
            checked = await asyncio.to_thread(JobRequest.of, request, self._root)
            job = Job(
                self._ids.next(),
                checked.kind,
                list(checked.inputs),
                list(checked.against),
                checked.settings,
                time.time(),
            )
            await asyncio.to_thread(self._folders.save, job.id, stored(job))
        finally:
            self._submitting -= 1
        self._remember(job)
        self._waiting.append(job.id)
        self._run_next()
        return job.to_dict()

    def listed(self) -> list[dict[str, Any]]:
        """The newest jobs, the newest first, at most 1,000."""
        newest = sorted(self._recent, reverse=True)[:MOST_LISTED]
        return [self._recent[id].to_dict() for id in newest]

    def get(self, id: str) -> dict[str, Any] | None:
        """A job; None if there is none of that id."""
        job = self._job(id)
        return None if job is None else job.to_dict()

    async def ended(self, id: str) -> dict[str, Any] | None:
        """Wait until a job has ended; None if there is none of that id."""
        job = self._job(id)
        if job is not None and not job.has_ended:
            await self._ends.setdefault(id, asyncio.Event()).wait()
        return self.get(id)

    def counts(self) -> dict[str, int]:
        """The number of jobs in each state."""
        return dict.fromkeys(STATES, 0) | Counter(self._states.values())

    async def delete(self, id: str) -> dict[str, Any] | None:
        """Cancel a job that waits or runs, or remove one that has ended, with its files.

        Returns the job as it is then, or was; None if there is none of that id. A job that runs
        is told to end, and killed if it does not within 10 seconds; one that succeeds before that
        is done.
        """
        return await self._whole(self._delete(id))

    async def _delete(self, id: str) -> dict[str, Any] | None:
        async with self._changing:
            job = self._job(id)
            if job is None:
                return None
            run = self._runs.get(id)
            if id in self._waiting:
                self._waiting.remove(id)
                await self._store(job.at_its_end(CANCELLED))
                return self.get(id)
            if run is None:
                aside = self._folders.set_aside(id)
                del self._states[id]
                self._recent.pop(id, None)
                self._unsaved.discard(id)
        if run is None:
            await asyncio.to_thread(shutil.rmtree, aside, ignore_errors=True)
            return job.to_dict()
        run.stop(CANCELLED)
        await asyncio.wait([run.task])
        return self.get(id)

    async def close(self) -> None:
        """Stop the running jobs, which become interrupted, and wait for them.

        Those that wait remain queued on disk, for the next start.
        """
        self._is_closed = True
        for run in self._runs.values():
            run.stop(INTERRUPTED)
        unfinished = [*self._begun, *(run.task for run in self._runs.values())]
        await asyncio.gather(*unfinished, return_exceptions=True)
        async with self._changing:
            await self._store_unsaved()

    def _stored_jobs(self) -> list[Job]:
        """All stored jobs, the oldest first."""
        self._folders.make()
        found = []
        for id in self._folders.ids():
            job = self._folders.load(id)
            if job is None:
                log.warning("%s has no record of a job that can be read", self._folders.of(id))
            else:
                found.append(job)
        return found

    def _require_room(self) -> None:
        if self._is_closed:
            raise NeardupError("the service is stopping and takes no jobs; try again later")
        known = len(self._waiting) + len(self._runs) + self._submitting
        if known >= self._most_waiting + self._at_once:
            raise QueueFull(
                f"{self._most_waiting:,} jobs are waiting already; submit the job again when one "
                "has ended"
            )

    def _job(self, id: str) -> Job | None:
        if id in self._recent:
            return self._recent[id]
        return self._folders.load(id) if id in self._states else None

    def _remember(self, job: Job) -> None:
        self._states[job.id] = job.state
        self._recent[job.id] = job
        if job.has_ended and job.id in self._ends:
            self._ends.pop(job.id).set()
        if len(self._recent) > MOST_LISTED + self._most_waiting + self._at_once:
            jobs = self._recent.values()  # the oldest first
            ended = (one.id for one in jobs if one.has_ended and one.id not in self._unsaved)
            self._recent.pop(next(ended, ""), None)

    async def _whole(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do all of something that must not be left halfway, even if nobody waits for it."""
        task = asyncio.create_task(work)
        self._begun.add(task)
        task.add_done_callback(self._begun.discard)
        return await asyncio.shield(task)

    async def _save(self, job: Job) -> None:
        async with self._changing:
            await self._store_unsaved()
            await self._store(job)

    async def _store(self, job: Job) -> None:
        """Store a change of a job, then tell it; hold `_changing` meanwhile.

        If it cannot be stored, it is told all the same, and stored with the next change of any job.
        """
        try:
            await asyncio.to_thread(self._folders.save, job.id, stored(job))
        except NeardupError as error:
            log.warning("job %s: %s", job.id, error)
            self._unsaved.add(job.id)
        else:
            self._unsaved.discard(job.id)
        self._remember(job)

    async def _store_unsaved(self) -> None:
        for id in list(self._unsaved):
            await self._store(self._recent[id])

    def _run_next(self) -> None:
        while self._waiting and len(self._runs) < self._at_once and not self._is_closed:
            job = self._recent[self._waiting.popleft()]
            run = self._runs[job.id] = _Run()
            run.task = asyncio.create_task(self._run(job, run))

    async def _run(self, job: Job, run: _Run) -> None:
        """A job from its start to its end, however it ends."""
        job = job.begun()
        await self._save(job)
        try:
            job = await self._performed(job, run)
        except NeardupError as error:
            job = job.at_its_end(FAILED, str(error))
        except OSError as error:
            job = job.at_its_end(FAILED, f"the job cannot be run: {error.strerror or error}")
        except Exception as error:
            log.exception("job %s", job.id)
            job = job.at_its_end(FAILED, f"unexpected error, a bug in neardup: {error}")
        await self._save(job)
        del self._runs[job.id]
        self._run_next()

    async def _performed(self, job: Job, run: _Run) -> Job:
        """Run the command of a job; the job at its end."""
        request = JobRequest(job.kind, tuple(job.inputs), tuple(job.against), job.settings)
        await asyncio.to_thread(self._prepare, job, request)
        code, sentence = 0, ""
        if run.stopped is None:
            output = self._folders.result(job.id).relative_to(self._root.path)
            arguments = request.command(str(output), max(1, thread_count(None) - 1))
            run.process = JobProcess(self._root.path, arguments, self._folders.printed(job.id))

            def report(progress: dict[str, Any]) -> None:
                job.progress = progress

            code, sentence = await run.process.ended(report)
            if code == 0:
                results = await asyncio.to_thread(self._results, job)
                return job.at_its_end(DONE, **results)
        files = await asyncio.to_thread(self._clear, job)
        if run.stopped == CANCELLED:
            return job.at_its_end(CANCELLED, files=files)
        if run.stopped == INTERRUPTED:
            why = f"the service was stopped while the job ran; {_AGAIN}"
            return job.at_its_end(INTERRUPTED, why, files=files)
        why = _ended_by(code) if code < 0 else sentence or f"exit code {code}"
        return job.at_its_end(FAILED, why, files=files)

    def _prepare(self, job: Job, request: JobRequest) -> None:
        """Look at the paths again, which may have changed while the job was waiting."""
        request.require_paths(self._root)
        self._folders.prepare(job)

    def _results(self, job: Job) -> dict[str, Any]:
        """The summary and the files of a job whose command has succeeded."""
        printed = self._folders.printed(job.id)
        summary = None
        if printed.stat().st_size <= _MOST_SUMMARY:
            summary = json.loads(printed.read_bytes())
        if job.kind == "tune":
            printed.rename(self._folders.result(job.id) / TUNING_FILE)
        else:  # the command has written it among the files, too
            printed.unlink()
        return {"summary": summary, "files": self._folders.files(job.id)}

    def _clear(self, job: Job) -> list[dict[str, Any]]:
        """Remove what a job has left unfinished; the files that it has finished."""
        with suppress(OSError):
            self._folders.clear(job.id)
        return self._folders.files(job.id)


class _Run:
    """A job that runs: its task, its process once that is started, and why it is to stop."""

    task: asyncio.Task[None]

    def __init__(self) -> None:
        self.process: JobProcess | None = None
        self.stopped: str | None = None

    def stop(self, why: str) -> None:
        """Stop the job; `why` is the state it shall have then. The first reason counts."""
        if self.stopped is None:
            self.stopped = why
            if self.process is not None:
                self.process.stop()


def _ended_by(code: int) -> str:
    """The sentence for a process that a signal has ended."""
    number = -code
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    if number == signal.SIGKILL:
        return (
            f"the process of the job was ended by {name}, perhaps because memory ran out; give a "
            "smaller memory, or use a machine with more"
        )
    return f"the process of the job was ended by {name}; {_AGAIN}"
