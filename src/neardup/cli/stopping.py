"""Ending a run on Ctrl-C (SIGINT), SIGTERM or SIGHUP: one sentence, and nothing half-written.

A separate thread waits for these signals (on Windows, for Ctrl-C and Ctrl-Break). It therefore acts
at once even if the main thread is deep in native code, and no exception can interrupt the main
thread between two steps that belong together. Nothing heavy is imported here, because the thread
must start to wait before anything else is done.
"""

from __future__ import annotations

import os
import sys
import threading

from neardup.system import signals

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing and pathlib take time to import
    from collections.abc import Callable
    from pathlib import Path

_PATIENCE = 2.0  # seconds to wait for a main thread that is already ending, and for a full pipe
_ERASED_LINE = "\r\x1b[2K\x1b[?25h"  # and the cursor, which a progress bar hides

_ending = threading.Lock()  # its holder ends the process and never releases it
_watched = False


def _nothing_written() -> str:
    return "nothing was written"


_undone: Callable[[], str] = _nothing_written
_instead: Callable[[int], None] | None = None


def watch() -> None:
    """Wait for the signals from now on; one that is ignored, as by nohup, stays ignored."""
    global _watched
    _watched = True
    signals.each_ending(_heard)


def if_stopped(undone: Callable[[], str]) -> None:
    """If the run is stopped, report what `undone` returns."""
    global _undone
    _undone = undone


def instead(act: Callable[[int], None]) -> None:
    """Call `act` with the number of each signal from now on, instead of ending the process."""
    global _instead
    _instead = act


def writes(*outputs: Path | None, advice: str = "") -> None:
    """If the run is stopped, report which of these outputs were written and which were not.

    `advice` follows if one was not.
    """
    from neardup.atomic import written

    named = [output for output in outputs if output is not None]

    def undone() -> str:
        done = [str(output) for output in named if written(output)]
        left = [str(output) for output in named if not written(output)]
        parts = [f"{_and(left)} not written"] if left else []
        parts += [f"{_and(done)} written"] if done else []
        return ", ".join(parts) + (advice if left else "")

    if named:
        if_stopped(undone)


def adds_to(index: Path, before: str = "") -> Callable[[int], None]:
    """If the run is stopped, report how many of its documents the index has committed.

    Call the returned function with their number after each commit.
    """
    added = 0

    def committed(documents: int) -> None:
        nonlocal added
        added = documents

    if_stopped(
        lambda: (
            f"{before}{added:,} documents of this run are stored in {index}; run the same command "
            "again to add the rest"
        )
    )
    return committed


def changes(index: Path) -> None:
    """If the run is stopped, report that the change of the index is atomic."""
    if_stopped(lambda: f"{index} is either unchanged or completely changed")


def _and(names: list[str]) -> str:
    return f"{' and '.join(names)} {'was' if len(names) == 1 else 'were'}"


def end() -> None:
    """Prevent a signal from ending the process before its final message is printed."""
    if _watched:
        _ending.acquire()


def _heard(number: int) -> None:
    if _instead is not None:
        _instead(number)
        return
    try:
        if _ending.acquire(timeout=_PATIENCE):
            _stop()
    finally:
        os._exit(128 + number)


def _stop() -> None:
    # Before this is imported there is nothing to remove; the main thread may be importing it.
    abandon = getattr(sys.modules.get("neardup.atomic"), "abandon", None)
    if abandon is not None:
        abandon()
    # File names may hold control characters; ascii() escapes them.
    said = "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in _undone())
    erased = _ERASED_LINE if os.isatty(2) else ""
    # Not through sys.stderr, which the main thread may be writing to, nor to a full pipe.
    signals.print_at_once(f"{erased}neardup: stopped; {said}\n".encode(), _PATIENCE)
