"""The log: a JSON object on a line for each request, and for each failure of the service."""

from __future__ import annotations

import asyncio
import logging
import os
import select
import time
import traceback
from collections import deque
from contextlib import suppress
from typing import Any

import orjson

_SECONDS_BETWEEN_WRITES = 0.2
_MOST_WAITING, _MOST_KEPT = 1 << 16, 1 << 22


class Log:
    """Lines on standard error. They are gathered for a moment: writing each by itself costs more.

    If nobody takes them, 4 MB are kept, and how many more were lost is logged later.

    Texts of documents are never logged unless `texts` is set, and then only their beginnings.
    """

    def __init__(self, process: str, *, requests: bool = True, texts: bool = False) -> None:
        self.requests = requests
        self.texts = texts
        self._process = process
        self._lines: deque[bytes] = deque()
        self._size = 0
        self._lost = 0
        self._timer: asyncio.TimerHandle | None = None

    def request(self, **values: Any) -> None:
        """A request that was answered."""
        if self.requests:
            self._put({"time": _now(), "event": "request", **values})

    def event(self, event: str, **values: Any) -> None:
        """Something an operator wants to know."""
        self._put({"time": _now(), "event": event, "process": self._process, **values})
        self.flush()

    def failure(self, error: BaseException, where: str, request_id: str | None = None) -> None:
        """An error in the program, with its traceback; not the message, which may hold a text."""
        frames = traceback.extract_tb(error.__traceback__)
        places = [
            f"{os.path.basename(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames
        ]
        said = {"message": str(error)[:500]} if self.texts else {}
        self.event(
            "failure",
            where=where,
            error=type(error).__name__,
            **said,
            traceback=places,
            request_id=request_id,
        )

    def flush(self) -> None:
        """Write what waits, as far as somebody takes it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        try:
            while self._lines and select.select([], [2], [], 0)[1]:
                os.write(2, self._piece())
        except (OSError, ValueError):  # whoever read the log has gone; the service goes on
            self._lines.clear()
            self._size = 0
        while self._size > _MOST_KEPT:  # nobody reads it; the service must not wait for them
            self._size -= len(self._lines.popleft())
            self._lost += 1
        if self._lines:
            self._flush_later()

    def _piece(self) -> bytes:
        """Whole lines of a size that the system writes in one go, beside other processes."""
        if self._lost:
            lost = {"time": _now(), "event": "lost", "process": self._process, "lines": self._lost}
            self._lost = 0
            return orjson.dumps(lost, option=orjson.OPT_APPEND_NEWLINE)
        piece = self._lines.popleft()
        while self._lines and len(piece) + len(self._lines[0]) <= select.PIPE_BUF:
            piece += self._lines.popleft()
        self._size -= len(piece)
        return piece

    def _put(self, values: dict[str, Any]) -> None:
        line = orjson.dumps(values, default=str, option=orjson.OPT_APPEND_NEWLINE)
        self._lines.append(line)
        self._size += len(line)
        if self._size >= _MOST_WAITING and self._timer is not None:
            self.flush()
        else:
            self._flush_later()

    def _flush_later(self) -> None:
        if self._timer is None:
            with suppress(RuntimeError):  # outside of an event loop, lines wait for `flush`
                loop = asyncio.get_running_loop()
                self._timer = loop.call_later(_SECONDS_BETWEEN_WRITES, self._on_time)

    def _on_time(self) -> None:
        self._timer = None
        self.flush()


class _Warnings(logging.Handler):
    """Gives the warnings of libraries to the log; without tracebacks, which may quote texts."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        self._log.event("warning", logger=record.name, message=record.getMessage()[:500])


def take_warnings(log: Log) -> None:
    """Put the warnings of libraries into the log of this process, and nowhere else."""
    logging.getLogger().handlers = [_Warnings(log)]


def _now() -> str:
    seconds = time.time()
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds * 1000) % 1000:03d}Z"
