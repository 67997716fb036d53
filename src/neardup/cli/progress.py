"""Progress on standard error: a bar for each stage on a terminal, else a line when it ends.

rich draws the bars, and is imported only where there is a terminal to draw on. For programs, each
stage is reported by lines of JSON instead.
"""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from neardup.cli.terminal import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.progress import Progress, ProgressColumn
    from typing_extensions import Self

    from neardup.sphere import Progress as Settling


class _Bar(ABC):
    """A bar on a terminal, nothing elsewhere; subclasses say what is in it."""

    def __init__(self, title: str, **fields: Any) -> None:
        self._bar: Progress | None = None
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            console = Console(stderr=True)
            self._bar = Progress(*self._columns(), console=console, transient=True)
            self._task = self._bar.add_task(title, total=None, **fields)

    @abstractmethod
    def _columns(self) -> Sequence[ProgressColumn]: ...

    def _show(self, **values: Any) -> None:
        if self._bar is not None:
            self._bar.update(self._task, **values)

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._bar is not None:
            self._bar.stop()


class ByteProgress(_Bar):
    """Progress of reading, in bytes of the input and in documents.

    Call it with the bytes read, the total bytes (None: unknown) and the documents done.
    """

    def __init__(self, title: str) -> None:
        super().__init__(title, documents=0)

    def _columns(self) -> Sequence[ProgressColumn]:
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            SpinnerColumn,
            TextColumn,
            TimeRemainingColumn,
        )

        return (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TextColumn("{task.fields[documents]:,} documents"),
            TimeRemainingColumn(),
        )

    def __call__(self, done: int, total: int | None, documents: int) -> None:
        self._show(completed=done, total=total, documents=documents)


class DocumentProgress(_Bar):
    """Progress in documents, with an estimate of the time left.

    It is called like `ByteProgress`; the first two numbers count documents, too. Until then it
    only shows that the stage is running.
    """

    def __init__(self, title: str) -> None:
        super().__init__(title, counted="")

    def _columns(self) -> Sequence[ProgressColumn]:
        from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeRemainingColumn

        return (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[counted]}"),
            TimeRemainingColumn(),
        )

    def __call__(self, done: int, total: int | None, documents: int) -> None:
        counted = f"{done:,} documents" if total is None else f"{done:,} of {total:,} documents"
        self._show(completed=done, total=total, counted=counted)


class RowProgress(_Bar):
    """Progress in rows; a search in one pass only shows that it is running."""

    def _columns(self) -> Sequence[ProgressColumn]:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
        )

        return (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )

    def __call__(self, done: int, total: int) -> None:
        self._show(completed=done, total=total)


class SettlingProgress(_Bar):
    """Which attempt to spread vectors over a sphere is under way, and how hard they repel."""

    def __init__(self) -> None:
        super().__init__("")

    def _columns(self) -> Sequence[ProgressColumn]:
        from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

        return (
            SpinnerColumn(),
            TextColumn("sphere"),
            BarColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
        )

    def __call__(self, progress: Settling) -> None:
        from math import acos, degrees

        step = progress.step
        self._show(
            completed=progress.attempt - 1,
            total=progress.attempts if progress.attempts > 1 else None,
            description=(
                f"start {progress.attempt} of {progress.attempts}, exponent {step.exponent:,}, "
                f"iteration {progress.iteration:,}, {degrees(acos(1 - step.closest)):.4f}°"
            ),
        )


# What is done in a stage, for its bar.
_DOING = {
    "idf": "idf: count words",
    "features": "features: read documents",
    "benchmark": "benchmark: read items",
    "corpus": "corpus: look for items",
    "keep order": "keep order: read the column",
    "pairs": "pairs: search for near-duplicates",
    "clusters": "clusters: put removals together",
    "all pairs": "all pairs: search for every pair",
    "output": "output: write rows",
    "index": "index: add kept documents",
    "explore": "explore: index the run",
    "scope": "scope: read the column",
    "read": "read: cut documents into passages",
    "copies": "copies: group passages of the same words",
    "near": "near: search for passages that are nearly the same",
    "families": "families: put passages together",
}
_BY_DOCUMENTS = (
    *("keep order", "pairs", "clusters", "all pairs", "output", "index", "explore"),
    *("scope", "copies", "near", "families"),
)


# How a command may report its progress: `--progress`.
BAR, JSON, NONE = "bar", "json", "none"
WAYS = (BAR, JSON, NONE)
_BETWEEN_LINES = 0.25  # seconds


class ProgressLines:
    """The progress of a stage as lines of JSON: when it begins, a few a second, and when it ends.

    It is called like `ByteProgress`. `done` and `total` count bytes where the stage reads, else
    documents; `total` is null while it is unknown. A stage that fails has no line for its end.
    """

    def __init__(self, stage: str) -> None:
        self._stage = stage
        self._latest: tuple[int, int | None, int] = (0, None, 0)
        self._print()

    def __call__(self, done: int, total: int | None, documents: int) -> None:
        self._latest = (done, total, documents)
        if time.monotonic() - self._printed >= _BETWEEN_LINES:
            self._print()

    def end(self) -> None:
        """The stage has ended well: all of it is done."""
        done, total, documents = self._latest
        self._latest = (done if total is None else total, total, documents)
        self._print()

    def _print(self) -> None:
        import json

        done, total, documents = self._latest
        line = {"stage": self._stage, "done": done, "total": total, "documents": documents}
        print(json.dumps(line), file=sys.stderr, flush=True)
        self._printed = time.monotonic()


class Stages:
    """Reports the stages of a run: call it with the name of each stage as it begins.

    It returns a callback for the progress of the stage, or None. `quiet` silences bars and
    sentences, but not lines of JSON, which somebody has asked for.
    """

    def __init__(self, *, quiet: bool, progress: str = BAR) -> None:
        self._quiet = quiet
        self._progress = progress
        self._bar: ByteProgress | DocumentProgress | None = None
        self._lines: ProgressLines | None = None
        self._name = ""
        self._began = 0.0

    def __call__(self, name: str) -> ByteProgress | DocumentProgress | ProgressLines | None:
        """End the previous stage and begin this one."""
        self._end()
        self._name, self._began = name, time.perf_counter()
        if self._progress == JSON:
            self._lines = ProgressLines(name)
            return self._lines
        if self._quiet or self._progress == NONE or not sys.stderr.isatty():
            return None
        title = _DOING.get(name, name)
        self._bar = DocumentProgress(title) if name in _BY_DOCUMENTS else ByteProgress(title)
        self._bar.__enter__()
        return self._bar

    def say(self, line: str) -> None:
        """Print a line about the run on standard error, between two stages."""
        self._end()
        if not self._quiet:
            say(line, err=True)

    def __enter__(self) -> Stages:
        return self

    def __exit__(self, *error: Any) -> None:
        if error[0] is not None:
            self._lines = None
        self._end()

    def _end(self) -> None:
        if self._lines is not None:
            self._lines.end()
            self._lines = None
        elif self._bar is not None:
            self._bar.__exit__()
            self._bar = None
        elif self._tells_the_time():
            spent = time.perf_counter() - self._began
            # One write, so that the sentence of a run that is stopped begins on a line of its own.
            sys.stderr.write(f"{self._name}: {spent:.2f} s\n")
        self._name = ""

    def _tells_the_time(self) -> bool:
        """Whether the stage that ends is reported by a line of text."""
        shown = self._progress == BAR and not self._quiet
        return bool(self._name) and shown and not sys.stderr.isatty()
