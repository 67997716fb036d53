"""The stored jobs: a folder for each, with `job.json` and, once it has succeeded, its results."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from neardup.atomic import replacing
from neardup.atomic.files import synchronize
from neardup.atomic.unfinished import clear_abandoned
from neardup.errors import NeardupError
from neardup.service.data_root import DataRoot
from neardup.service.jobs.request import SETTINGS_FILE

QUEUED, RUNNING, DONE, FAILED = "queued", "running", "done", "failed"
CANCELLED, INTERRUPTED = "cancelled", "interrupted"
STATES = (QUEUED, RUNNING, DONE, FAILED, CANCELLED, INTERRUPTED)
_FORMAT = "neardup job 1"
_RECORD, _RESULT, _PRINTED = "job.json", "result", "printed.json"
_ID = re.compile(r"\d{8}-\d{6}-\d{6}-[0-9a-f]{16}")
_REMOVED = ".removed"
_KEPT_IN_MEMORY = ("progress",)


@dataclass
class Job:
    """One job; `to_dict` is what a client gets. Times are seconds since 1970."""

    id: str
    kind: str
    inputs: list[str]
    against: list[str]
    settings: dict[str, Any]
    created: float
    state: str = QUEUED
    started: float | None = None
    ended: float | None = None
    progress: dict[str, Any] | None = None
    error: str | None = None
    summary: dict[str, Any] | None = None
    files: list[dict[str, Any]] = field(default_factory=list)

    @property
    def has_ended(self) -> bool:
        return self.state not in (QUEUED, RUNNING)

    def to_dict(self) -> dict[str, Any]:
        """A copy of all fields, for JSON."""
        return asdict(self)

    def begun(self) -> Job:
        """The job from when it runs."""
        return replace(self, state=RUNNING, started=time.time())

    def at_its_end(self, state: str, error: str | None = None, **results: Any) -> Job:
        """The job after it has come to an end in this state; `error` says why it is not done."""
        now = time.time()
        return replace(self, state=state, error=error, ended=now, progress=None, **results)


class NewIds:
    """Ids that nobody can guess and that sort by the time they were made."""

    def __init__(self) -> None:
        self._latest = 0

    def next(self) -> str:
        """A new id, which sorts after all others of this object."""
        self._latest = max(time.time_ns() // 1000, self._latest + 1)
        made = datetime.fromtimestamp(self._latest // 10**6, timezone.utc)
        return f"{made:%Y%m%d-%H%M%S}-{self._latest % 10**6:06}-{secrets.token_hex(8)}"


class JobFolders:
    """The folders of all jobs in a data folder."""

    def __init__(self, root: DataRoot) -> None:
        self._root = root

    def make(self) -> None:
        """Make the folder of jobs, and remove what was left of removed or unfinished ones."""
        place = self._root.jobs
        try:
            place.mkdir(exist_ok=True)
        except OSError as error:
            raise NeardupError(f"cannot make the folder {place}: {error.strerror}") from error
        if os.path.realpath(place) != str(place):
            raise NeardupError(
                f"{place} is a link, which the service does not follow; mount the folder there"
            )
        for name in os.listdir(place):
            if name.startswith(".") and name.endswith(_REMOVED):
                shutil.rmtree(place / name, ignore_errors=True)
            elif _ID.fullmatch(name):
                with suppress(OSError):  # it is not empty
                    (place / name).rmdir()

    def of(self, id: str) -> Path:
        """The folder of a job."""
        return self._root.jobs / id

    def result(self, id: str) -> Path:
        """The folder with the results of a job."""
        return self.of(id) / _RESULT

    def printed(self, id: str) -> Path:
        """The file for what the command of a running job prints on standard output."""
        return self.of(id) / _PRINTED

    def ids(self) -> list[str]:
        """The ids of all stored jobs, the oldest first."""
        return sorted(name for name in os.listdir(self._root.jobs) if _ID.fullmatch(name))

    def load(self, id: str) -> Job | None:
        """A stored job; None if there is none, or its record cannot be read."""
        if not isinstance(id, str) or not _ID.fullmatch(id):
            return None
        try:
            found = json.loads((self.of(id) / _RECORD).read_bytes())
            if found.pop("format") != _FORMAT:
                return None
            job = Job(**found)
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None
        return job if job.id == id and job.state in STATES else None

    def save(self, id: str, record: bytes) -> None:
        """Store the record of a job durably; the folder is made if it is missing."""
        folder = self.of(id)
        is_new = not folder.exists()
        try:
            if is_new:
                folder.mkdir()
            with replacing(folder / _RECORD) as new:
                new.write_bytes(record)
                synchronize(new)
            synchronize(folder)
            if is_new:
                synchronize(folder.parent)
        except (OSError, NeardupError) as error:
            if is_new:
                with suppress(OSError):
                    folder.rmdir()
            cause = error if isinstance(error, OSError) else error.__cause__
            reason = getattr(cause, "strerror", None) or error
            raise NeardupError(
                f"the job cannot be stored: {reason}; check the disk of the data folder"
            ) from cause

    def prepare(self, job: Job) -> None:
        """Make room for the results of a job that begins to run."""
        self.clear(job.id)
        if job.kind == "tune":  # the other commands make their folder
            self.result(job.id).mkdir(exist_ok=True)

    def clear(self, id: str) -> None:
        """Remove the unfinished output of a job whose command has ended."""
        self.printed(id).unlink(missing_ok=True)
        clear_abandoned(self.result(id))
        if self.result(id).is_dir():
            clear_abandoned(self.result(id) / SETTINGS_FILE)
            with suppress(OSError):  # it is not empty
                self.result(id).rmdir()

    def files(self, id: str) -> list[dict[str, Any]]:
        """The name and the size of each result."""
        return [{"name": one.name, "bytes": one.stat().st_size} for one in self._files(id)]

    def _files(self, id: str) -> Iterator[os.DirEntry[str]]:
        try:
            entries = sorted(os.scandir(self.result(id)), key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            if entry.is_file(follow_symlinks=False) and not entry.name.startswith("."):
                yield entry

    def set_aside(self, id: str) -> Path:
        """Let a job vanish at once; the folder that is returned remains to be removed."""
        aside = self._root.jobs / f".{id}{_REMOVED}"
        try:
            self.of(id).rename(aside)
        except OSError as error:
            raise NeardupError(f"cannot remove the job: {error.strerror}") from error
        return aside


def stored(job: Job) -> bytes:
    """The record of a job as it is stored."""
    content = {"format": _FORMAT, **job.to_dict()}
    for name in _KEPT_IN_MEMORY:
        del content[name]
    return json.dumps(content, indent=1).encode()


def result_folder(root: DataRoot, job_id: str) -> Path | None:
    """The folder of the results of a job, whether it exists or not; None if no job has this id."""
    return JobFolders(root).result(job_id) if _ID.fullmatch(job_id) else None


def result_file(root: str | os.PathLike[str], job_id: str, name: str) -> Path | None:
    """The path of a result of a job; None if there is no such job or file.

    For any process: it reads nothing but the names of the files.
    """
    if not isinstance(job_id, str) or not _ID.fullmatch(job_id) or not isinstance(name, str):
        return None
    folders = JobFolders(DataRoot(root))
    # Compared with names that exist, so that no name leads anywhere else.
    found = next((one for one in folders._files(job_id) if one.name == name), None)
    return None if found is None else folders.result(job_id) / name
