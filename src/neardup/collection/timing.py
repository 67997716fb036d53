"""How long the stages of a run take."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime


class Timer:
    """Seconds of each stage, in the order they ran."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.started = datetime.now().astimezone().isoformat(timespec="seconds")
        self._began = time.perf_counter()

    @property
    def wall(self) -> float:
        """Seconds since the run began."""
        return time.perf_counter() - self._began

    def of(self, *names: str) -> dict[str, float]:
        """The seconds of some stages."""
        return {name: self.seconds[name] for name in names if name in self.seconds}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what is done inside."""
        started = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started
