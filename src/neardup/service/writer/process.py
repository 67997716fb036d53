"""The writer process: takes the calls of the workers, and answers when they are durable."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from neardup.errors import InputError
from neardup.index import Index
from neardup.index.disk.damage import BrokenEnvironmentError
from neardup.service import frames
from neardup.service.data_root import DataRoot
from neardup.service.frames import Answer, Call, Frames
from neardup.service.jobs import Jobs, QueueFull
from neardup.service.limits import Limits
from neardup.service.log import Log
from neardup.service.metrics import Counters
from neardup.service.problems import Problem, no_index, problem_of
from neardup.service.shared import Shared
from neardup.service.writer import changes
from neardup.service.writer.bulk import AddedLines
from neardup.service.writer.changes import Prepared
from neardup.service.writer.indexes import OpenIndexes
from neardup.service.writer.write_queue import Outcomes, Write, WriteQueue

# The event loop must not wait long for a thread that works: Python's default is 5 ms.
_SWITCH_SECONDS = 0.0005
_THREADS = 4
Reply = Callable[[Any], None]


class Writer:
    """Serves calls until it is stopped; a call is answered when what it changed is durable."""

    def __init__(
        self, root: DataRoot, limits: Limits, counters: Counters, shared: Shared, log: Log
    ) -> None:
        self._root = root
        self._limits = limits
        self._counters = counters
        self._shared = shared
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="prepare")
        self._indexes = OpenIndexes(root, shared, self._queue_of, self._pool)
        self._jobs = Jobs(root.path)
        self._waiting = self._waiting_bytes = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        # A write in the queue of its index; the first argument is the name, the second the size.
        self._writes: dict[str, Callable[..., Prepared]] = {
            "check": lambda given, rules: changes.check_one(given, rules, counters),
            "check_many": lambda given, rules: changes.check_many(given, rules, counters),
            "add": lambda given, ttl: changes.add_many(given, ttl, counters),
            "delete_documents": lambda ids: changes.delete_many(ids, counters),
            "settle": changes.settle,
            "compact": changes.compact,
            "expire": changes.expire,
        }
        self._others: dict[str, Callable[..., Awaitable[Any]]] = {
            "open": self._open,
            "create_index": self._indexes.create,
            "delete_index": self._indexes.delete,
            "add_lines": self._add_lines,
            "backup": self._backup,
            "submit_job": self._submit_job,
            "list_jobs": self._list_jobs,
            "get_job": self._get_job,
            "delete_job": self._delete_job,
        }

    async def serve(self, listener: socket.socket, stop: asyncio.Event) -> None:
        """Serve until `stop` is set, which is when all workers have ended."""
        sys.setswitchinterval(_SWITCH_SECONDS)
        await self._jobs.start()
        server = await self._loop.create_unix_server(
            frames.calls(self._called, lambda connection: None), sock=listener
        )
        self._shared.writer_is_ready = True
        counting = self._loop.create_task(self._count_jobs())
        await stop.wait()
        self._shared.writer_is_ready = False
        counting.cancel()
        server.close()
        await self._idle.wait()
        await self._jobs.close()
        await self._indexes.close()
        self._pool.shutdown()

    def _called(self, connection: Frames, call: Call) -> None:
        def reply(result: Any) -> None:
            if isinstance(result, Exception):
                problem = self._problem(result, call).packed()
                connection.send(Answer(call.number, None, problem))
            else:
                connection.send(Answer(call.number, result, None))

        if call.operation in self._writes:
            name, size, *arguments = call.arguments
            queue = self._indexes.get(name)
            if queue is not None:  # the usual case takes no task
                try:
                    self._put(queue, size, self._writes[call.operation](*arguments), reply)
                except Exception as error:
                    reply(error)
                return
        task = self._loop.create_task(self._served(call, reply))
        self._tasks.add(task)
        self._idle.clear()
        task.add_done_callback(self._ended)

    async def _served(self, call: Call, reply: Reply) -> None:
        try:
            if call.operation in self._writes:
                name, size, *arguments = call.arguments
                queue = await self._indexes.opened(name)
                self._put(queue, size, self._writes[call.operation](*arguments), reply)
            else:
                reply(await self._others[call.operation](*call.arguments))
        except Exception as error:
            reply(error)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._look_idle()

    def _look_idle(self) -> None:
        if not self._tasks and not self._waiting:
            self._idle.set()

    def _problem(self, error: Exception, call: Call) -> Problem:
        is_setting = call.operation in ("create_index", "submit_job", "backup")
        found = problem_of(
            error, wrong_setting="invalid_setting" if is_setting else "invalid_parameter"
        )
        if found is None:
            self._log.failure(error, f"writer, {call.operation}")
            found = Problem("internal", "the service failed; its log says why")
        return found

    # Writes in the queues of the indexes

    def _queue_of(self, name: str, index: Index) -> WriteQueue:
        return WriteQueue(name, index, self._counters, self._deliver)

    def _put(self, queue: WriteQueue, size: int, write: Prepared, reply: Reply) -> None:
        if queue.is_closed:  # deleted meanwhile
            raise no_index(queue.name)
        limits = self._limits
        is_full = self._waiting and self._waiting_bytes + size > limits.waiting_bytes
        if is_full or queue.waiting >= limits.waiting:
            raise Problem(
                "queue_full",
                f"{queue.waiting:,} writes of {queue.name} are waiting already; nothing was done: "
                "try again in a second",
                retry_after=1,
            )
        self._count(1, size)
        queue.put(Write(size, write.prepare, write.finish, reply, write.alone, write.quick))

    def _later(self, queue: WriteQueue, size: int, write: Prepared) -> asyncio.Future[Any]:
        """Put a write into the queue; its answer comes later."""
        answer: asyncio.Future[Any] = self._loop.create_future()

        def reply(result: Any) -> None:
            if isinstance(result, Exception):
                answer.set_exception(result)
            else:
                answer.set_result(result)

        self._put(queue, size, write, reply)
        return answer

    def _count(self, writes: int, size: int) -> None:
        self._waiting += writes
        self._waiting_bytes += size
        self._counters.set("writes_waiting", self._waiting)
        self._counters.set("writes_waiting_bytes", self._waiting_bytes)
        if writes > 0:
            self._idle.clear()
        else:
            self._look_idle()

    def _deliver(self, queue: WriteQueue, outcomes: Outcomes) -> None:
        queue.waiting -= len(outcomes)
        for write, outcome in outcomes:
            write.reply(outcome)
            if isinstance(outcome, BrokenEnvironmentError):
                # Only a new process opens the index again for certain; the supervisor starts one.
                self._log.event("broken", index=queue.name)
                self._loop.call_later(0.1, os._exit, 1)
        self._count(-len(outcomes), -sum(write.size for write, _ in outcomes))

    # Everything else

    async def _open(self, name: str, create: bool) -> None:
        await self._indexes.opened(name, create=create)

    async def _add_lines(
        self, name: str, block: bytes, first_line: int, ttl: str | None
    ) -> tuple[bytes, int]:
        """Add a portion of a stream; its features are made while others are committed."""
        queue = self._indexes.get(name) or await self._indexes.opened(name)
        # Portions are stored in the order of their arrival, however long each takes to prepare:
        # of two documents with one id, the later one stays.
        before, ready = queue.preparing, self._loop.create_future()
        queue.preparing = ready
        with queue.in_use():
            try:
                added = await self._in_thread(
                    lambda: AddedLines(
                        queue.index,
                        block,
                        first_line,
                        ttl=ttl,
                        counters=self._counters,
                        longest=self._limits.text,
                    )
                )
                if before is not None:
                    await before
                answer = self._later(queue, len(block), added.write)
            finally:
                ready.set_result(None)
            found: tuple[bytes, int] = await answer
            return found

    async def _backup(self, name: str, backup: str) -> dict[str, Any]:
        """Copy an index; writes go on meanwhile."""
        queue = await self._indexes.opened(name)
        path = self._root.backup(backup)
        if path.exists():
            raise Problem(
                "backup_exists", f"there is a backup {backup} already; choose another name"
            )
        path.parent.mkdir(exist_ok=True)
        with queue.in_use():
            documents = await self._in_thread(lambda: queue.index.backup(path))
        return {"name": backup, "documents": documents}

    async def _count_jobs(self) -> None:
        while True:
            counts = self._jobs.counts()
            self._counters.set("jobs_waiting", counts.get("queued", 0))
            self._counters.set("jobs_running", counts.get("running", 0))
            await asyncio.sleep(1)

    async def _submit_job(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            return await self._jobs.submit(request)
        except QueueFull as error:
            raise Problem("queue_full", str(error), retry_after=10) from None
        except InputError as error:
            raise Problem("invalid_parameter", str(error)) from None

    async def _list_jobs(self) -> list[dict[str, Any]]:
        return self._jobs.listed()

    async def _get_job(self, id: str) -> dict[str, Any]:
        return self._jobs.get(id) or self._no_job(id)

    async def _delete_job(self, id: str) -> dict[str, Any]:
        return await self._jobs.delete(id) or self._no_job(id)

    def _no_job(self, id: str) -> dict[str, Any]:
        raise Problem("job_not_found", f"there is no job {id!r:.60}; GET /v1/jobs lists them")

    async def _in_thread(self, work: Callable[[], Any]) -> Any:
        return await self._loop.run_in_executor(self._pool, work)
