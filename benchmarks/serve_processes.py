"""Servers as processes: start one in a folder, find all its processes, stop it.

Linux only: processes are found in /proc.
"""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
HOST = "127.0.0.1"
START_SECONDS = 60
STOP_SECONDS = 60
POLL_SECONDS = 0.005
SAID = 2_000  # characters
SAYS_PORT = re.compile(rb" on http://127\.0\.0\.1:(\d+)")
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Server:
    """A server that was started here; what it says goes to the file `log`."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def pids(self) -> list[int]:
        """The process that was started, and its children."""
        return [self.process.pid, *children(self.process.pid)]

    def cpu_seconds(self) -> float:
        """The processor time that its living processes have used."""
        return sum(cpu_seconds(pid) for pid in self.pids())

    def state(self) -> str:
        """Whether it runs, and the last of what it said."""
        code = self.process.poll()
        said = self.log.read_text(encoding="utf-8", errors="replace")[-SAID:].strip()
        return f"the server {'runs' if code is None else f'ended with {code}'} and said: {said}"

    def stop(self) -> int:
        """Ask it to end, and wait; its exit code."""
        self.process.terminate()
        try:
            return self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            return -signal.SIGKILL

    def kill(self) -> None:
        """Kill all its processes at once."""
        for pid in self.pids():
            kill(pid)
        self.process.wait()


def start_neardup(
    folder: Path, log: Path, workers: int = 2, port: int = 0, more: Sequence[str] = ()
) -> Server:
    """`neardup serve`; returns when it says that it is ready."""
    command = [sys.executable, "-m", "neardup", "serve", str(folder), "--port", str(port)]
    process = _start([*command, "--workers", str(workers), *more], log)
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if said := SAYS_PORT.search(log.read_bytes()):
            return Server(process, int(said[1]), log)
        time.sleep(POLL_SECONDS)
    raise SystemExit(_not_started(process, log))


def start_peer(module: str, log: Path) -> Server:
    """A FastAPI app of this folder with uvicorn, one process."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    app = f"benchmarks.{module}:app"
    options = ["--host", HOST, "--port", str(port), "--log-level", "warning", "--no-access-log"]
    process = _start([sys.executable, "-m", "uvicorn", app, *options], log)
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if answers(port, "/openapi.json"):
            return Server(process, port, log)
        time.sleep(POLL_SECONDS)
    raise SystemExit(_not_started(process, log))


def answers(port: int, path: str) -> bool:
    """Whether a GET of the path gives 200 now."""
    connection = http.client.HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def children(pid: int) -> list[int]:
    """All descendants of a process."""
    parents: dict[int, list[int]] = {}
    for entry in filter(str.isdecimal, os.listdir("/proc")):
        if fields := _stat(int(entry)):
            parents.setdefault(int(fields[1]), []).append(int(entry))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        some = parents.get(waiting.pop(), [])
        found += some
        waiting += some
    return found


def title(pid: int) -> str:
    """What a process calls itself; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def cpu_seconds(pid: int) -> float:
    """The processor time that a process has used; 0 if it has ended."""
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS if fields else 0.0


def kill(pid: int) -> None:
    """SIGKILL, to one process; one that has ended is left alone."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the state on; the name before it may hold anything."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return []
    return text.rpartition(")")[2].split()


def _start(command: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as said:
        return subprocess.Popen(
            command, cwd=REPOSITORY, stdin=subprocess.DEVNULL, stdout=said, stderr=said
        )


def _not_started(process: subprocess.Popen[bytes], log: Path) -> str:
    code = process.poll()
    process.kill()
    process.wait()
    said = log.read_text(encoding="utf-8", errors="replace").strip()
    how = f"did not start within {START_SECONDS} seconds" if code is None else f"ended with {code}"
    return f"{' '.join(map(str, process.args))} {how}: {said}"  # type: ignore[arg-type]
