"""The HTTP server of `neardup explore`: this machine alone, a thread for each connection."""

from __future__ import annotations

import errno
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from neardup.errors import NeardupError, SettingError
from neardup.explore.app import Explorer
from neardup.explore.http import RefusedError, Request, Response, read_fields, read_path

HOST = "127.0.0.1"
PORT = 7800
MOST_BODY = 1_000_000
_PORTS_TRIED = 100
_HIGHEST_PORT = 65_535
_FORM = "application/x-www-form-urlencoded"
_IDLE = 60.0  # seconds after which a connection that sends nothing is closed
_PATIENCE = 5.0  # seconds to finish the answers that have begun


class ExploreServer(ThreadingHTTPServer):
    """Listens on 127.0.0.1; `serve_forever` answers until another thread calls `shutdown`.

    Without a port, it takes 7800 or the next free one; 0 is any free one.
    """

    daemon_threads = True

    def __init__(self, explorer: Explorer, port: int | None = None) -> None:
        self.explorer = explorer
        self._answering = 0
        self._changed = threading.Condition()
        if port is not None and not 0 <= port <= _HIGHEST_PORT:
            raise SettingError(f"--port {port} must be from 0 to {_HIGHEST_PORT}")
        tried = range(PORT, PORT + _PORTS_TRIED) if port is None else (port,)
        for place, one in enumerate(tried, 1):
            try:
                super().__init__((HOST, one), _Handler)
            except OSError as error:
                if error.errno == errno.EADDRINUSE and place < len(tried):
                    continue
                raise _unusable(tried, error) from None
            return

    @property
    def address(self) -> str:
        """The address of the first page."""
        return f"http://{HOST}:{self.server_address[1]}{self.explorer.site.base}/"

    @contextmanager
    def answering(self) -> Iterator[None]:
        """While an answer is made, which `finish` waits for."""
        with self._changed:
            self._answering += 1
        try:
            yield
        finally:
            with self._changed:
                self._answering -= 1
                self._changed.notify_all()

    def finish(self) -> None:
        """Close the socket, and let the answers that have begun come to their end."""
        self.server_close()
        with self._changed:
            self._changed.wait_for(lambda: self._answering == 0, _PATIENCE)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print what went wrong in a connection, unless the browser has closed it."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            traceback.print_exc(file=sys.stderr)


def _unusable(ports: range | tuple[int, ...], error: OSError) -> NeardupError:
    if error.errno != errno.EADDRINUSE:
        return NeardupError(f"cannot listen on port {ports[0]} of {HOST}: {error.strerror}")
    if len(ports) == 1:
        return NeardupError(f"port {ports[0]} is in use; choose another --port, or 0 for any free")
    return NeardupError(
        f"all ports from {ports[0]} to {ports[-1]} are in use; use --port 0 for any free one"
    )


class _Handler(BaseHTTPRequestHandler):
    """One connection, which carries one request after the other."""

    server: ExploreServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "neardup", ""
    timeout = _IDLE
    # The head and the body in one packet; else the second waits for the acknowledgement of the
    # first, up to 40 ms.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        with self.server.answering():
            self._send(self._response())

    do_HEAD = do_POST = do_GET  # noqa: N815

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what http.server cannot read, and methods that are not ours, by a page too."""
        self.close_connection = True
        explorer = self.server.explorer
        if code == 501:
            response = explorer.respond(Request(self.command, "/", headers=self._headers()))
        else:
            sentence = f"This request cannot be read: {message or explain or code}."
            response = explorer.answer_to(RefusedError(int(code), sentence))
        self._send(response)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: who opens these pages sees them."""

    def _response(self) -> Response:
        try:
            return self.server.explorer.respond(self._request())
        except RefusedError as error:
            return self.server.explorer.answer_to(error)

    def _request(self) -> Request:
        path, _, query = self.path.partition("?")
        form = read_fields(self._body()) if self.command == "POST" else {}
        if self.command != "POST" and self._sends_a_body():
            self.close_connection = True  # nobody reads it
        if not path.startswith("/"):
            raise RefusedError(400, "The address must begin with a slash.")
        return Request(self.command, read_path(path), read_fields(query), self._headers(), form)

    def _headers(self) -> dict[str, str]:
        """Lower-case names; a header that comes twice has both values, which no check lets pass."""
        found: dict[str, str] = {}
        for name, value in getattr(self, "headers", {}).items():
            key = name.lower()
            found[key] = f"{found[key]}, {value}" if key in found else value
        return found

    def _sends_a_body(self) -> bool:
        return "Transfer-Encoding" in self.headers or self.headers.get("Content-Length", "0") != "0"

    def _body(self) -> str:
        headers = self._headers()
        self.close_connection, stays_open = True, not self.close_connection
        length = headers.get("content-length", "")
        if "transfer-encoding" in headers or not (length.isascii() and length.isdigit()):
            raise RefusedError(411, "A form must be sent with its length.")
        if len(length) > len(str(MOST_BODY)) or int(length) > MOST_BODY:
            raise RefusedError(413, f"A form may have up to {MOST_BODY:,} bytes.")
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise RefusedError(400, "The form ended early.")
        self.close_connection = not stays_open
        if headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
            raise RefusedError(415, f"A form must be sent as {_FORM}.")
        try:
            return body.decode("ascii")
        except UnicodeDecodeError:
            raise RefusedError(400, "A form must be percent-encoded.") from None

    def _send(self, response: Response) -> None:
        self.request_version = self.protocol_version  # HTTP/0.9 would leave out the headers
        self.send_response(response.status)
        for name, value in response.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(response.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)
        self.wfile.flush()
