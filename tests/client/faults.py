"""A small HTTP server that fails on request: the real one cannot be made to."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Fault:
    """An answer to one request. `cut` closes the connection after so many bytes of the body."""

    status: int = 200
    body: Any = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None


def problem(status: int, code: str, **headers: str) -> Fault:
    about = {"status": status, "code": code, "detail": f"the sentence of {code}"}
    return Fault(status, about, {"Content-Type": "application/problem+json", **headers})


@dataclass
class Failing:
    """Requests that came, and the answers that are left; the last one stays."""

    url: str
    left: list[Fault]
    seen: list[tuple[str, str, bytes, dict[str, str]]] = field(default_factory=list)


@contextmanager
def failing(faults: Sequence[Fault]) -> Iterator[Failing]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            found.seen.append((self.command, self.path, body, headers))
            fault = found.left.pop(0) if len(found.left) > 1 else found.left[0]
            content = (
                fault.body if isinstance(fault.body, bytes) else json.dumps(fault.body).encode()
            )
            if fault.cut != 0:
                self.send_response(fault.status)
                for name, value in fault.headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: fault.cut])
            self.close_connection = fault.cut is not None

        do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 - http.server's names

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found = Failing(f"http://127.0.0.1:{server.server_address[1]}", list(faults))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
