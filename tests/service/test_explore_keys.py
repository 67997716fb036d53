"""The pages under /explore with keys: the password of a browser, roles, signatures."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import httpx
import pytest
from tests.service.exploring import POLICY, decisions, dedup, token_of, words_of
from tests.service.running import Server

from neardup.service.endpoints.table import ENDPOINTS
from neardup.service.keys import create_key


class Guarded(NamedTuple):
    server: Server
    keys: dict[str, str]
    job: str

    def auth(self, key: str | None) -> Any:
        return None if key is None else ("anyone", self.keys.get(key, key))

    def get(self, key: str | None, path: str) -> httpx.Response:
        return self.server.client.get(path, auth=self.auth(key))


@pytest.fixture(scope="module")
def guarded(start_for_module: Any, tmp_path_factory: pytest.TempPathFactory) -> Guarded:
    path = tmp_path_factory.mktemp("keys") / "keys.toml"
    keys = {role: create_key(path, f"the-{role}", role) for role in ("read", "write", "admin")}
    keys["few"] = create_key(path, "few", "admin", ["news*"])
    server = start_for_module("--keys", str(path))
    headers = {"Authorization": f"Bearer {keys['admin']}"}
    with httpx.Client(base_url=server.url, timeout=60, headers=headers) as client:
        for name in ("news", "other"):
            client.put(f"/v1/indexes/{name}", json={}).raise_for_status()
        job = dedup(client, server.data)
    return Guarded(server, keys, job)


PAGES = ["", "lab", "nothing", "indexes/news", "jobs/x/"]


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("key", [None, "wrong", "nd_0123456789abcdef_" + "0" * 64])
def test_a_browser_is_asked_for_a_key(guarded, path, key):
    answer = guarded.get(key, f"/explore/{path}")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Basic realm="neardup", charset="UTF-8"'
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"].startswith(POLICY)
    assert "the key as the password" in answer.text


def test_every_page_but_the_stylesheets_needs_a_key():
    pages = [endpoint for endpoint in ENDPOINTS if endpoint.pages]
    open_ones = {endpoint.path for endpoint in pages if endpoint.role is None}
    assert open_ones == {"/explore", "/explore/static/{name:path}"}
    assert all(endpoint.path.startswith("/explore") for endpoint in pages)


def test_stylesheets_need_no_key(guarded):
    assert guarded.get(None, "/explore/static/base.css").status_code == 200
    assert guarded.get(None, "/explore/static/../keys.toml").status_code in (401, 404)


def test_programs_are_asked_for_a_bearer(guarded):
    """The password is for the pages alone: no other site can use it through a browser."""
    answer = guarded.get("admin", "/v1/indexes")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    bearer = {"Authorization": f"Bearer {guarded.keys['read']}"}
    assert guarded.server.client.get("/explore/", headers=bearer).status_code == 200


def test_a_key_sees_its_indexes(guarded):
    page = guarded.get("few", "/explore/").text
    assert "/explore/indexes/news" in page
    assert "other" not in words_of(page)
    assert guarded.job not in page
    assert "keys for all indexes alone" in page
    assert guarded.get("few", "/explore/indexes/news").status_code == 200
    for path in ("indexes/other", "indexes/other/documents/1", f"jobs/{guarded.job}/", "jobs/x/"):
        answer = guarded.get("few", f"/explore/{path}")
        assert answer.status_code == 403, path
        assert "use another key" in answer.text or "use a key for all indexes" in answer.text


def decide_as(guarded: Guarded, key: str, token_key: str | None = None) -> httpx.Response:
    """Decide with a key, with a token of its own or of another key."""
    base = f"/explore/jobs/{guarded.job}"
    page = guarded.get(token_key or key, f"{base}/compare?a=a&b=b").text
    token = re.search(r'name="token" value="([^"]+)"', page)
    form = {"token": token[1] if token else "", "says": "same", "documents": ["0", "1"]}
    return guarded.server.client.post(
        f"{base}/decisions",
        data=form,
        auth=guarded.auth(key),
        headers={"origin": guarded.server.url, "cookie": "neardup_reviewer=somebody"},
    )


def test_who_may_read_cannot_decide(guarded):
    base = f"/explore/jobs/{guarded.job}"
    page = guarded.get("read", f"{base}/compare?a=a&b=b")
    assert page.status_code == 200
    assert 'name="says"' not in page.text
    assert "read-only" in page.text
    for token_key in ("read", "write"):
        assert decide_as(guarded, "read", token_key).status_code == 403
    # With the token of a page that asks, too.
    token = token_of(guarded.get("read", "/explore/indexes/news").text)
    answer = guarded.server.client.post(
        f"{base}/decisions",
        data={"token": token, "says": "same", "documents": ["0", "1"]},
        auth=guarded.auth("read"),
        headers={"origin": guarded.server.url},
    )
    assert answer.status_code == 403
    assert not (guarded.server.data / "jobs" / guarded.job / "result" / "decisions.jsonl").exists()


def test_who_may_write_decides_in_the_name_of_the_key(guarded):
    assert decide_as(guarded, "write", "admin").status_code == 403  # the token of another key
    for key in ("write", "admin"):
        assert decide_as(guarded, key).status_code == 303
    stored = decisions(guarded.server.data, guarded.job)
    assert [one["by"] for one in stored] == ["the-write", "the-admin"]
    base = f"/explore/jobs/{guarded.job}"
    page = guarded.get("write", f"{base}/review").text
    assert "the-write" in page
    assert "/reviewer" not in page
    form = {"token": token_of(guarded.get("write", f"{base}/decisions").text), "name": "eve"}
    renamed = guarded.server.client.post(
        f"{base}/reviewer",
        data=form,
        auth=guarded.auth("write"),
        headers={"origin": guarded.server.url},
    )
    assert renamed.status_code == 403
