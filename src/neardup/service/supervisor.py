"""The process that starts the writer and the workers, starts them again, and stops them in order.

It does nothing else, so that it is always in a state that can be forked: a process that takes the
place of a dead one is ready within milliseconds, and shares the memory of all that was imported.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import secrets
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from neardup.errors import NeardupError
from neardup.index.disk.opening import is_index
from neardup.kernels.machine import thread_count
from neardup.service.app import ROUTES, STATUSES
from neardup.service.data_root import DataRoot
from neardup.service.keys import Keys
from neardup.service.log import Log, take_warnings
from neardup.service.metrics import Counters
from neardup.service.settings import ServeSettings
from neardup.service.shared import Shared
from neardup.service.worker import run_worker
from neardup.service.writer.process import Writer
from neardup.system import locks

_LOCK = ".neardup-serve.lock"
_SOCKET = ".neardup-serve.socket"
_BACKLOG = 2048
# Processes of a service that was killed may live for a moment.
_PATIENCE = 3.0
_PAUSE = 0.02
# A process that dies this often before it has lived for a second is not started again.
_MOST_DEATHS = 5
_SHORT_LIFE = 1.0
_GRACE = 5.0  # seconds, after those for draining


@dataclass(eq=False)
class _Child:
    name: str
    run: Callable[[], None]
    pid: int = 0
    started: float = 0.0
    early_deaths: int = 0


class Supervisor:
    """A service on a data folder; `run` returns when it has ended."""

    def __init__(self, settings: ServeSettings) -> None:
        self._settings = settings
        family, address = settings.address()
        self._keys = None if settings.keys is None else Keys(settings.keys)
        self._root = DataRoot(_data_folder(settings.data))
        self._lock = _locked(self._root.path)
        self._listeners = _listeners(family, address, settings.port, settings.processes)
        host, self.port = self._listeners[0].getsockname()[:2]
        self.url = f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"
        self._writer_listener, self._writer_path = _writer_socket(self._root.path)
        self._shared = Shared()
        self._secret = secrets.token_bytes(32)  # a form of one worker is sent to another
        self._counters = Counters(settings.processes + 1, ROUTES, STATUSES)
        self._alive, self._living = os.pipe()  # closed when this process ends, however it ends
        self._writer = _Child("nd-writer", self._run_writer)
        self._workers = [
            _Child(f"nd-worker-{number}", self._worker_of(number))
            for number in range(1, settings.processes + 1)
        ]
        self._log = Log("supervisor")
        self._stops = 0
        self._failed: str | None = None

    def stop(self, number: int = signal.SIGTERM) -> None:
        """Stop: requests that have begun are answered; a second call does not wait for them."""
        self._stops += 1
        self._shared.drain()
        for listener in self._listeners:
            listener.close()
        if self._stops > 1:
            self._signal(self._workers, signal.SIGKILL)
            return
        self._signal(self._workers, signal.SIGTERM)
        # A worker that waits for somebody who never comes must not keep the service from ending.
        late = threading.Timer(
            self._settings.limits.drain_seconds + _GRACE,
            lambda: self._signal(self._workers, signal.SIGKILL),
        )
        late.daemon = True
        late.start()

    def run(self, ready: Callable[[str], None]) -> None:
        """Start everything, call `ready` with the address, and watch until the end."""
        gc.collect()
        gc.freeze()  # what is here now is shared by all processes, as long as nobody touches it
        try:
            for child in (self._writer, *self._workers):
                self._start(child)
            threading.Thread(target=self._announce, args=(ready,), daemon=True).start()
            self._watch()
        finally:
            with suppress(OSError):
                os.unlink(self._writer_path)
        if self._failed is not None:
            raise NeardupError(self._failed)

    def _announce(self, ready: Callable[[str], None]) -> None:
        """Say that the service is ready, as soon as a request is answered."""
        until = time.monotonic() + 60
        while time.monotonic() < until and not self._stops:
            if _answers(self.url):
                ready(self.url)
                return
            time.sleep(_PAUSE)

    def _watch(self) -> None:
        """Wait for children that end; start them again, or end with the last of them."""
        while self._workers_alive() or self._writer.pid:
            try:
                pid, status = os.waitpid(-1, 0)
            except ChildProcessError:
                return
            child = next((one for one in self._all() if one.pid == pid), None)
            if child is None:
                continue
            child.pid = 0
            if not self._stops:
                self._start_again(child, status)
            if self._stops and not self._workers_alive() and self._writer.pid:
                os.kill(self._writer.pid, signal.SIGTERM)

    def _start_again(self, child: _Child, status: int) -> None:
        lived = time.monotonic() - child.started
        child.early_deaths = child.early_deaths + 1 if lived < _SHORT_LIFE else 0
        self._log.event("died", child=child.name, status=os.waitstatus_to_exitcode(status))
        if child.early_deaths >= _MOST_DEATHS:
            self._failed = f"{child.name} cannot be started; the lines above say why"
            self.stop()
            return
        if child is self._writer:
            self._shared.writer_is_ready = False
            self._counters.add("writer_restarts_total")
        else:
            self._counters.add("worker_restarts_total")
        self._start(child)
        if self._stops:
            self._signal([child], signal.SIGTERM)

    def _start(self, child: _Child) -> None:
        child.started = time.monotonic()
        pid = os.fork()
        if pid:
            child.pid = pid
            return
        code = 1
        try:
            self._become(child)
            child.run()
            code = 0
        except Exception as error:
            Log(child.name).failure(error, "start")
        finally:
            os._exit(code)

    def _become(self, child: _Child) -> None:
        """Make a forked process what it is to be."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        os.close(self._living)
        os.close(self._lock)
        threading.Thread(target=self._die_with_supervisor, daemon=True).start()
        with suppress(OSError):  # only Linux has it
            Path("/proc/self/comm").write_text(child.name)

    def _die_with_supervisor(self) -> None:
        os.read(self._alive, 1)
        os._exit(1)

    def _run_writer(self) -> None:
        for listener in self._listeners:
            listener.close()
        self._counters.belong_to(0)

        async def serve() -> None:
            stop = asyncio.Event()
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
            log = self._log_of("writer")
            take_warnings(log)
            writer = Writer(self._root, self._settings.limits, self._counters, self._shared, log)
            await writer.serve(self._writer_listener, stop)
            log.flush()

        _run(serve)

    def _worker_of(self, number: int) -> Callable[[], None]:
        def run() -> None:
            self._writer_listener.close()
            for other, listener in enumerate(self._listeners, 1):
                if other != number:
                    listener.close()
            self._counters.belong_to(number)
            run_worker(
                self._listeners[number - 1],
                self._writer_path,
                threads=max(1, thread_count(None) // self._settings.processes),
                root=self._root,
                limits=self._settings.limits,
                keys=self._keys,
                counters=self._counters,
                shared=self._shared,
                log=self._log_of(f"worker-{number}"),
                secret=self._secret,
            )

        return run

    def _log_of(self, process: str) -> Log:
        return Log(process, requests=self._settings.log_requests, texts=self._settings.log_texts)

    def _all(self) -> list[_Child]:
        return [self._writer, *self._workers]

    def _workers_alive(self) -> bool:
        return any(child.pid for child in self._workers)

    def _signal(self, children: list[_Child], number: int) -> None:
        for child in children:
            if child.pid:
                with suppress(ProcessLookupError):
                    os.kill(child.pid, number)


def _run(serve: Callable[[], object]) -> None:
    """Run a coroutine in uvloop's event loop, or Python's where there is no uvloop."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(serve())  # type: ignore[arg-type]
    else:
        uvloop.run(serve())  # type: ignore[arg-type]


def _data_folder(path: Path) -> Path:
    if is_index(path):
        raise NeardupError(
            f"{path} is an index, but serve takes a folder with indexes; make a folder DATA, move "
            f"the index to DATA/indexes/{path.name}, and serve DATA"
        )
    try:
        path.mkdir(parents=True, exist_ok=True)
        for name in ("indexes", "backups", "jobs"):
            (path / name).mkdir(exist_ok=True)
    except FileExistsError:
        raise NeardupError(f"{path} is a file, but serve needs a folder; name another") from None
    except OSError as error:
        raise NeardupError(
            f"cannot write to {path}: {error.strerror}; name another folder"
        ) from None
    return path


def _locked(path: Path) -> int:
    """A lock that only one service of a data folder has."""
    try:
        file = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise NeardupError(
            f"cannot write to {path}: {error.strerror}; name another folder"
        ) from None
    until = time.monotonic() + _PATIENCE
    while not locks.try_lock(file):
        if time.monotonic() > until:
            os.close(file)
            raise NeardupError(
                f"{path} is served already by another process; stop that one, or serve "
                "another folder"
            )
        time.sleep(_PAUSE)
    return file


def _writer_socket(data: Path) -> tuple[socket.socket, str]:
    """The socket of the writer: in the data folder, or where its path is short enough."""
    listener = socket.socket(socket.AF_UNIX)
    path = str(data / _SOCKET)
    with suppress(FileNotFoundError):  # of a service that was killed
        os.unlink(path)
    try:
        listener.bind(path)
    except OSError:  # a long path, or a file system without sockets
        path = os.path.join(tempfile.mkdtemp(prefix="neardup-"), "writer")
        listener.bind(path)
    os.chmod(path, 0o600)
    listener.listen(_BACKLOG)
    return listener, path


def _listeners(
    family: socket.AddressFamily, address: str, port: int, count: int
) -> list[socket.socket]:
    """A socket for each worker on one port; Linux spreads the connections over them.

    A single socket would be emptied by whichever worker wakes first. macOS gives all connections to
    one of several sockets, so there the workers share one.
    """
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            # Without SO_REUSEPORT this fails if anybody listens, also one who would share the port.
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((address, port))
                port = probe.getsockname()[1]
            break
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() > until:
                raise NeardupError(
                    f"cannot listen on {address} port {port}: {error.strerror}; choose another "
                    "--host or --port"
                ) from None
            time.sleep(_PAUSE)
    found: list[socket.socket] = []
    for _ in range(count):
        if found and sys.platform != "linux":
            found.append(found[0].dup())
            continue
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind((address, port))
        listener.listen(_BACKLOG)
        listener.setblocking(False)
        found.append(listener)
    return found


def _answers(url: str) -> bool:
    """Whether the service is ready."""
    from http.client import HTTPConnection
    from urllib.parse import urlsplit

    place = urlsplit(url)
    connection = HTTPConnection(place.hostname or "", place.port, timeout=1)
    try:
        connection.request("GET", "/readyz", headers={"Host": "localhost"})
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()
