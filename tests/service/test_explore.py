"""The pages under /explore: the list, the runs of jobs, the laboratory, and what is refused."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import httpx
import pytest
from tests.service.exploring import (
    POLICY,
    decide,
    decisions,
    dedup,
    make_news,
    post,
    run_job,
    shown,
    varied,
    words_of,
    write_rows,
)
from tests.service.running import Server, until


@pytest.fixture(scope="module")
def job(server: Server) -> str:
    return dedup(server.client, server.data)


@pytest.fixture(scope="module")
def news(server: Server) -> str:
    return make_news(server.client)


# The list


def test_home_lists_indexes_and_jobs(client, job, news):
    page = shown(client, "/explore/")
    assert f'href="/explore/jobs/{job}/"' in page
    assert 'href="/explore/indexes/news"' in page
    said = words_of(page)
    assert "news jaccard ≥ 0.5" in said
    assert "corpus/rows.jsonl" in said
    assert "done 5 3" in said


def test_short_addresses_lead_on(client, job):
    for path, target in (
        ("/explore", "/explore/"),
        (f"/explore/jobs/{job}", f"/explore/jobs/{job}/"),
    ):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["location"]) == (303, target)
        assert answer.headers["content-security-policy"].startswith(POLICY)


def test_hostile_names_are_escaped(server):
    name = "<img src=x onerror=alert(1)>\u202e.jsonl"
    id = run_job(server.client, write_rows(server.data, name))["id"]
    for path in ("/explore/", f"/explore/jobs/{id}/", f"/explore/jobs/{id}/clusters"):
        page = shown(server.client, path)
        assert "<img" not in page
        assert "\u202e" not in page
        assert "&lt;img src=x" in page


def test_the_list_has_pages(start):
    server = start()
    for number in range(51):
        server.client.put(f"/v1/indexes/index-{number:02}").raise_for_status()
    first, second = (shown(server.client, f"/explore/?indexes={page}") for page in (1, 2))
    assert "index-49" in first
    assert "index-50" not in first
    assert "index-50" in second
    assert "There are only 2 pages" in shown(server.client, "/explore/?indexes=3", 404)
    assert "whole number" in shown(server.client, "/explore/?jobs=x", 400)
    assert "There are no dedup jobs yet" in words_of(second)


# Runs of jobs


def test_a_job_is_explored(client, job):
    base = f"/explore/jobs/{job}"
    assert "5 documents: 3 removed, 2 kept" in words_of(shown(client, f"{base}/"))
    assert f"{base}/clusters/0" in shown(client, f"{base}/clusters")
    cluster = shown(client, f"{base}/clusters/0")
    assert f"{base}/documents/c%2F1" in cluster.replace("c/1", "c%2F1")
    assert "c/1" in words_of(shown(client, f"{base}/documents/c%2F1"))
    assert "There is no such page" in shown(client, f"{base}/nothing", 404)
    assert 'href="/explore/"' in cluster
    style = re.search(r'href="([^"]+/base\.css)"', cluster)
    assert style is not None
    assert client.get(style[1]).headers["content-type"].startswith("text/css")


def test_where_the_data_are_concerns_nobody(server, job):
    for path in ("", "clusters", "clusters/0", "clusters/99", "decisions", "threshold"):
        page = server.client.get(f"/explore/jobs/{job}/{path}").text
        assert str(server.data) not in page, path


def test_decisions_reach_the_job_and_the_next_one(server):
    job = dedup(server.client, server.data)
    form = decide(server.client, job)
    # Every connection may be another worker's, and each takes the form of the others.
    for _ in range(8):
        with httpx.Client(base_url=server.url, timeout=60) as other:
            answer = post(other, f"/explore/jobs/{job}/decisions", form)
        assert answer.status_code == 303, answer.text
        assert answer.headers["location"] == f"/explore/jobs/{job}/decisions"
    stored = decisions(server.data, job)
    assert [one["says"] for one in stored] == ["different"] * 8
    assert {one["by"] for one in stored} == {""}
    page = words_of(shown(server.client, f"/explore/jobs/{job}/decisions"))
    assert f"--decisions jobs/{job}/result/decisions.jsonl" in page
    assert f"-o jobs/{job}/result2 -- corpus/rows.jsonl" in page
    again = run_job(
        server.client,
        "corpus/rows.jsonl",
        threshold=0.6,
        decisions=f"jobs/{job}/result/decisions.jsonl",
    )
    assert again["state"] == "done", again
    assert again["summary"]["kept"] == 3


def test_a_browser_may_sign(server):
    job = dedup(server.client, server.data)
    base = f"/explore/jobs/{job}"
    form = decide(server.client, job)
    named = post(server.client, f"{base}/reviewer", {"token": form["token"], "name": "ann"})
    assert named.status_code == 303
    cookie = named.headers["set-cookie"].partition(";")[0]
    decided = post(server.client, f"{base}/decisions", form, cookie=cookie)
    assert decided.status_code == 303
    assert [one["by"] for one in decisions(server.data, job)] == ["ann"]


@pytest.mark.parametrize(
    ("changed", "headers", "status"),
    [
        ({"token": "wrong"}, {}, 403),
        ({"token": ""}, {}, 403),
        ({}, {"origin": "http://evil.example"}, 403),
        ({}, {"origin": "http://localhost:1"}, 403),
        ({}, {"origin": "null"}, 403),
        ({"says": "nonsense"}, {}, 400),
        ({"next": "//evil.example"}, {}, 400),
        ({}, {"content-type": "text/plain"}, 415),
        ({}, {"content-encoding": "gzip"}, 400),
        ({"why": "x" * 2_000_001}, {}, 413),
    ],
)
def test_refused_forms(server, job, changed, headers, status):
    form = {**decide(server.client, job), **changed}
    answer = post(server.client, f"/explore/jobs/{job}/decisions", form, **headers)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"].startswith(POLICY)
    assert not (server.data / "jobs" / job / "result" / "decisions.jsonl").exists()


def test_jobs_without_pages(server):
    client = server.client
    assert "There is no job" in shown(client, "/explore/jobs/none/", 404)
    unknown = "20260101-000000-000000-0123456789abcdef"
    assert "There is no job" in shown(client, f"/explore/jobs/{unknown}/clusters", 404)
    (server.data / "corpus").mkdir(exist_ok=True)
    (server.data / "corpus" / "broken.jsonl").write_text("{broken\n", encoding="utf-8")
    failed = run_job(client, "corpus/broken.jsonl")
    said = words_of(shown(client, f"/explore/jobs/{failed['id']}/", 409))
    assert "The job is failed" in said
    assert "broken JSON" in said
    tune = run_job(client, write_rows(server.data), "tune")
    assert "It is a tune job" in words_of(shown(client, f"/explore/jobs/{tune['id']}/", 404))
    gone = dedup(client, server.data)
    shown(client, f"/explore/jobs/{gone}/")
    shutil.rmtree(server.data / "jobs" / gone / "result")
    for _ in range(4):
        assert "Its results are gone" in words_of(shown(client, f"/explore/jobs/{gone}/", 404))


def test_jobs_that_are_not_done_have_pages_that_reload(start):
    server = start()
    (server.data / "corpus").mkdir(parents=True)
    many = (json.dumps({"text": varied(f"number{number}")}) for number in range(200_000))
    (server.data / "corpus" / "many.jsonl").write_text("\n".join(many), encoding="utf-8")
    request = {"kind": "dedup", "inputs": ["corpus/many.jsonl"]}
    ids = [server.client.post("/v1/jobs", json=request).json()["id"] for _ in range(2)]

    def page_of(id: str, words: str) -> httpx.Response | None:
        answer = server.client.get(f"/explore/jobs/{id}/clusters")
        return answer if words in answer.text else None

    for id, words in zip(ids, ("The job is running", "The job is queued"), strict=True):
        answer = until(partial(page_of, id, words), words)
        assert answer.status_code == 409
        assert answer.headers["refresh"] == "3"
    for id in reversed(ids):
        server.client.delete(f"/v1/jobs/{id}").raise_for_status()
    assert page_of(ids[1], "It was cancelled") is not None


def test_a_job_that_is_deleted_while_it_is_open(server):
    job = dedup(server.client, server.data)
    form = decide(server.client, job)
    with httpx.Client(base_url=server.url, timeout=60) as other:
        shown(other, f"/explore/jobs/{job}/clusters")
        server.client.delete(f"/v1/jobs/{job}").raise_for_status()
        assert "There is no job" in shown(other, f"/explore/jobs/{job}/clusters", 404)
    answer = post(server.client, f"/explore/jobs/{job}/decisions", form)
    assert answer.status_code == 404
    assert not (server.data / "jobs" / job).exists()
    until(lambda: not _held(server, job), "the files of the deleted job to be closed")


def _held(server: Server, job: str) -> list[str]:
    """The files of a job that a process of the service has open."""
    links = []
    for pid in server.pids().values():
        for file in Path(f"/proc/{pid}/fd").iterdir():
            try:
                links.append(str(file.readlink()))
            except OSError:  # closed just now
                continue
    return [link for link in links if job in link]


# The laboratory, methods, metrics


def test_the_laboratory(client):
    assert "Laboratory" in shown(client, "/explore/lab")
    page = shown(client, "/explore/lab/texts")
    token = re.search(r'data-token="([^"]+)"', page)
    assert token is not None
    answer = post(client, "/explore/lab/texts.json", {"token": token[1], "a": "x y", "b": "x z"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"


def test_head_and_other_methods(client, job, news):
    for path in ("/explore/", news, f"/explore/jobs/{job}/", "/explore/lab"):
        answer = client.head(path)
        assert (answer.status_code, answer.content) == (200, b"")
        assert int(answer.headers["content-length"]) == len(client.get(path).content)
    assert client.head("/explore/nothing").status_code == 404
    assert client.delete("/explore/jobs/x/").status_code == 405


def test_only_this_machine_is_answered(client, news):
    shown(client, "/explore/", 403, headers={"host": "evil.example"})
    shown(client, news, 403, headers={"origin": "http://evil.example"})
    answer = client.get(b"/explore/%ff".decode())
    assert answer.status_code == 400


def test_metrics_have_the_routes(server, job, news):
    shown(server.client, f"/explore/jobs/{job}/clusters")
    shown(server.client, news)
    text = server.client.get("/metrics").text
    for route in ("GET /explore/jobs/{id}/{rest}", "GET /explore/indexes/{name}"):
        assert f'neardup_requests_total{{route="{route}",status="200"}}' in text


def test_a_worker_without_pages_loads_no_templates():
    code = (
        "import sys, neardup.service.worker, neardup.service.supervisor; "
        "print([name for name in ('jinja2', 'neardup.explore', 'sqlite3') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
