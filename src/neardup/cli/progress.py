"""Progress bars, on a terminal only."""

from __future__ import annotations

import sys
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)


class ByteProgress:
    """How much of the input is read, in bytes, and how many documents that were.

    Call it with the bytes read, the bytes there are (None: unknown) and the documents done.
    """

    def __init__(self, title: str) -> None:
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TextColumn("{task.fields[documents]:,} documents"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self._task = self._bar.add_task(title, total=None, documents=0)

    def __call__(self, done: int, total: int | None, documents: int) -> None:
        """Show where the run is."""
        self._bar.update(self._task, completed=done, total=total, documents=documents)

    def __enter__(self) -> ByteProgress:
        self._bar.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._bar.stop()
