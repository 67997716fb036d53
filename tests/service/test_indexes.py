"""Create, list, describe and delete indexes."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from tests.service.conftest import make_index
from tests.service.running import texts

import neardup as nd

DEFAULTS = {
    "features": "word:3",
    "weights": "set",
    "bits": 64,
    "hash": "nd1",
    "tie": ">0",
    "projection": None,
    "text": None,
    "similarity": "jaccard",
    "threshold": 0.8,
    "complete": False,
    "ttl": None,
    "max_distance": None,
    "plan": None,
    "store_text": False,
    "store_features": True,
}


def test_defaults(client):
    made = client.put("/v1/indexes/defaults")
    assert made.status_code == 201
    expected = {
        "name": "defaults",
        "documents": 0,
        "scheme": "nd1/word:3/set/64",
        "finds": made.json()["finds"],
        "settings": DEFAULTS,
    }
    assert made.json() == expected
    assert "jaccard ≥ 0.8" in expected["finds"]
    assert client.get("/v1/indexes/defaults").json() == expected
    assert expected in client.get("/v1/indexes").json()["indexes"]


@pytest.mark.parametrize(
    "settings",
    [
        {"threshold": 0.5, "complete": True},
        {"similarity": "containment", "threshold": 0.5},
        {"similarity": "inclusion", "weights": "count"},
        {"features": "char:5", "weights": "count", "threshold": 1},
        {"bits": 128, "hash": "xxh3", "tie": ">=0"},
        {"max_distance": 3},
        {"plan": "blocks:3", "store_text": True},
        {"ttl": "30d", "store_text": True},
        {"ttl": 3600},
        {"features": "terms"},
        {"text": "name*2+city"},
    ],
    ids=str,
)
def test_settings(client, settings):
    """Each is used, told, and the same as that of `nd.Index`."""
    path = make_index(client, **settings)
    found = client.get(path).json()["settings"]
    seconds = {"30d": 30 * 86400.0, 3600: 3600.0}
    for name, value in settings.items():
        assert found[name] == (seconds[value] if name == "ttl" else value)
    again = client.put(path, json=settings)
    assert (again.status_code, again.json()["settings"]) == (200, found)
    assert client.put(path, json=found).status_code == 200, "its own settings are the same settings"


def test_weights_from_a_file_of_the_data_folder(client, server):
    texts_file = server.data / "corpus.jsonl"
    texts_file.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts(50)))
    (server.data / "weights").mkdir()
    command = [sys.executable, "-m", "neardup", "idf", "--features", "word:3", str(texts_file)]
    subprocess.run([*command, "-o", str(server.data / "weights" / "idf.parquet")], check=True)
    path = make_index(client, weights="tfidf", idf="weights/idf.parquet")
    assert "/idf:" in client.get(path).json()["scheme"]
    assert client.post(f"{path}/check", json={"id": 1, "text": texts(1)[0]}).json()["is_new"]
    found = client.post(f"{path}/query", json={"text": texts(1)[0]}).json()["matches"]
    assert [match["id"] for match in found] == [1]
    without = client.put("/v1/indexes/none", json={"weights": "tfidf"})
    assert (without.status_code, without.json()["code"]) == (422, "invalid_setting")


def test_null_is_the_default(client):
    path = make_index(client, **dict.fromkeys(DEFAULTS, None))
    assert client.get(path).json()["settings"] == DEFAULTS


def test_other_settings_are_refused_with_both_named(client, index):
    client.post(f"{index}/documents", json={"id": 1, "text": "a b c d"})
    for settings, has, asked in (
        ({"threshold": 0.7}, "threshold 0.8", "0.7"),
        ({"features": "char:4"}, "nd1/word:3/set/64", "nd1/char:4/set/64"),
        ({"store_text": True}, "store_text False", "True"),
        ({"max_distance": 3}, "0.8", "None"),
        ({"ttl": "1d"}, "ttl None", "86400"),
    ):
        answer = client.put(index, json=settings)
        assert answer.status_code == 409
        assert answer.json()["code"] == "settings_differ"
        detail = answer.json()["detail"]
        assert has in detail
        assert asked in detail
        assert "delete the index" in detail
    assert client.get(index).json()["documents"] == 1


def test_delete(client, index, server):
    client.post(f"{index}/documents", json={"id": 1, "text": "a b c d"})
    name = index.rpartition("/")[2]
    assert client.delete(index).json() == {"name": name, "deleted": True}
    assert not (server.data / "indexes" / name).exists()
    for method in ("GET", "DELETE"):
        answer = client.request(method, index)
        assert (answer.status_code, answer.json()["code"]) == (404, "index_not_found")
    assert name not in [each["name"] for each in client.get("/v1/indexes").json()["indexes"]]


def test_an_index_deleted_and_created_anew_is_another(server):
    """Through both workers, again and again: none answers from the index that was."""
    clients = [httpx.Client(base_url=server.url, timeout=60) for _ in range(6)]
    path, text = "/v1/indexes/again", "one two three four five six"
    try:
        kinds: list[dict[str, Any]] = [
            {},
            {"features": "char:4"},
            {"max_distance": 3},
            {"ttl": 9.0},
        ]
        for turn, settings in enumerate(kinds * 4):
            clients[turn % 6].put(path, json=settings).raise_for_status()
            for each in clients:
                assert each.get(path).json()["documents"] == 0
                assert each.post(f"{path}/query", json={"text": text}).json()["matches"] == []
            checked = clients[(turn + 1) % 6].post(f"{path}/check", json={"id": turn, "text": text})
            assert checked.json()["is_new"]
            for each in clients:
                told = each.get(path).json()
                assert told["documents"] == 1
                assert settings.items() <= told["settings"].items()
                match = each.post(f"{path}/check", json={"text": text}).json()["match"]
                assert match["id"] == turn
                assert (match["similarity"] is None) == ("max_distance" in settings)
            clients[(turn + 2) % 6].delete(path).raise_for_status()
            for each in clients:
                assert each.get(path).status_code == 404
    finally:
        for each in clients:
            each.close()


def test_an_index_created_by_many_at_once(server):
    """One of them creates it, the others find it."""
    with ThreadPoolExecutor(8) as pool:

        def create(_: int) -> int:
            return httpx.put(f"{server.url}/v1/indexes/race", json={}, timeout=60).status_code

        statuses = list(pool.map(create, range(16)))
    assert sorted(statuses) == [200] * 15 + [201]


def test_create_by_a_check_uses_the_defaults(client):
    for path in ("check", "documents"):
        name = f"/v1/indexes/made-by-{path}"
        answer = client.post(f"{name}/{path}?create=true", json={"id": 1, "text": "a b c d"})
        assert answer.status_code == 200
        assert client.get(name).json()["settings"] == DEFAULTS
        other = client.post(f"{name}-not/{path}?create=false", json={"id": 1, "text": "a b c"})
        assert other.status_code == 404
    bad = client.post("/v1/indexes/..%2e/check?create=true", json={"id": 1, "text": "a b c"})
    assert bad.status_code == 422
    refused = client.post("/v1/indexes/not-made/check?create=true&limit=0", json={"text": "a"})
    assert refused.status_code == 422
    assert client.get("/v1/indexes/not-made").status_code == 404, "made by a request that failed"


def test_what_lies_in_the_folder_is_served(client, server):
    """An index that was made before, and nothing that is none."""
    with nd.Index(server.data / "indexes" / "mine", threshold=0.9) as mine:
        mine.add(1, "one two three four")
    (server.data / "indexes" / "empty").mkdir()
    (server.data / "indexes" / "file").write_text("x")
    names = [each["name"] for each in client.get("/v1/indexes").json()["indexes"]]
    assert "mine" in names
    assert not {"empty", "file"} & set(names)
    found = client.post("/v1/indexes/mine/check", json={"text": "one two three four"}).json()
    assert found["match"]["id"] == 1
    assert client.get("/v1/indexes/empty").status_code == 404
    for name in ("empty", "file"):
        answer = client.put(f"/v1/indexes/{name}", json={})
        assert answer.status_code in (201, 409, 422), answer.text


def test_more_indexes_than_may_be_open(start):
    """300 of them, all of which are written, read, listed, and counted, twice."""
    server = start("--quiet")
    client = server.client
    names = [f"many-{number:03}" for number in range(300)]
    some = texts(300, words=5)

    def add(place: int) -> int:
        path = f"/v1/indexes/{names[place]}/check?create=true"
        return client.post(path, json={"id": place, "text": some[place]}).status_code

    def found(place: int) -> list[int]:
        path = f"/v1/indexes/{names[place]}/query"
        answer = client.post(path, json={"text": some[place]})
        return [match["id"] for match in answer.json()["matches"]]

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(add, range(300))) == {200}
        for _ in range(2):
            assert list(pool.map(found, range(300))) == [[number] for number in range(300)]
    listed = client.get("/v1/indexes").json()["indexes"]
    assert [each["name"] for each in listed] == names
    assert {each["documents"] for each in listed} == {1}
    metrics = client.get("/metrics").text
    assert metrics.count("neardup_index_documents{") == 300
    for name in names[:20]:
        client.delete(f"/v1/indexes/{name}").raise_for_status()
    assert len(client.get("/v1/indexes").json()["indexes"]) == 280
    assert server.stop() == 0
    assert not [event for event in server.events() if event["event"] == "failure"]
