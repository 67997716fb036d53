"""A worker process: answers HTTP, reads indexes, asks the writer for changes."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

import uvicorn

from neardup.index.lines import new_ids
from neardup.service.app import App
from neardup.service.data_root import DataRoot
from neardup.service.keys import Keys
from neardup.service.limits import Limits
from neardup.service.log import Log, take_warnings
from neardup.service.metrics import Counters
from neardup.service.protocol import BoundedProtocol
from neardup.service.readers import Readers
from neardup.service.service import Service
from neardup.service.shared import Shared
from neardup.service.writer_link import WriterLink

# Streams wait in these threads, and so do the questions that streams ask.
_THREADS = 16
# The event loop must not wait long for a thread that works: Python's default is 5 ms.
_SWITCH_SECONDS = 0.001


def run_worker(
    listener: socket.socket,
    writer_path: str,
    *,
    threads: int,
    root: DataRoot,
    limits: Limits,
    keys: Keys | None,
    counters: Counters,
    shared: Shared,
    log: Log,
    secret: bytes,
) -> None:
    """Serve until SIGTERM; requests that have begun are answered first."""

    def service() -> Service:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS))
        return Service(
            root=root,
            limits=limits,
            readers=Readers(root, limits, shared, threads),
            writer=WriterLink(writer_path),
            counters=counters,
            shared=shared,
            log=log,
            new_id=new_ids(),
            secret=secret,
        )

    sys.setswitchinterval(_SWITCH_SECONDS)
    take_warnings(log)
    app = App(service, keys)
    BoundedProtocol.limits = limits
    BoundedProtocol.refused = app.refused
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=round(limits.idle_seconds),
        timeout_graceful_shutdown=round(limits.drain_seconds),
    )
    server = uvicorn.Server(config)

    def stop(number: int, frame: object) -> None:
        server.should_exit = True

    # Until uvicorn listens to the signal itself, and after: it repeats the one that ended it.
    signal.signal(signal.SIGTERM, stop)
    server.run(sockets=[listener])
    log.flush()
