"""Keys: who may do what with which indexes, and how they are stored."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from tests.service.running import PATIENCE, ROOT, Server, until

from neardup.service.keys import create_key, delete_key, hash_of

DOCUMENT = {"id": 1, "text": "one two three four"}
ROLES = ("read", "write", "admin")


class Call(NamedTuple):
    """A request, the least role that may make it, and the status of one who may."""

    role: str | None
    method: str
    path: str
    json: Any = None
    status: int = 200


# `news` exists in the service under test, with document 1; `none` does not.
CALLS = [
    Call(None, "GET", "/healthz"),
    Call(None, "GET", "/readyz"),
    Call(None, "GET", "/openapi.json"),
    Call(None, "GET", "/docs"),
    Call("read", "GET", "/metrics"),
    Call("read", "GET", "/v1/indexes"),
    Call("read", "GET", "/v1/indexes/news"),
    Call("read", "GET", "/v1/indexes/none", status=404),
    Call("read", "GET", "/v1/indexes/news/stats"),
    Call("read", "GET", "/v1/indexes/news/documents/1"),
    Call("read", "POST", "/v1/indexes/news/query", DOCUMENT),
    Call("read", "POST", "/v1/indexes/news/check?add=never", DOCUMENT),
    Call("read", "POST", "/v1/indexes/news/compare", {"a": {"text": "x"}, "b": {"text": "y"}}),
    Call("read", "POST", "/v1/fingerprint", {"texts": ["a b c"]}),
    Call("read", "POST", "/v1/compare", {"a": "x", "b": "y"}),
    Call("write", "POST", "/v1/indexes/news/check", DOCUMENT),
    Call("write", "POST", "/v1/indexes/news/check?add=new", DOCUMENT),
    Call("write", "POST", "/v1/indexes/news/check?add=always", DOCUMENT),
    Call("write", "POST", "/v1/indexes/news/check?create=true", DOCUMENT),
    Call("write", "POST", "/v1/indexes/news/documents", DOCUMENT),
    Call("write", "POST", "/v1/indexes/news/documents/delete", {"ids": ["none"]}),
    Call("write", "DELETE", "/v1/indexes/news/documents/none", status=404),
    Call("admin", "POST", "/v1/indexes/news-made/check?create=true", DOCUMENT),
    Call("admin", "POST", "/v1/indexes/news-made-2/documents?create=true", DOCUMENT),
    Call("admin", "POST", "/v1/indexes/news-made-3/check?create=true&add=never", DOCUMENT),
    Call("admin", "PUT", "/v1/indexes/news", {}),
    Call("admin", "DELETE", "/v1/indexes/none", status=404),
    Call("admin", "POST", "/v1/indexes/news/compact"),
    Call("admin", "POST", "/v1/indexes/news/expire"),
    Call("admin", "POST", "/v1/indexes/news/backup", {"name": ".."}, status=422),
    Call("admin", "GET", "/v1/jobs"),
    Call("admin", "GET", "/v1/jobs/none", status=404),
    Call("admin", "DELETE", "/v1/jobs/none", status=404),
    Call("admin", "GET", "/v1/jobs/none/files/x", status=404),
    Call("admin", "POST", "/v1/jobs", {"kind": "dedup", "inputs": ["../x"]}, status=422),
]


class Guarded(NamedTuple):
    server: Server
    path: Path
    keys: dict[str, str]

    def ask(self, key: str | None, call: Call) -> httpx.Response:
        headers = {} if key is None else {"Authorization": f"Bearer {self.keys.get(key, key)}"}
        return self.server.client.request(call.method, call.path, json=call.json, headers=headers)


@pytest.fixture(scope="module")
def guarded(start_for_module: Any, tmp_path_factory: pytest.TempPathFactory) -> Guarded:
    """A service with a key for each role, and some that are limited to indexes."""
    path = tmp_path_factory.mktemp("keys") / "keys.toml"
    keys = {role: create_key(path, role, role) for role in ROLES}
    keys["news"] = create_key(path, "news-admin", "admin", ["news*", "sport"])
    keys["other"] = create_key(path, "other-read", "read", ["other"])
    server = start_for_module("--keys", str(path))
    found = Guarded(server, path, keys)
    found.ask("admin", Call("admin", "PUT", "/v1/indexes/news", {})).raise_for_status()
    found.ask("admin", Call("admin", "PUT", "/v1/indexes/other", {})).raise_for_status()
    found.ask("admin", CALLS[19]).raise_for_status()
    return found


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.method} {call.path}")
def test_roles(guarded, call):
    """Each role may do what it may and nothing else, and nobody anything without a key."""
    needed = -1 if call.role is None else ROLES.index(call.role)
    without = guarded.ask(None, call)
    assert without.status_code == (401 if needed >= 0 else call.status)
    if needed >= 0:
        assert without.json()["code"] == "unauthorized"
        assert "Authorization: Bearer KEY" in without.json()["detail"]
        assert without.headers["www-authenticate"].startswith("Bearer")
    for place, role in enumerate(ROLES):
        answer = guarded.ask(role, call)
        if place < needed:
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), role
            assert f"the key {role} has the role {role}" in answer.json()["detail"]
            assert "is needed" in answer.json()["detail"]
        else:
            assert answer.status_code == call.status, (role, answer.text)


def test_every_route_is_in_the_table(guarded):
    """An endpoint that is added must be added here; the pages are in test_explore.py."""
    from neardup.service.endpoints.table import ENDPOINTS

    for endpoint in ENDPOINTS:
        if endpoint.pages:
            continue
        assert any(
            call.method == endpoint.method and _matches(endpoint.path, call.path.partition("?")[0])
            for call in CALLS
        ), f"{endpoint.method} {endpoint.path}"


def _matches(pattern: str, path: str) -> bool:
    ours, theirs = pattern.split("/"), path.split("/")
    return len(ours) == len(theirs) and all(
        a == b or a.startswith("{") for a, b in zip(ours, theirs, strict=True)
    )


@pytest.mark.parametrize(
    "call", [call for call in CALLS if "/indexes/n" in call.path], ids=lambda call: call.path
)
def test_scopes(guarded, call):
    """A key for other indexes is refused, also for indexes that do not exist."""
    answer = guarded.ask("other", call)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert "does not allow the index" in answer.json()["detail"]
    if "/news" in call.path:
        assert guarded.ask("news", call).status_code == call.status


def test_a_key_sees_only_its_indexes(guarded):
    listed = Call("read", "GET", "/v1/indexes")
    names = {
        key: {each["name"] for each in guarded.ask(key, listed).json()["indexes"]}
        for key in ("news", "other", "read")
    }
    assert names["other"] == {"other"}
    assert all(name.startswith("news") for name in names["news"])
    assert names["read"] >= names["news"] | {"other"}


def test_a_key_for_some_indexes_gets_no_metrics(guarded):
    answer = guarded.ask("news", Call("read", "GET", "/metrics"))
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


def test_a_key_for_some_indexes_cannot_reach_others_by_jobs(guarded):
    """A job reads every file of the data folder, and indexes by `against`."""
    (guarded.server.data / "mine.jsonl").write_text('{"id": 1, "text": "one two three four"}\n')
    request = {"kind": "dedup", "inputs": ["mine.jsonl"], "against": ["indexes/other"]}
    for call in (
        Call("admin", "POST", "/v1/jobs", request),
        Call("admin", "POST", "/v1/jobs", {"kind": "dedup", "inputs": ["mine.jsonl"]}),
        Call("admin", "GET", "/v1/jobs"),
        Call("admin", "GET", "/v1/jobs/none"),
        Call("admin", "DELETE", "/v1/jobs/none"),
        Call("admin", "GET", "/v1/jobs/none/files/x"),
    ):
        answer = guarded.ask("news", call)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), call


@pytest.mark.parametrize(
    "given",
    [
        "",
        "Bearer",
        "Bearer nonsense",
        "Bearer nd_0123456789abcdef_" + "0" * 64,
        "Basic YWRtaW46YWRtaW4=",
        "Bearer {admin}x",
        "Bearer {admin} {admin}",
        "{admin}",
        "Bearer \u00fc",
        "Bearer " + "a" * 10_000,
        "Bearer {public}",
        "Bearer {hash}",
    ],
    ids=lambda given: given[:30],
)
def test_wrong_keys(guarded, given):
    """The hash that is stored is no key, and neither is a part of a key."""
    admin = guarded.keys["admin"]
    value = given.format(admin=admin, public=admin[:19], hash=hash_of(admin))
    answer = guarded.server.client.get("/v1/indexes", headers={"Authorization": value.encode()})
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
    assert admin not in answer.text


@pytest.mark.parametrize("value", ["bearer {admin}", "BEARER {admin}", "Bearer   {admin}"])
def test_the_scheme_is_named_in_any_case(guarded, value):
    headers = {"Authorization": value.format(**guarded.keys)}
    assert guarded.server.client.get("/v1/indexes", headers=headers).status_code == 200


def test_with_keys_any_host_and_origin_are_served(guarded):
    headers = {"Authorization": f"Bearer {guarded.keys['read']}", "Host": "search.example.org"}
    headers["Origin"] = "https://example.org"
    answer = guarded.server.client.get("/v1/indexes", headers=headers)
    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers


def test_keys_are_made_and_revoked_while_the_service_runs(guarded):
    """In force within a second or so, in both workers."""
    call = Call("read", "GET", "/v1/indexes")
    key = create_key(guarded.path, "short", "read")

    def statuses(_: object = None) -> set[int]:
        found = set()
        for _ in range(6):  # over new connections, which both workers serve
            headers = {"Authorization": f"Bearer {key}"}
            found.add(httpx.get(guarded.server.url + call.path, headers=headers).status_code)
        return found

    until(lambda: statuses() == {200}, "a new key", 10)
    delete_key(guarded.path, "short")
    until(lambda: statuses() == {401}, "the end of a key", 10)
    assert guarded.ask("admin", call).status_code == 200


def test_a_broken_file_locks_nobody_out_and_lets_nobody_in(guarded):
    good = guarded.path.read_bytes()
    call = Call("read", "GET", "/v1/indexes")
    try:
        guarded.path.write_text("[[key]\nbroken")
        until(
            lambda: (
                guarded.ask("admin", call).status_code == 200
                and any('"event":"keys"' in line for line in guarded.server.log)
            ),
            "a line in the log",
            10,
        )
        assert guarded.ask("nonsense", call).status_code == 401
    finally:
        guarded.path.write_bytes(good)


def test_only_hashes_are_stored(guarded):
    content = guarded.path.read_text()
    for key in guarded.keys.values():
        assert key not in content
        assert key.rpartition("_")[2] not in content
        assert hash_of(key) in content
    assert stat.S_IMODE(os.stat(guarded.path).st_mode) == 0o600


def test_no_key_is_logged(guarded):
    guarded.ask("admin", CALLS[5])
    for key in guarded.keys.values():
        assert key.rpartition("_")[2] not in guarded.server.said()


def neardup(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "neardup", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_the_command(tmp_path):
    path = tmp_path / "keys.toml"
    made = neardup("keys", "create", str(path), "crawler", "--role", "write", "--index", "news*")
    assert made.returncode == 0, made.stderr
    key = made.stdout.strip()
    assert key.startswith("nd_")
    assert len(key) == 3 + 16 + 1 + 64
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert key not in path.read_text()
    assert neardup("keys", "create", str(path), "boss", "--role", "admin").returncode == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    listed = neardup("keys", "list", str(path))
    assert listed.returncode == 0
    assert [line.split() for line in listed.stdout.splitlines()] == [
        ["crawler", "write", "news*"],
        ["boss", "admin", "*"],
    ]
    gone = neardup("keys", "delete", str(path), "crawler")
    assert (gone.returncode, gone.stdout) == (0, "the key crawler is revoked\n")
    assert "crawler" not in neardup("keys", "list", str(path)).stdout


def test_mistakes_in_the_command(tmp_path):
    path = tmp_path / "keys.toml"
    assert neardup("keys", "create", str(path), "a", "--role", "admin").returncode == 0
    before = path.read_bytes()
    for arguments, said in (
        (("create", str(path), "a", "--role", "read"), "choose another name"),
        (("create", str(path), "b", "--role", "king"), "read, write or admin"),
        (("create", str(path), "b c", "--role", "read"), "letters"),
        (("create", str(path), "b", "--role", "read", "--index", "a b"), "patterns"),
        (("create", str(path), "b"), "--role"),
        (("delete", str(path), "b"), "it has a"),
        (("list", str(tmp_path / "none.toml")), "cannot be read"),
        (("delete", str(tmp_path / "none.toml"), "a"), "cannot be read"),
    ):
        found = neardup("keys", *arguments)
        assert found.returncode in (1, 2), arguments
        assert said in found.stderr, arguments
        assert "Traceback" not in found.stderr
    assert path.read_bytes() == before


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_other_machines_need_keys(tmp_path, host):
    found = neardup("serve", str(tmp_path / "data"), "--host", host, "--port", "0")
    assert found.returncode in (1, 2)
    assert "can be reached by other machines" in found.stderr
    assert "neardup keys create keys.toml NAME --role admin" in found.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read"),
        ("no toml [", "not valid TOML"),
        ('[[key]]\nname = "a"\nrole = "king"\n', "read, write or admin"),
        ("users = 5\n", "[[key]]"),
    ],
)
def test_bad_files_of_keys_are_refused_at_the_start(tmp_path, content, said):
    path = tmp_path / "keys.toml"
    if content is not None:
        path.write_text(content)
    found = neardup("serve", str(tmp_path / "data"), "--port", "0", "--keys", str(path))
    assert found.returncode in (1, 2)
    assert said in found.stderr
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:7700"},
        {"Host": "localhost.evil.example"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "evil.example/localhost"},
        {"Host": ""},
        {"Host": "192.168.0.1"},
        {"Host": "[::2]"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost.evil.example"},
        {"Origin": "http://evil.example#@localhost"},
        {"Origin": ""},
    ],
    ids=str,
)
def test_without_keys_pages_of_other_sites_are_refused(server, headers):
    """DNS rebinding shows in the Host, a page of another site in the Origin."""
    for method, path in (("GET", "/v1/indexes"), ("POST", "/v1/fingerprint"), ("GET", "/metrics")):
        body = {"texts": []} if method == "POST" else None
        answer = server.client.request(method, path, json=body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
        assert "--keys" in answer.json()["detail"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "localhost"},
        {"Host": "localhost:7700"},
        {"Host": "LOCALHOST"},
        {"Host": "127.0.0.1:1"},
        {"Host": "[::1]:7700"},
        {"Origin": "http://localhost:3000"},
        {"Origin": "http://127.0.0.1"},
    ],
    ids=str,
)
def test_without_keys_this_machine_is_served(server, headers):
    assert server.client.get("/v1/indexes", headers=headers).status_code == 200
