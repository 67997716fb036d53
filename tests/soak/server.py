"""The server of a soak: start it, kill parts of it, and see when it is up again. Linux only."""

from __future__ import annotations

import random
import socket
import time
from contextlib import suppress
from pathlib import Path

from benchmarks import serve_load, serve_processes
from benchmarks.serve_processes import HOST, Server, answers, children, start_neardup, title

WORKERS = 2
# Complete, so that every edited text must be found: bands miss two of a million of them.
SETTINGS = {"threshold": 0.8, "complete": True}
UP_SECONDS = 30
FAILURE = b'"event":"failure"'
PORTS = (20_000, 30_000)
POLL_SECONDS = 0.005
WORKER, WRITER, SERVER, SUPERVISOR = "worker", "writer", "server", "supervisor"
TITLES = {WORKER: "nd-worker", WRITER: "nd-writer"}
MEMORY_FIELDS = ("Pss_Anon", "Anonymous")


class SoakServer:
    """A server in a folder, on the same port after each start."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self._folder = folder
        self._starts = 0
        self._server = self._started(_free_port())
        serve_load.call(self.port, "PUT", "/v1/indexes/pages", SETTINGS)

    @property
    def port(self) -> int:
        return self._server.port

    def _started(self, port: int) -> Server:
        self._starts += 1
        log = self._folder / f"server-{self._starts}.log"
        return start_neardup(self.data, log, WORKERS, port)

    def kill(self, victim: str) -> float:
        """Kill -9 a victim, start what must be started, and wait until all is up.

        The seconds that this took: from the start of the server, or from the death of a process
        that the server replaces by itself. Raises AssertionError if it does not come up.
        """
        if victim in (SERVER, SUPERVISOR):
            return self._kill_server(only_supervisor=victim == SUPERVISOR)
        pids = self._pids(victim)
        assert pids, f"the server has no {victim}"
        chosen = pids[self._starts % len(pids)]
        begun = time.monotonic()
        serve_processes.kill(chosen)
        wanted = WORKERS if victim == WORKER else 1
        while time.monotonic() - begun < UP_SECONDS:
            living = self._pids(victim)
            if chosen not in living and len(living) == wanted and self._is_up():
                return time.monotonic() - begun
            assert self._server.process.poll() is None, f"the server ended: {self.said()}"
            time.sleep(POLL_SECONDS)
        raise AssertionError(f"no new {victim} in {UP_SECONDS} seconds: {self.said()}")

    def _kill_server(self, only_supervisor: bool) -> float:
        # The supervisor is the first, so that it does not replace the others.
        pids = self._server.pids()
        port = self.port
        for pid in pids[:1] if only_supervisor else pids:
            serve_processes.kill(pid)
        self._server.process.wait()
        deadline = time.monotonic() + UP_SECONDS
        while any(map(_is_living, pids)):
            assert time.monotonic() < deadline, f"processes of a killed server live on: {pids}"
            time.sleep(POLL_SECONDS)
        begun = time.monotonic()
        try:
            self._server = self._started(port)
        except SystemExit as error:
            raise AssertionError(f"the killed server does not start again: {error}") from error
        while time.monotonic() - begun < UP_SECONDS:
            if self._is_up():
                return time.monotonic() - begun
            time.sleep(POLL_SECONDS)
        raise AssertionError(f"the server is not ready in {UP_SECONDS} seconds: {self.said()}")

    def stop(self) -> int:
        """By SIGTERM; the exit code."""
        return self._server.stop()

    def abandon(self) -> None:
        """End it in any way, if it still runs."""
        if self._server.process.poll() is None:
            self._server.kill()

    def megabytes(self) -> tuple[float, str]:
        """Memory that no file lies behind, of all processes together, and its name in /proc.

        Pages that processes share after a fork count once; those of the index file do not.
        """
        total, name = 0.0, MEMORY_FIELDS[0]
        for pid in self._server.pids():
            fields = _fields(Path(f"/proc/{pid}/smaps_rollup"))
            name = next((name for name in MEMORY_FIELDS if name in fields), name)
            total += fields.get(name, 0) * 1024 / 1e6
        return total, name

    def failures(self) -> list[str]:
        """Errors of the program in its logs; those of requests have a status of their own."""
        logs = (path.read_bytes().splitlines() for path in self._folder.glob("server-*.log"))
        lines = [line for log in logs for line in log if FAILURE in line or b"Traceback" in line]
        return [f"the log says {line[:1_000].decode(errors='replace')}" for line in lines[:5]]

    def said(self) -> str:
        """The last of what the server wrote."""
        return self._server.state()

    def _is_up(self) -> bool:
        return answers(self.port, "/readyz")

    def _pids(self, kind: str) -> list[int]:
        mine = children(self._server.process.pid)
        return [pid for pid in mine if title(pid).startswith(TITLES[kind])]


def _free_port() -> int:
    """One that the system gives to nobody who connects: while the server is down, a caller that
    tries again and again would get its port, and connect to itself.
    """
    while True:
        port = random.randrange(*PORTS)
        with socket.socket() as free, suppress(OSError):
            free.bind((HOST, port))
            return port


def _is_living(pid: int) -> bool:
    """A process that has ended stays in the table until its parent has noticed."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def _fields(path: Path) -> dict[str, int]:
    """The numbers of a file of /proc, in kB; none if the process has ended."""
    try:
        lines = path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return {}
    pairs = (line.split() for line in lines)
    return {words[0].rstrip(":"): int(words[1]) for words in pairs if words[-1] == "kB"}
