"""A service in processes of its own, as tests see it from outside."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0  # seconds; only a broken program takes that long
_READY = re.compile(r"neardup serves .* on (http://\S+)")


class Server:
    """A running service: `client` asks it, `log` is what it said on standard error."""

    def __init__(self, data: Path, command: list[str]) -> None:
        self.data = data
        self.log: list[str] = []
        self._ready = threading.Event()
        self.url = ""
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        assert self._ready.wait(PATIENCE), "the service is not ready"
        if not self.url:
            self.abandon()
            raise AssertionError(f"the service ended: {self.said()}")
        self.client = httpx.Client(base_url=self.url, timeout=PATIENCE)

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def said(self) -> str:
        """Everything on standard error so far."""
        return "".join(self.log)

    def events(self) -> list[dict[str, Any]]:
        """The lines of the log; the service must have ended, or they may be late."""
        return [json.loads(line) for line in self.log if line.startswith("{")]

    def connect(self) -> socket.socket:
        """A connection for requests that no client library would send."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def pids(self) -> dict[str, int]:
        """The processes that the supervisor has started, by name."""
        found = {}
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        # A child belongs to the thread that forked it, which is the main one.
        for pid in map(int, children.split()):
            name = comm(pid)
            if name.startswith("nd-"):
                found[name] = pid
        return found

    def memory(self) -> int:
        """Bytes that no file lies behind, of all processes; shared pages count once."""
        return sum(map(_memory, [self.process.pid, *self.pids().values()]))

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Stop it and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.ended()

    def ended(self) -> int:
        """The exit code, when it has ended and everything that it said is read."""
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        self._close()
        return code

    def abandon(self) -> None:
        """End it in any way, with its children, which end with their supervisor."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join(PATIENCE)
        self._close()

    def _close(self) -> None:
        if self.url:
            self.client.close()
        assert self.process.stderr is not None
        self.process.stderr.close()

    def _read(self) -> None:  # to the end, lest the service wait for a full pipe
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line)
            if found := _READY.search(line):
                self.url = found[1]
                self._ready.set()
        self._ready.set()


def served(data: Path, *options: str) -> Server:
    """Start `neardup serve` on a folder with two workers."""
    command = [sys.executable, "-m", "neardup", "serve", str(data), "--port", "0"]
    if "--workers" not in options:
        command += ["--workers", "2"]
    return Server(data, [*command, *options])


def limited(data: Path, **settings: Any) -> Server:
    """Start a service with settings that the command has no options for, such as `limits`."""
    return Server(
        data, [sys.executable, "-m", "tests.service.limited", str(data), json.dumps(settings)]
    )


def comm(pid: int) -> str:
    """The name of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that nobody has waited for has ended, too."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def until(condition: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """Wait for something that no event tells of."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        time.sleep(0.01)
    return found


def kill(pid: int) -> None:
    """`kill -9`, and wait until the process is gone."""
    os.kill(pid, signal.SIGKILL)
    until(lambda: not is_alive(pid), f"end of process {pid}")


def replaced(server: Server, name: str, pid: int) -> None:
    """Wait until a killed process has been started again."""
    until(lambda: server.pids().get(name, pid) != pid, f"a new {name}")


def ndjson(rows: Any) -> bytes:
    """Rows as lines of JSON."""
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def lines_of(response: httpx.Response) -> list[dict[str, Any]]:
    """The rows of an NDJSON answer."""
    assert response.status_code == 200, response.text[:500]
    assert response.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in response.content.splitlines()]


def texts(count: int, words: int = 20, seed: int = 0) -> list[str]:
    """Texts that have nothing in common."""
    return [
        " ".join(f"w{seed}x{number}x{place}" for place in range(words)) for number in range(count)
    ]


def received(connection: socket.socket) -> Iterator[bytes]:
    """What arrives on a connection until it is closed."""
    while piece := connection.recv(1 << 16):
        yield piece


def _memory(pid: int) -> int:
    try:
        found = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0
    return sum(
        int(line.split()[1]) * 1024 for line in found.splitlines() if line.startswith("Pss_Anon:")
    )
