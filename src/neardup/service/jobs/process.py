"""The process of a running job: started, followed by what it reports, and stopped."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from neardup.service.jobs import command

_PATIENCE = 10.0  # seconds between SIGTERM and SIGKILL
_LOOKS_EVERY = 0.01  # seconds, once the process has closed standard error
_AT_ONCE = 1 << 16
_LONGEST_LINE, _LONGEST_SENTENCE = 1 << 16, 2_000
_PREFIX = "neardup: "
_PROGRESS = ("stage", "done", "total", "documents")


class JobProcess:
    """A command of neardup in a process group of its own, run by `command.py`.

    It inherits no file but those given here. All methods belong to the thread of the event loop:
    only there is it known whether the process, whose id may be used again, still exists.
    """

    def __init__(self, data: Path, arguments: list[str], printed: Path) -> None:
        theirs, self._ours = os.pipe()
        try:
            with printed.open("wb") as output:
                self._process = subprocess.Popen(
                    [sys.executable, command.__file__, str(data), *arguments],
                    stdin=theirs,
                    stdout=output,
                    stderr=subprocess.PIPE,
                    bufsize=0,
                    start_new_session=True,
                )
        except BaseException:
            os.close(self._ours)
            raise
        finally:
            os.close(theirs)
        self._killing: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int:
        """The id of the process and of its group."""
        return self._process.pid

    async def ended(self, report: Callable[[dict[str, Any]], None]) -> tuple[int, str]:
        """Wait for the end: the exit code and the last sentence; `report` is given the progress.

        If this is cancelled, the process is killed.
        """
        try:
            sentence = await self._last_sentence(report)
            while self._process.poll() is None:
                await asyncio.sleep(_LOOKS_EVERY)
            return self._process.returncode, sentence
        finally:
            self._send(signal.SIGKILL)
            self._process.wait()
            if self._killing is not None:
                self._killing.cancel()
            os.close(self._ours)

    def stop(self) -> None:
        """Ask the process to end, and kill it if it does not within 10 seconds."""
        if self._killing is None:
            self._send(signal.SIGTERM)
            loop = asyncio.get_running_loop()
            self._killing = loop.call_later(_PATIENCE, self._send, signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        if self._process.poll() is None:
            os.killpg(self.pid, number)

    async def _last_sentence(self, report: Callable[[dict[str, Any]], None]) -> str:
        assert self._process.stderr is not None
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), self._process.stderr
        )
        sentence, lines = "", _Lines()
        try:
            while some := await reader.read(_AT_ONCE):
                for line in lines.of(some):
                    progress = progress_in(line)
                    if progress is not None:
                        report(progress)
                    elif said := _sentence(line):
                        sentence = said
        finally:
            transport.close()
        return _sentence(lines.rest) or sentence


class _Lines:
    """Cuts a stream into lines; what is longer than a line can be is cut off."""

    def __init__(self) -> None:
        self.rest = b""

    def of(self, some: bytes) -> Iterator[bytes]:
        """The lines that end in these bytes."""
        *whole, rest = some.split(b"\n")
        for line in whole:
            yield (self.rest + line)[:_LONGEST_LINE]
            self.rest = b""
        self.rest = (self.rest + rest)[:_LONGEST_LINE]


def progress_in(line: bytes) -> dict[str, Any] | None:
    """The progress that a line of `--progress json` reports; None for other lines.

    >>> progress_in(b'{"stage": "pairs", "done": 3, "total": 8, "documents": 3}')
    {'stage': 'pairs', 'done': 3, 'total': 8, 'documents': 3}
    """
    if not line.startswith(b"{"):
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return {name: found[name] for name in _PROGRESS} if set(_PROGRESS) <= found.keys() else None


def _sentence(line: bytes) -> str:
    said = line.decode(errors="backslashreplace").strip().removeprefix(_PREFIX)
    return said if len(said) <= _LONGEST_SENTENCE else f"{said[:_LONGEST_SENTENCE]}…"
