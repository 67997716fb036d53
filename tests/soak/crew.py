"""Callers in processes of their own, which go, pause and verify when they are told to."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection as Pipe
from typing import Any

from tests.soak.caller import REFUSED_AS, Caller

PROCESSES, CALLERS = 2, 4
EXPIRE_SECONDS, COMPACT_SECONDS = 3, 15
ANSWER_SECONDS = 300


@dataclass(frozen=True)
class Task:
    """For one process: the port, how many documents each caller holds, and whether its
    connections may break.
    """

    number: int
    port: int
    target: int
    may_break: bool


@dataclass
class Seen:
    """What callers saw, all together."""

    counted: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)

    def refused(self) -> dict[str, int]:
        """How many requests were refused, by status and code."""
        kinds = {kind: n for kind, n in self.counted.items() if kind.startswith(REFUSED_AS)}
        return {kind.removeprefix(REFUSED_AS): n for kind, n in sorted(kinds.items())}


class Crew:
    """The processes; each command goes to all of them."""

    def __init__(self, port: int, target: int, may_break: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipes: list[Pipe] = []
        self._processes = []
        for number in range(PROCESSES):
            ours, theirs = context.Pipe()
            task = Task(number, port, target // (PROCESSES * CALLERS), may_break)
            process = context.Process(target=_work, args=(task, theirs), daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)
        list(self._answers())

    def go(self) -> None:
        """Begin to send requests, and return at once."""
        self._tell("go")

    def pause(self) -> None:
        """Send no more; returns when every request was answered or given up."""
        self._tell("pause")
        list(self._answers())

    def verify(self) -> None:
        """Let every caller look for its documents; the server must be up."""
        self._tell("verify")
        list(self._answers())

    def seen(self) -> Seen:
        """Everything since the start."""
        self._tell("seen")
        whole = Seen()
        for counted, findings, ids in self._answers():
            whole.counted += counted
            whole.findings += findings
            whole.ids |= ids
        return whole

    def end(self) -> None:
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join(ANSWER_SECONDS)

    def _tell(self, command: str) -> None:
        for pipe in self._pipes:
            pipe.send(command)

    def _answers(self) -> Iterable[Any]:
        for pipe in self._pipes:
            if not pipe.poll(ANSWER_SECONDS):
                raise SystemExit(f"the callers gave no answer in {ANSWER_SECONDS} seconds")
            yield pipe.recv()


def _work(task: Task, pipe: Pipe) -> None:
    """Obey commands until the other end of the pipe is closed."""
    names = [f"p{task.number}c{number}" for number in range(CALLERS)]
    callers = [Caller(name, task.port, task.target, task.may_break) for name in names]
    keeper = Caller(f"p{task.number}keeper", task.port, 0, task.may_break)
    stop = threading.Event()
    threads: list[threading.Thread] = []
    pipe.send("ready")
    while True:
        try:
            command = pipe.recv()
        except EOFError:
            stop.set()
            return
        if command == "go":
            stop.clear()
            threads = [threading.Thread(target=each.run, args=(stop,)) for each in callers]
            if task.number == 0:
                threads.append(threading.Thread(target=_maintain, args=(keeper, stop)))
            for thread in threads:
                thread.start()
            continue
        if command == "pause":
            stop.set()
            for thread in threads:
                thread.join()
            pipe.send("paused")
        elif command == "verify":
            threads = [threading.Thread(target=each.verify) for each in callers]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            pipe.send("verified")
        else:
            everyone = [*callers, keeper]
            counted = sum((each.counted for each in everyone), Counter())
            findings = [finding for each in everyone for finding in each.findings]
            pipe.send((counted, findings, {id for each in callers for id in each.live}))


def _maintain(keeper: Caller, stop: threading.Event) -> None:
    """Expire and compact now and then; the first time soon, so that a short load has both."""
    due = {"expire": time.monotonic() + 0.5, "compact": time.monotonic() + 0.3}
    every = {"expire": EXPIRE_SECONDS, "compact": COMPACT_SECONDS}
    while not stop.wait(0.1):
        for kind, moment in due.items():
            if time.monotonic() >= moment:
                keeper.maintain(kind, stop)
                due[kind] = time.monotonic() + every[kind]
