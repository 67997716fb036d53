"""Stage after stage: a bar for each on a terminal, else a line."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neardup.cli.progress import ByteProgress


class Stages:
    """Call it with the name of a stage that begins; what it returns follows the progress."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._bar: ByteProgress | None = None
        self._name = ""
        self._began = 0.0

    def __call__(self, name: str) -> ByteProgress | None:
        """End the stage before, begin this one."""
        self._end()
        self._name, self._began = name, time.perf_counter()
        if self._quiet or not sys.stderr.isatty():
            return None
        from neardup.cli.progress import ByteProgress

        self._bar = ByteProgress(name)
        self._bar.__enter__()
        return self._bar

    def __enter__(self) -> Stages:
        return self

    def __exit__(self, *error: Any) -> None:
        self._end()

    def _end(self) -> None:
        if self._bar is not None:
            self._bar.__exit__()
            self._bar = None
        elif self._name and not self._quiet and not sys.stderr.isatty():
            spent = time.perf_counter() - self._began
            print(f"{self._name}: {spent:.2f} s", file=sys.stderr)
        self._name = ""
