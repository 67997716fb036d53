"""The explorer without a server: routes, headers, who may ask, and pages about errors."""

import re

import pytest

from neardup.errors import InputError, NeardupError, SettingError
from neardup.explore import app
from neardup.explore.app import Explorer, Route
from neardup.explore.http import RefusedError, Request, Response
from neardup.explore.site import Site
from neardup.explore.static_files import static_files

HOST = "127.0.0.1:7800"
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def get(explorer, path, host=HOST, **query):
    given = {name: [value] for name, value in query.items()}
    return explorer.respond(Request("GET", path, given, {"host": host}))


def post(explorer, token=None, path="/change", host=HOST, **headers):
    form = {"token": [explorer.site.token if token is None else token]}
    return explorer.respond(Request("POST", path, {}, {"host": host, **headers}, form))


def page_of(site, request):
    return Response.of(f"{request.method} {request.argument}")


@pytest.fixture
def changeable(monkeypatch):
    """An explorer with a page that takes forms."""
    routes = (*app.ROUTES, Route(("POST",), "/change", page_of), Route(("GET",), "/a/*", page_of))
    monkeypatch.setattr(app, "ROUTES", routes)
    return Explorer(None)


@pytest.mark.parametrize("path", ["/", "/nothing", "/static/base.css", "/clusters/x/y"])
def test_every_answer_has_the_headers_of_security(path):
    answer = get(Explorer(None), path)
    assert answer.header("Content-Security-Policy") == POLICY
    assert answer.header("X-Content-Type-Options") == "nosniff"
    assert answer.header("Referrer-Policy") == "same-origin"
    assert (answer.header("Cache-Control") == "no-store") == (path != "/static/base.css")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:1", "[::1]:7800", "LOCALHOST"])
def test_names_of_this_machine_are_answered(host):
    assert get(Explorer(None), "/nothing", host=host).status == 404


@pytest.mark.parametrize(
    "host",
    [
        *(
            "",
            "evil.example",
            "evil.example:7800",
            "127.0.0.1.evil.example",
            "localhost.",
            "0.0.0.0",
        ),
        *("127.0.0.1@evil.example", "localhost, evil.example", "[::1", "localhost:x", "::1"),
    ],
)
def test_other_names_are_refused(host):
    answer = get(Explorer(None), "/nothing", host=host)
    assert answer.status == 403
    assert b"only to 127.0.0.1 and localhost" in answer.body


def test_a_server_with_its_own_rules_may_take_other_names():
    assert get(Explorer(None, loopback=False), "/nothing", host="data.example").status == 404


def test_a_form_of_our_own_is_taken(changeable):
    assert post(changeable, origin=f"http://{HOST}").status == 200
    assert post(changeable, referer=f"http://{HOST}/review?x=1").status == 200
    assert post(changeable, host="localhost:80", origin="http://localhost:80").status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "null"},
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:7801"},
        {"origin": f"http://{HOST}.evil.example"},
        {"origin": f"file://{HOST}"},
        {"origin": "http://[::1"},
        {"referer": f"http://evil.example/?http://{HOST}/"},
        {"origin": "http://evil.example", "referer": f"http://{HOST}/"},
    ],
)
def test_a_form_of_another_site_is_refused(changeable, headers):
    answer = post(changeable, **headers)
    assert answer.status == 403
    assert b"not from these pages" in answer.body


@pytest.mark.parametrize("token", ["", "x", "é"])
def test_a_form_without_the_token_is_refused(changeable, token):
    assert post(changeable, token=token, origin=f"http://{HOST}").status == 403


def test_two_explorers_have_two_tokens_unless_they_share_one():
    assert Explorer(None).site.token != Explorer(None).site.token
    assert Explorer(None, token="one").site.token == "one"


def test_read_only_refuses_every_form(monkeypatch, changeable):
    read_only = Explorer(None, read_only=True)
    for path in ("/change", "/", "/nothing"):
        answer = post(read_only, path=path, origin=f"http://{HOST}")
        assert answer.status == 403
        assert b"read-only" in answer.body


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "get", ""])
def test_other_methods_are_refused(method):
    assert Explorer(None).respond(Request(method, "/", headers={"host": HOST})).status == 405


def test_a_page_takes_its_own_methods(changeable):
    answer = get(changeable, "/change")
    assert answer.status == 405
    assert b"takes POST alone" in answer.body
    assert answer.header("Allow") == "POST"
    assert post(changeable, path="/a/x", origin=f"http://{HOST}").status == 405


def test_the_rest_of_a_path_is_the_argument(changeable):
    assert get(changeable, "/a/b/../c d").body == b"GET b/../c d"
    assert get(changeable, "/a/").body == b"GET "
    assert get(changeable, "/a").status == 404


