"""Stats, compaction, expiry, backups; fingerprints and comparisons; jobs over HTTP; health."""

from __future__ import annotations

import json

import pytest
from tests.service.conftest import make_index
from tests.service.running import texts, until

import neardup as nd

A = "the quick brown fox jumps over the lazy dog and runs far away from the old grey wolf"
B = A.replace("quick", "slow")


def test_stats(client, index):
    client.post(
        f"{index}/documents",
        json={"documents": [{"id": n, "text": t} for n, t in enumerate(texts(30))]},
    )
    found = client.get(f"{index}/stats").json()
    assert found["documents"] == 30
    assert found["scheme"] == "nd1/word:3/set/64"
    assert found["added"] == {"hour": 30, "day": 30, "week": 30}
    assert found["bytes"]["file"] > 0
    assert sum(each["documents"] for each in found["segments"]) == 30


def test_compact(client, index):
    rows = [{"id": n, "text": t} for n, t in enumerate(texts(300))]
    client.post(f"{index}/documents", json={"documents": rows})
    client.post(f"{index}/documents/delete", json={"ids": [*range(200)]})
    assert client.post(f"{index}/compact").json() == {"documents": 100}
    found = client.post(f"{index}/query", json={"text": texts(300)[250]}).json()["matches"]
    assert [match["id"] for match in found] == [250]
    gone = client.post(f"{index}/query", json={"text": texts(300)[50]}).json()["matches"]
    assert gone == []


def test_expire_with_nothing_to_do(client, index):
    client.post(f"{index}/documents", json={"id": 1, "text": A})
    assert client.post(f"{index}/expire").json() == {"removed": 0, "documents": 1}


def test_backup(client, index, server):
    client.post(f"{index}/documents", json={"id": 1, "text": A, "metadata": {"a": 1}})
    done = client.post(f"{index}/backup", json={"name": "monday"})
    assert (done.status_code, done.json()) == (200, {"name": "monday", "documents": 1})
    client.post(f"{index}/documents", json={"id": 2, "text": texts(1)[0]})
    with nd.Index(server.data / "backups" / "monday", readonly=True) as copy:
        assert len(copy) == 1
        assert copy.get(1).metadata == {"a": 1}
    again = client.post(f"{index}/backup", json={"name": "monday"})
    assert (again.status_code, again.json()["code"]) == (409, "backup_exists")


def test_fingerprint(client):
    settings = {"features": "char:4", "weights": "count", "bits": 128, "hash": "xxh3"}
    for chosen in ({}, settings):
        body = {"texts": [A, "", B, "中文 文本"], "settings": chosen}
        found = client.post("/v1/fingerprint", json=body).json()
        made = nd.fingerprint(body["texts"], **chosen)
        assert found["scheme"] == str(made.scheme)
        assert found["fingerprints"] == [
            None if empty else f"{made[place]:0{made.scheme.bits // 4}x}"
            for place, empty in enumerate(made.empty.tolist())
        ]
        assert found["words"] == made.words.tolist()
    assert client.post("/v1/fingerprint", json={"texts": []}).json()["fingerprints"] == []


def test_compare_texts(client):
    found = client.post("/v1/compare", json={"a": A, "b": B}).json()
    assert found == json.loads(json.dumps(nd.compare(A, B).to_dict()))
    assert found["shared"] > 0
    assert 0 < found["jaccard"] < 1
    settings = {"features": "char:3"}
    other = client.post("/v1/compare", json={"a": A, "b": B, "settings": settings}).json()
    assert other == json.loads(json.dumps(nd.compare(A, B, features="char:3").to_dict()))


def test_compare_in_an_index(client):
    index = make_index(client, store_text=True, features="char:5")
    client.post(f"{index}/documents", json={"id": 1, "text": A})
    client.post(f"{index}/documents", json={"id": "b", "text": B})
    expected = json.loads(json.dumps(nd.compare(A, B, features="char:5").to_dict()))
    for a, b in (({"id": 1}, {"id": "b"}), ({"text": A}, {"id": "b"}), ({"text": A}, {"text": B})):
        assert client.post(f"{index}/compare", json={"a": a, "b": b}).json() == expected


def test_health(client):
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ready"}


def test_a_job(client, server):
    """From its submission to its files, which are attachments, and its removal."""
    (server.data / "corpus").mkdir()
    rows = [{"id": n, "text": t} for n, t in enumerate([*texts(20), A, B, A])]
    (server.data / "corpus" / "all.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    request = {"kind": "dedup", "inputs": ["corpus/*.jsonl"], "settings": {"threshold": 0.6}}
    made = client.post("/v1/jobs", json=request)
    assert made.status_code == 202
    path = f"/v1/jobs/{made.json()['id']}"
    ended = ("done", "failed", "cancelled")
    job = until(
        lambda: found if (found := client.get(path).json())["state"] in ended else None, "a job"
    )
    assert job["state"] == "done", job
    assert (job["kind"], job["inputs"], job["settings"]) == (
        *("dedup", ["corpus/*.jsonl"], {"threshold": 0.6}),
    )
    assert job["created"] <= job["started"] <= job["ended"]
    assert job["id"] in [each["id"] for each in client.get("/v1/jobs").json()["jobs"]]
    names = {each["name"]: each["bytes"] for each in job["files"]}
    assert "report.html" in names
    for name, size in names.items():
        answer = client.get(f"{path}/files/{name}")
        assert len(answer.content) == size
        assert answer.headers["content-disposition"].startswith("attachment")
        assert answer.headers["x-content-type-options"] == "nosniff"
    for name in ("..%2fjob.json", "%2e%2e/%2e%2e/%2e%2e/.neardup-serve.lock", "none", ""):
        answer = client.get(f"{path}/files/{name}")
        assert answer.status_code == 404, name
    assert client.delete(path).json()["id"] == job["id"]
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("path", ["/docs", "/openapi.json"])
def test_descriptions_are_served(client, path):
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "/v1/indexes/{name}/check" in answer.text
