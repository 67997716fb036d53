"""Child processes: run a command, and say how long it took and how much memory it had.

A command can have limits: one that reaches them is stopped, and the run says at which.
"""

from __future__ import annotations

import compileall
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

# Waking this often costs nothing measurable and misses no allocation that lasts.
POLL_SECONDS = 0.005
# To look for the children of a child takes longer.
GROUP_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Limits:
    """The wall time of a command, and the memory of it and its children together."""

    wall_seconds: float
    megabytes: float

    def reached(self, wall_seconds: float, megabytes: float) -> str | None:
        """The limit that such a run has reached, in words, if there is one."""
        if wall_seconds >= self.wall_seconds:
            return self.time
        return self.memory if megabytes >= self.megabytes else None

    @property
    def time(self) -> str:
        """Such as `10 minutes`."""
        minutes = self.wall_seconds / 60
        return f"{minutes:g} minutes" if minutes >= 1 else f"{self.wall_seconds:g} seconds"

    @property
    def memory(self) -> str:
        """Such as `20 GB`."""
        return f"{self.megabytes / 1000:g} GB"


@dataclass(frozen=True)
class ChildRun:
    """What one run of a command cost, and the limit that it was stopped at, if any."""

    wall: float
    cpu: float
    peak_megabytes: float
    stopped_at: str | None = None


@cache
def neardup_command() -> str:
    """The `neardup` that is installed beside this Python.

    Its modules are compiled first, as `pip` does with every package but one in a working copy.
    """
    for folder in find_spec("neardup").submodule_search_locations:  # type: ignore[union-attr]
        compileall.compile_dir(folder, quiet=1)
    command = Path(sys.executable).with_name("neardup")
    if not command.exists():
        raise SystemExit(f"{command} is missing: install neardup into this environment first")
    return str(command)


def run(command: Sequence[str], limits: Limits | None = None) -> ChildRun:
    """Run a command to its end; one that fails ends the benchmark with what it said.

    The peak is the kernel's high-water mark of the child's own memory. The rusage of a child
    would not do: it begins with the memory of the parent that forked it. A command that reaches
    a limit is killed with all its children, and is no failure.
    """
    with tempfile.TemporaryFile() as said:
        start = time.perf_counter()
        # In a session of its own, so that its children can be found and killed with it.
        child = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True
        )
        try:
            measured = _watched(child, start, limits)
        except KeyboardInterrupt:
            os.killpg(child.pid, signal.SIGKILL)
            raise
        if child.returncode and measured.stopped_at is None:
            said.seek(0)
            words = said.read().decode(errors="replace").strip()
            raise SystemExit(f"{' '.join(command)} ended with {child.returncode}: {words}")
    return measured


def _watched(child: subprocess.Popen[bytes], start: float, limits: Limits | None) -> ChildRun:
    """Wait for the end of a child, and bring it about at a limit."""
    peak, stopped_at, next_look = 0.0, None, start
    while True:
        ended, status, usage = os.wait4(child.pid, os.WNOHANG)
        now = time.perf_counter()
        if ended:
            break
        peak = max(peak, _high_water_megabytes(child.pid))
        if limits is not None and stopped_at is None and now >= next_look:
            stopped_at = limits.reached(now - start, _group_megabytes(child.pid))
            if stopped_at is not None:
                os.killpg(child.pid, signal.SIGKILL)
            next_look = now + GROUP_POLL_SECONDS
        time.sleep(POLL_SECONDS)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode == 0:  # it ended by itself before the signal came
        stopped_at = None
    return ChildRun(now - start, usage.ru_utime + usage.ru_stime, peak, stopped_at)


def _group_megabytes(group: int) -> float:
    """The memory that the processes of a group hold now, in megabytes."""
    held = 0.0
    for entry in filter(str.isdecimal, os.listdir("/proc")):
        try:
            if os.getpgid(int(entry)) == group:
                held += _status_megabytes(int(entry), "VmRSS")
        except (ProcessLookupError, FileNotFoundError):  # it has just ended
            continue
    return held


def _high_water_megabytes(pid: int) -> float:
    """The most memory that a process ever held; 0 for one that has just ended."""
    return _status_megabytes(pid, "VmHWM")


def _status_megabytes(pid: int, field: str) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    lines = [line for line in status.splitlines() if line.startswith(f"{field}:")]
    return int(lines[0].split()[1]) * 1024 / 1e6 if lines else 0.0