def test_head_is_answered_as_get(changeable):
    answer = changeable.respond(Request("HEAD", "/a/x", headers={"host": HOST}))
    assert answer.body == b"HEAD x"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (RefusedError(403, "Said <b>so</b>."), 403),
        (SettingError("Said <b>so</b>."), 400),
        (InputError("Said <b>so</b>."), 404),
        (NeardupError("Said <b>so</b>."), 500),
    ],
)
def test_an_error_is_a_page_with_its_sentence(monkeypatch, error, status):
    def failing(site, request):
        raise error

    monkeypatch.setattr(app, "ROUTES", (Route(("GET",), "/", failing),))
    answer = get(Explorer(None), "/")
    assert answer.status == status
    assert b"Said &lt;b&gt;so&lt;/b&gt;." in answer.body


def test_a_bug_shows_no_traceback_but_prints_it(monkeypatch, capsys):
    def failing(site, request):
        raise ZeroDivisionError("secret of the program")

    monkeypatch.setattr(app, "ROUTES", (Route(("GET",), "/", failing),))
    answer = get(Explorer(None), "/")
    assert answer.status == 500
    assert b"secret" not in answer.body
    assert b"Traceback" not in answer.body
    assert "ZeroDivisionError: secret of the program" in capsys.readouterr().err


def test_without_a_run_only_the_laboratory_is_linked():
    answer = get(Explorer(None), "/")
    assert (answer.status, answer.header("Location")) == (303, "/lab")
    answer = get(Explorer(None), "/clusters")
    assert answer.status == 404
    assert b"There is no run here" in answer.body
    assert b'href="/lab"' in answer.body
    assert b'href="/review"' not in answer.body


@pytest.mark.parametrize(
    "path",
    [
        *("/static/", "/static/../app.py", "/static/x/../base.css", "/static//base.css/"),
        *("/static/a/b/base.css", "/static/__init__.py", "/static/base.css\0", "/static/none.js"),
    ],
)
def test_only_known_files_are_served(path):
    assert get(Explorer(None), path).status == 404


def test_static_files_are_kept_by_their_version():
    explorer = Explorer(None)
    address = explorer.site.static("explore.js")
    answer = get(explorer, address)
    assert answer.status == 200
    assert answer.header("Content-Type") == "text/javascript; charset=utf-8"
    assert answer.header("Cache-Control") == "public, max-age=31536000, immutable"
    for old in ("/static/explore.js", "/static/0123456789abcdef/explore.js"):
        assert get(explorer, old).header("Cache-Control") == "no-cache"
        assert get(explorer, old).body == answer.body


def test_the_files_that_pages_name_are_there():
    contents = static_files().contents
    assert {"base.css", "explore.css", "explore.js", "theme.js", "threshold.js", "icon.svg"} <= set(
        contents
    )
    for name, content in contents.items():
        if name.endswith(".js"):
            for imported in re.findall(rb'from "\./([\w.-]+)"', content):
                assert imported.decode() in contents, f"{name} imports it"
        if name.endswith(".css"):
            assert b"@import" not in content
            assert b"url(" not in content.replace(b"url(#", b"")


def test_mounted_below_a_base_every_address_begins_with_it():
    explorer = Explorer(None, base="/runs/7/")
    body = get(explorer, "/nothing").body.decode()
    addresses = re.findall(r'(?:href|src|action)="([^"]*)"', body)
    assert len(addresses) > 5
    assert all(address.startswith(("/runs/7/", "#")) for address in addresses), addresses


def site(base=""):
    return Site(None, base, False, "", "token", "title", static_files())


@pytest.mark.parametrize(
    ("id", "address"),
    [
        ("a/b", "/documents/a%2Fb"),
        ("a b&c?d#e%", "/documents/a%20b%26c%3Fd%23e%25"),
        ("昨", "/documents/%E6%98%A8"),
        (12, "/documents/12"),
        (".", "/documents/?id=."),
        ("..", "/documents/?id=.."),
        ("", "/documents/?id="),
        ("../x", "/documents/..%2Fx"),
        ('"><script>', "/documents/%22%3E%3Cscript%3E"),
    ],
)
def test_the_address_of_a_document(id, address):
    assert site().document(id) == address
    assert site("/b").document(id, is_other=True) == "/b" + address.replace("documents", "others")


def test_addresses_leave_out_what_is_not_given():
    made = site("/b").url("/clusters", search="a b", page=None, chains=True, undecided=False, n=0)
    assert made == "/b/clusters?search=a+b&chains=1&n=0"
    assert site().url("/x", place=[1, 2], more=()) == "/x?place=1&place=2"
