"""A job of a server: a run over files in its data folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from neardup.frozen import dataclass

_WAITING = ("queued", "running")


class JobFile(NamedTuple):
    """A file that a job has written."""

    name: str
    bytes: int


class JobProgress(NamedTuple):
    """How far a job is: units `done` of `total` (None: not known) in a stage, and documents."""

    stage: str
    done: int
    total: int | None
    documents: int


@dataclass(frozen=True)
class Job:
    """A run of `dedup`, `tune` or `sweep` on a server; times are in seconds since 1970.

    `state` is `queued`, `running`, `done`, `failed` (`error` says why), `cancelled` or
    `interrupted` (the server stopped).
    """

    id: str
    kind: str
    state: str
    inputs: tuple[str, ...]
    against: tuple[str, ...]
    settings: Mapping[str, Any]
    created: float
    started: float | None
    ended: float | None
    progress: JobProgress | None
    error: str | None
    summary: Mapping[str, Any] | None
    files: tuple[JobFile, ...]

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Job:
        """Read what a server tells of a job."""
        progress = found["progress"]
        return cls(
            found["id"],
            found["kind"],
            found["state"],
            tuple(found["inputs"]),
            tuple(found["against"]),
            found["settings"],
            found["created"],
            found["started"],
            found["ended"],
            None if progress is None else JobProgress(**progress),
            found["error"],
            found["summary"],
            tuple(JobFile(**file) for file in found["files"]),
        )

    @property
    def is_over(self) -> bool:
        """Whether it has ended, well or not."""
        return self.state not in _WAITING
