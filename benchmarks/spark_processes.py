"""The processes below this one: the CPU time and the memory of all of them, and their end.

Spark starts JVMs, which start Python workers. What a process has reaped is in its own CPU time; but
the daemon that forks the workers ignores their ends, and the kernel then forgets what they spent.
So a thread looks at them again and again.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_SET_PARENT_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h
_TICKS = os.sysconf("SC_CLK_TCK")
DRIVER, JVM, PYTHON = "driver", "jvm", "python workers"
KINDS = (DRIVER, JVM, PYTHON)
_DAEMON = "pyspark.daemon"
EXECUTOR = "CoarseGrainedExecutorBackend"


@dataclass(frozen=True)
class Process:
    """A process, what it was started with, and the CPU time of it and its reaped children."""

    pid: int
    started: int
    parent: int
    is_zombie: bool
    cpu_seconds: float
    command: str

    @property
    def kind(self) -> str:
        """JVM or Python worker; scripts that start a JVM become it."""
        return PYTHON if _DAEMON in self.command else JVM


def take_charge() -> None:
    """Become the parent of all descendants whose own parents end; end with the own parent.

    A signal to end is an exit of Python, so that `finally` is reached and nothing is left behind.
    """
    end_by_exit()
    _prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)
    _prctl(_SET_CHILD_SUBREAPER, 1)


def end_by_exit() -> None:
    """Let SIGTERM end this process as an exit does."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def _prctl(option: int, value: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl failed")


def descendants(root: int | None = None) -> list[Process]:
    """All processes below one, which is this one by default."""
    by_parent: dict[int, list[Process]] = {}
    for process in _all():
        by_parent.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    waiting = [os.getpid() if root is None else root]
    while waiting:
        children = by_parent.get(waiting.pop(), [])
        found += children
        waiting += [child.pid for child in children]
    return found


class CpuClock:
    """The CPU time of this process and of all below it, also of workers that have ended.

    Of such a worker the last second may be missing.
    """

    def __init__(self, every_seconds: float = 1.0) -> None:
        self._every = every_seconds
        self._workers: dict[tuple[int, int], float] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> CpuClock:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def seconds(self) -> dict[str, float]:
        """What was spent until now, by kind."""
        with self._lock:
            found = descendants()
            self._note(found)
            alive = {(one.pid, one.started) for one in found}
            ended = sum(cpu for key, cpu in self._workers.items() if key not in alive)
        times = os.times()
        spent = {
            DRIVER: times.user + times.system,
            # What this process has reaped were scripts and JVMs.
            JVM: times.children_user + times.children_system,
            PYTHON: ended,
        }
        for process in found:
            spent[process.kind] += process.cpu_seconds
        return spent

    def _look(self) -> None:
        while not self._ended.wait(self._every):
            with self._lock:
                self._note(descendants())

    def _note(self, found: Sequence[Process]) -> None:
        for one in _forks(found):
            self._workers[one.pid, one.started] = one.cpu_seconds


def peak_megabytes() -> dict[str, float]:
    """The high-water mark of memory of the largest process of each kind that lives now."""
    peaks = dict.fromkeys(KINDS, 0.0)
    peaks[DRIVER] = _high_water_megabytes(os.getpid())
    for process in descendants():
        peaks[process.kind] = max(peaks[process.kind], _high_water_megabytes(process.pid))
    return peaks


def workers(root: int | None = None) -> list[Process]:
    """The Python workers below a process: the forks of Spark's daemon, not the daemon."""
    return _forks(descendants(root))


def _forks(found: Sequence[Process]) -> list[Process]:
    python = [one for one in found if one.kind == PYTHON and not one.is_zombie]
    daemons = {one.pid for one in python}
    return [one for one in python if one.parent in daemons]


def executors(root: int | None = None) -> list[Process]:
    """The JVMs of executors."""
    return [one for one in descendants(root) if EXECUTOR in one.command and not one.is_zombie]


def end_all(seconds: float = 20.0) -> None:
    """End all processes below this one, by force after some seconds, and reap them."""
    for sign, patience in ((signal.SIGTERM, seconds), (signal.SIGKILL, seconds)):
        _signal(descendants(), sign)
        until = time.monotonic() + patience
        while time.monotonic() < until:
            if not reaped():
                return
            time.sleep(0.05)


def reaped() -> bool:
    """Reap the children that have ended; whether others are left."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if not pid:
            return True


def _signal(processes: Sequence[Process], sign: signal.Signals) -> None:
    for process in processes:
        try:
            os.kill(process.pid, sign)
        except ProcessLookupError:  # it has just ended
            continue


def _all() -> Iterator[Process]:
    for entry in filter(str.isdecimal, os.listdir("/proc")):
        folder = Path("/proc", entry)
        try:
            stat = (folder / "stat").read_text(encoding="utf-8", errors="replace")
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
        except (FileNotFoundError, ProcessLookupError):  # it has just ended
            continue
        yield parsed(int(entry), stat, command.decode(errors="replace"))


def parsed(pid: int, stat: str, command: str) -> Process:
    """A process by its line in /proc; its name there may hold spaces and brackets."""
    fields = stat[stat.rindex(")") + 2 :].split()
    ticks = sum(int(field) for field in fields[11:15])  # user, system, and both of the reaped
    started, parent = int(fields[19]), int(fields[1])
    return Process(pid, started, parent, fields[0] == "Z", ticks / _TICKS, command)


def _high_water_megabytes(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    lines = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(lines[0].split()[1]) * 1024 / 1e6 if lines else 0.0
