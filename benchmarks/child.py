"""Child processes: run a command, and say how long it took and how much memory it had."""

from __future__ import annotations

import compileall
import os
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


@dataclass(frozen=True)
class ChildRun:
    """What one run of a command cost."""

    wall: float
    cpu: float
    peak_megabytes: float


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


def run(command: Sequence[str]) -> ChildRun:
    """Run a command to its end; one that fails ends the benchmark with what it said.

    The peak is the kernel's high-water mark of the child's own memory. The rusage of a child
    would not do: it begins with the memory of the parent that forked it.
    """
    with tempfile.TemporaryFile() as said:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
        peak = 0.0
        while True:
            ended, status, usage = os.wait4(child.pid, os.WNOHANG)
            if ended:
                break
            peak = max(peak, _high_water_megabytes(child.pid))
            time.sleep(POLL_SECONDS)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            said.seek(0)
            words = said.read().decode(errors="replace").strip()
            raise SystemExit(f"{' '.join(command)} ended with {child.returncode}: {words}")
    return ChildRun(wall, usage.ru_utime + usage.ru_stime, peak)


def _high_water_megabytes(pid: int) -> float:
    """VmHWM of a process in megabytes; 0 for one that has just ended."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    lines = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(lines[0].split()[1]) * 1024 / 1e6 if lines else 0.0
