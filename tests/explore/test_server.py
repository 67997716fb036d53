"""The server of the explorer, over real connections."""

import http.client
import socket
import threading
from urllib.parse import urlencode

import pytest

from neardup.errors import NeardupError, SettingError
from neardup.explore import app, server as server_module
from neardup.explore.app import Explorer, Route
from neardup.explore.http import Response
from neardup.explore.server import MOST_BODY, ExploreServer

FORM = "application/x-www-form-urlencoded"


def echo(site, request):
    return Response.of(f"{request.path} {dict(request.query)} {dict(request.form)}")


@pytest.fixture
def server(monkeypatch):
    routes = (Route(("GET",), "/echo/*", echo), Route(("POST",), "/echo", echo), *app.ROUTES)
    monkeypatch.setattr(app, "ROUTES", routes)
    with ExploreServer(Explorer(None, token="t"), 0) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def connection(server):
    opened = http.client.HTTPConnection("127.0.0.1", server.server_address[1])
    yield opened
    opened.close()


def asked(connection, method, path, body=None, **headers):
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    return answer, answer.read()


def raw(server, sent):
    """What a server answers to these bytes, until it closes the connection."""
    with socket.create_connection(server.server_address) as link:
        link.sendall(sent)
        link.shutdown(socket.SHUT_WR)
        parts = []
        while part := link.recv(65_536):
            parts.append(part)
    return b"".join(parts)


def test_it_listens_on_this_machine_alone(server):
    assert server.server_address[0] == "127.0.0.1"
    assert server.address == f"http://127.0.0.1:{server.server_address[1]}/"


def test_a_connection_carries_many_requests(connection):
    for _ in range(3):
        answer, body = asked(connection, "GET", "/echo/a%2Fb?c=%20d&c=e")
        assert answer.status == 200
        assert body == b"/echo/a/b {'c': [' d', 'e']} {}"
        assert answer.version == 11
        assert answer.headers["Connection"] is None
        assert "Python" not in answer.headers["Server"]


def test_head_has_the_length_but_no_body(connection):
    whole, body = asked(connection, "GET", "/static/base.css")
    head, nothing = asked(connection, "HEAD", "/static/base.css")
    assert nothing == b""
    assert head.status == 200
    assert head.headers["Content-Length"] == whole.headers["Content-Length"] == str(len(body))


def test_a_form_is_read(server, connection):
    host = f"127.0.0.1:{server.server_address[1]}"
    headers = {"Content-Type": FORM, "Origin": f"http://{host}"}
    body = urlencode({"token": "t", "why": "ü &"})
    for _ in range(2):
        answer, said = asked(connection, "POST", "/echo", body, **headers)
        assert answer.status == 200
        assert "'why': ['ü &']" in said.decode()
    answer, _ = asked(connection, "POST", "/echo", body, **{**headers, "Origin": "http://evil"})
    assert answer.status == 403


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"Content-Length": str(MOST_BODY + 1)}, b"", 413),
        ({"Content-Length": "9" * 30}, b"", 413),
        ({"Content-Length": "-1"}, b"", 411),
        ({"Content-Length": "x"}, b"", 411),
        ({}, b"", 411),
        ({"Transfer-Encoding": "chunked"}, b"0\r\n\r\n", 411),
        ({"Transfer-Encoding": "chunked", "Content-Length": "5"}, b"0\r\n\r\n", 411),
        ({"Content-Length": "9"}, b"a=1", 400),
        ({"Content-Length": "3", "Content-Type": "text/plain"}, b"a=1", 415),
        ({"Content-Length": "4"}, b"a=\xff1", 400),
    ],
)
def test_bodies_that_are_not_forms_are_refused(server, headers, body, status):
    lines = {"Host": "localhost", "Content-Type": FORM, **headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    answer = raw(server, f"POST /echo HTTP/1.1\r\n{head}\r\n".encode() + body)
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert answer.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize("twice", ["Host: evil.example", "Host: localhost"])
def test_a_host_that_is_given_twice_is_refused(server, twice):
    answer = raw(server, f"GET /echo/ HTTP/1.1\r\nHost: localhost\r\n{twice}\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 403 ")


def test_a_length_that_is_given_twice_is_refused(server):
    both = "Content-Length: 3\r\nContent-Length: 4\r\n"
    sent = f"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: {FORM}\r\n{both}\r\na=1"
    assert raw(server, sent.encode()).startswith(b"HTTP/1.1 411 ")


def test_a_body_that_nobody_reads_is_not_taken_for_a_request(server):
    sent = b"GET /echo/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40\r\n\r\n"
    answer = raw(server, sent + b"GET /echo/y HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert answer.count(b"HTTP/1.1 200") == 1
    assert b"/echo/y" not in answer


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET /echo/x\r\n\r\n", b"403"),  # HTTP/0.9 has no Host
        (b"PUT / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"405"),
        (b"FOO / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"405"),
        (b"FOO / HTTP/1.1\r\nHost: evil\r\n\r\n", b"403"),
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/9.9\r\n\r\n", b"505"),
        (b"GET http://localhost/echo/x HTTP/1.1\r\nHost: localhost\r\n\r\n", b"400"),
        (b"GET /echo/%ff HTTP/1.1\r\nHost: localhost\r\n\r\n", b"400"),
        (b"GET /echo/?a=%ff HTTP/1.1\r\nHost: localhost\r\n\r\n", b"400"),
        (b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", b"414"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 200 + b"\r\n", b"431"),
    ],
)
def test_what_is_no_request_of_ours_gets_a_page_with_a_sentence(server, sent, status):
    answer = raw(server, sent)
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert b"Content-Security-Policy: default-src 'none'" in answer
    assert b"<h1>" in answer
    assert b"Traceback" not in answer


def test_a_browser_that_goes_away_is_no_error(server, capfd):
    with socket.create_connection(server.server_address) as link:
        link.sendall(b"GET /static/base.css HTTP/1.1\r\nHost: localhost\r\n")
    asked(http.client.HTTPConnection("127.0.0.1", server.server_address[1]), "GET", "/echo/")
    assert "Traceback" not in capfd.readouterr().err


def test_finishing_waits_for_an_answer_that_has_begun(monkeypatch):
    begun, go_on = threading.Event(), threading.Event()

    def slow(site, request):
        begun.set()
        go_on.wait()
        return Response.of("done")

    monkeypatch.setattr(app, "ROUTES", (Route(("GET",), "/", slow),))
    running = ExploreServer(Explorer(None), 0)
    serving = threading.Thread(target=running.serve_forever, args=(0.01,))
    serving.start()
    with socket.create_connection(running.server_address) as link:
        link.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        begun.wait()
        running.shutdown()
        serving.join()
        finishing = threading.Thread(target=running.finish)
        finishing.start()
        assert finishing.is_alive()
        go_on.set()
        finishing.join()
        assert link.recv(15) == b"HTTP/1.1 200 OK"


def test_the_next_free_port_is_taken(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setattr(server_module, "PORT", port)
        with ExploreServer(Explorer(None)) as running:
            assert port < running.server_address[1] < port + 100
        with pytest.raises(NeardupError, match=f"port {port} is in use; choose another --port"):
            ExploreServer(Explorer(None), port)


@pytest.mark.parametrize("port", [-1, 65_536, 10**20])
def test_a_port_that_does_not_exist_is_refused(port):
    with pytest.raises(SettingError, match="must be from 0 to 65535"):
        ExploreServer(Explorer(None), port)
