"""The worker's connection to the writer."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

from neardup.service import frames
from neardup.service.frames import Answer, Call, Frames
from neardup.service.problems import Problem, unavailable

_FIRST_PAUSE, _LONGEST_PAUSE = 0.01, 0.2
_PATIENCE = 3.0


class WriterLink:
    """Asks the writer, and connects again when the writer was started again."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._connection: Frames | None = None
        self._connected = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def is_connected(self) -> bool:
        return self._connection is not None

    def start(self) -> None:
        """Connect, and stay connected."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._connect())

    async def call(self, operation: str, arguments: Any) -> Any:
        """Ask the writer; raises the problem that it answers with."""
        connection = self._connection
        if connection is None:
            connection = await self._reconnected()
        number = next(self._numbers)
        answer = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            if not connection.send(Call(number, operation, arguments)):
                raise _gone()
            await connection.writable()
            return await answer
        finally:
            self._waiting.pop(number, None)

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
        if self._connection is not None:
            self._connection.close()

    async def _reconnected(self) -> Frames:
        """Wait for a writer that is being started again."""
        self.start()
        try:
            await asyncio.wait_for(self._connected.wait(), _PATIENCE)
        except asyncio.TimeoutError:
            raise unavailable("the writer is being started again; try again in a second") from None
        if self._connection is None:
            raise _gone()
        return self._connection

    async def _connect(self) -> None:
        pause = _FIRST_PAUSE
        while self._connection is None:
            try:
                _, made = await asyncio.get_running_loop().create_unix_connection(
                    frames.answers(self._answered, self._lost), self._path
                )
            except OSError:
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                self._connection = made
                self._connected.set()

    def _answered(self, connection: Frames, answer: Answer) -> None:
        waiting = self._waiting.get(answer.number)
        if waiting is None or waiting.done():  # its client has gone
            return
        if answer.problem is None:
            waiting.set_result(answer.result)
        else:
            waiting.set_exception(Problem.of_packed(answer.problem))

    def _lost(self, connection: Frames) -> None:
        if connection is self._connection:
            self._connection = None
            self._connected.clear()
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(_gone())
            self.start()


def _gone() -> Problem:
    return unavailable(
        "the writer stopped while it worked on this request, which may or may not be stored; send "
        "it again: a write with an id can be repeated"
    )
