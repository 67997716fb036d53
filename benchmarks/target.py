"""A target: one thing to reach, and whether a result says it was."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """One thing to reach; `met` is None where it was not measured."""

    what: str
    wanted: str
    measured: str
    met: bool | None
