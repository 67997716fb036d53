"""Run `neardup` in a fork or as a process, and check how it ended."""

from __future__ import annotations

import json
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
NEARDUP = Path(sys.executable).with_name("neardup")
LONGEST = 120.0  # maximum seconds of a command
MOST_SAID = 4000  # maximum characters on standard error: lines about stages, and a sentence
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Argument = str | bytes | Path


@dataclass(frozen=True)
class Ran:
    """The result of a command; the code is negative if a signal ended it, as in `subprocess`."""

    arguments: tuple[Argument, ...]
    code: int
    out: bytes
    err: bytes
    seconds: float
    cpu: float = 0.0  # seconds of processor time

    def __str__(self) -> str:
        words = " ".join(shlex.quote(os.fsdecode(word)) for word in self.arguments)
        said = self.err.decode("utf-8", "backslashreplace")
        if len(said) > 1500:
            said = f"{said[:500]}\n[…]\n{said[-1000:]}"
        return f"neardup {words}\nexit {self.code} after {self.seconds:.1f} s; it said: {said}"


class Running:
    """A command running in a fork of the server."""

    def __init__(self, server: Server, arguments: tuple[Argument, ...], room: Path) -> None:
        self._server, self._arguments, self._room = server, arguments, room
        self._begun = time.monotonic()
        self.pid: int = server.answer(LONGEST)["pid"]

    def kill(self, number: int) -> None:
        """Send a signal, unless the command has ended."""
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            return

    def wait(self, longest: float = LONGEST) -> Ran:
        """The end; a command that takes too long is killed, and that is a finding."""
        late = False
        try:
            end = self._server.answer(longest)
        except TimeoutError:
            late = True
            self.kill(signal.SIGKILL)
            end = self._server.answer(LONGEST)
        out, err = ((self._room / name).read_bytes() for name in ("out", "err"))
        spent = time.monotonic() - self._begun
        ran = Ran(self._arguments, end["status"], out, err, spent, end["cpu"])
        assert not late, f"did not end within {longest:g} s: {ran}"
        return ran


class Server:
    """The process of `server.py`, and its two pipes."""

    def __init__(self) -> None:
        self._room = Path(tempfile.mkdtemp(prefix="neardup-torture-"))
        reading, requests = os.pipe()
        answers, writing = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.torture.server", str(reading), str(writing)],
            cwd=ROOT,
            pass_fds=(reading, writing),
        )
        os.close(reading)
        os.close(writing)
        self._requests, self._answers = requests, answers
        self._unread = b""

    def start(
        self,
        *arguments: Argument,
        cwd: Path,
        stdin: Path | None = None,
        environment: Mapping[str, str] | None = None,
        limits: Mapping[str, int] | None = None,
    ) -> Running:
        for name in ("out", "err"):
            (self._room / name).write_bytes(b"")
        request = {
            "arguments": [os.fsencode(word).hex() for word in arguments],
            "cwd": str(cwd),
            "files": [str(stdin or os.devnull), str(self._room / "out"), str(self._room / "err")],
            "environment": dict(environment or {}),
            "limits": dict(limits or {}),
        }
        os.write(self._requests, (json.dumps(request) + "\n").encode())
        return Running(self, arguments, self._room)

    def answer(self, longest: float) -> dict[str, Any]:
        end = time.monotonic() + longest
        while b"\n" not in self._unread:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise TimeoutError
            part = os.read(self._answers, 4096)
            assert part, "the server of commands has ended"
            self._unread += part
        line, self._unread = self._unread.split(b"\n", 1)
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        os.close(self._requests)
        os.close(self._answers)
        self._process.wait(LONGEST)
        shutil.rmtree(self._room)


@cache
def server() -> Server:
    return Server()


def neardup(*arguments: Argument, cwd: Path, **options: Any) -> Ran:
    """Run a command to its end in a fork of the server."""
    return server().start(*arguments, cwd=cwd, **options).wait()


class Process:
    """A command as a new process, including imports.

    `shell` is a shell line that starts it; `"$@"` in it stands for the command.
    """

    def __init__(self, *arguments: Argument, cwd: Path, shell: str = 'exec "$@"') -> None:
        self._arguments = arguments
        self._room = Path(tempfile.mkdtemp(prefix="neardup-process-"))
        self._begun = time.monotonic()
        with (self._room / "out").open("wb") as out, (self._room / "err").open("wb") as err:
            self._process = subprocess.Popen(
                ["sh", "-c", shell, "sh", os.fspath(NEARDUP), *arguments],
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )
        self.peak = 0  # bytes of memory, as measured by `wait`

    def kill(self, number: int) -> None:
        # Not by Popen, which would consume the status that `wait` needs.
        os.kill(self._process.pid, number)

    def wait(self, longest: float = LONGEST) -> Ran:
        """The end; meanwhile its memory is watched, a hundred times a second."""
        late = False
        while True:
            ended, status, used = os.wait4(self._process.pid, os.WNOHANG)
            if ended:
                break
            self.peak = max(self.peak, peak_memory(self._process.pid))
            if time.monotonic() - self._begun > longest:
                late = True
                self.kill(signal.SIGKILL)
            time.sleep(0.01)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        out, err = ((self._room / name).read_bytes() for name in ("out", "err"))
        shutil.rmtree(self._room)
        spent, cpu = time.monotonic() - self._begun, used.ru_utime + used.ru_stime
        ran = Ran(self._arguments, self._process.returncode, out, err, spent, cpu)
        assert not late, f"did not end within {longest:g} s: {ran}"
        return ran


def peak_memory(pid: int) -> int:
    """The peak memory of a process in bytes; 0 if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return 0
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


@contextmanager
def workplace(prefix: str) -> Iterator[Path]:
    """A temporary folder for one round, two levels deep, so that `..` does no harm."""
    top = Path(tempfile.mkdtemp(prefix=f"neardup-{prefix}-"))
    inner = top / "a" / "b"
    inner.mkdir(parents=True)
    try:
        yield inner
    finally:
        shutil.rmtree(top, ignore_errors=True)


# Control characters other than line ends: escapes, C1 controls, bidi controls.
_RAW_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def require_manners(ran: Ran, codes: Sequence[int] = (0, 1, 2)) -> None:
    """Check: no crash, no traceback, no control characters, and one sentence on failure."""
    assert b"Traceback (most recent call last)" not in ran.err, f"a traceback: {ran}"
    assert ran.code in codes, f"exit {ran.code}: {ran}"
    said = ran.err.decode("utf-8", "replace")
    assert not _RAW_CONTROL.search(said), f"control characters in {said!r}: {ran}"
    if ran.code == 0 or (ran.code == 1 and ran.arguments[:2] == ("index", "check")):
        return  # 1 is an answer of `check`: seen
    assert said.strip(), f"it failed without a word: {ran}"
    assert len(said) <= MOST_SAID, f"{len(said)} characters instead of a sentence: {ran}"
    errors = [line for line in said.splitlines() if line.startswith("neardup: ")]
    assert errors, f"no sentence that begins with neardup: {ran}"


def contents(folder: Path) -> dict[str, bytes | None]:
    """Every file below a folder with its bytes, and the names of everything else."""
    found: dict[str, bytes | None] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        regular = path.is_file() and not path.is_symlink()
        found[name] = path.read_bytes() if regular else None
    return found


def leftovers(folder: Path) -> list[str]:
    """Unfinished outputs, whose names begin with a dot."""
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))
