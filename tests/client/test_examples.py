"""Every example of examples/serve runs against a real server, and finds what it says."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import neardup as nd

EXAMPLES = Path(__file__).parents[2] / "examples" / "serve"


def run(*command, cwd=None):
    done = subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=120,
        cwd=cwd,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_every_example_is_run_here():
    assert {file.name for file in EXAMPLES.iterdir() if file.is_file()} == {
        "client.mjs",
        "client.py",
        "curl.sh",
        "scrapy_site.py",
    }


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl(server):
    told = run("sh", EXAMPLES / "curl.sh", server.url)
    answers = [json.loads(line) for line in told if line.startswith("{")]
    first, second, *lines, query, stored, compared = answers
    assert (first["is_new"], first["added"]) == (True, True)
    assert (second["is_new"], second["match"]["id"]) == (False, "https://example.org/notice")
    assert second["match"]["metadata"] == {"lang": "en"}
    assert [(line["line"], line["is_new"]) for line in lines] == [
        (1, True),
        (2, False),
        (3, True),
        (4, True),
    ]
    assert [match["id"] for match in query["matches"]] == ["zh-1"]
    assert (stored["id"], stored["seen"]["times"]) == ("https://example.org/notice", 2)
    assert compared["jaccard"] == 0.6


def test_python(server):
    told = run(sys.executable, EXAMPLES / "client.py", server.url)
    assert told[0] == "355 documents: 190 new, 165 near-duplicates, for example"
    shown = told[1:-2]
    assert {line.split("'lang': '")[1][:2] for line in shown} == {
        "ar",
        "de",
        "en",
        "es",
        "ru",
        "zh",
    }
    assert told[-2].startswith("The index has 190 documents: jaccard ≥ 0.8")
    assert told[-1] == "Of 355 queries, 349 find a document; texts without words find none."
    with nd.Client(server.url) as client:
        assert len(client.index("python-example")) == 190


def test_javascript(server):
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    major = int(run(node, "--version")[0].removeprefix("v").split(".")[0])
    if major < 18:
        pytest.skip(f"Node {major} has no fetch; 18 or later is needed")
    assert run(node, EXAMPLES / "client.mjs", server.url) == [
        "notice is new",
        "reposted is seen: notice, similarity 1",
        "355 documents streamed; near-duplicates: 18 ar, 23 de, 51 en, 23 es, 22 ru, 28 zh",
    ]


@pytest.mark.parametrize("place", ["local", "server"])
def test_scrapy(server, place, tmp_path):
    pytest.importorskip("scrapy", reason="Scrapy is not installed")
    given = ["seen.index"] if place == "local" else ["scrapy-example", "--url", server.url]
    expected = [
        "new      library",
        "dropped  library/print: near-duplicate of 'library', similarity 0.9583",
        "new      kuchen",
        "dropped  kuchen?session=17: near-duplicate of 'kuchen', similarity 0.8605",
        "new      tianqi",
        "dropped  tianqi/amp: near-duplicate of 'tianqi', similarity 1.0000",
        "new      qitta",
        "4 new pages, 3 near-duplicates",
    ]
    for _ in range(2):
        assert run(sys.executable, EXAMPLES / "scrapy_site.py", *given, cwd=tmp_path) == expected
