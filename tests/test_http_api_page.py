"""The reference of the HTTP API is up to date, and its examples are answered as it says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.client.running import Running, serving

import neardup as nd
from neardup.service.docs_page import ADDRESS, EXAMPLES, NAMES, example, page
from neardup.service.endpoints.endpoint import Endpoint
from neardup.service.endpoints.table import DESCRIBED

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference" / "http-api.md"


def test_the_reference_is_up_to_date():
    script = ROOT / "scripts" / "http_api_page.py"
    done = subprocess.run([sys.executable, str(script), "--check"], check=False)
    assert done.returncode == 0, "docs/reference/http-api.md is out of date: run `make docs`"


def test_the_reference_has_every_endpoint():
    told = REFERENCE.read_text(encoding="utf-8")
    headings = set(re.findall(r"^### ((?:GET|PUT|POST|DELETE) .+)$", told, re.M))
    assert headings == {f"{one.method} {one.path.replace(':path', '')}" for one in DESCRIBED}


def test_every_example_is_of_an_endpoint():
    assert set(EXAMPLES) <= {f"{one.method} {one.path}" for one in DESCRIBED}


def test_every_link_of_the_page_leads_somewhere():
    made = page(DESCRIBED)
    targets = set(re.findall(r'href="#([^"]+)"', made))
    assert len(targets) > len(DESCRIBED)
    assert targets <= set(re.findall(r'id="([^"]+)"', made))


def test_the_page_has_no_scripts_and_needs_no_other_site():
    made = page(DESCRIBED)
    assert "<script" not in made
    assert not re.search(r"(src|href)=\"(https?:)?//", made)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    if shutil.which("curl") is None:
        pytest.skip("there is no curl")
    data = tmp_path_factory.mktemp("examples") / "data"
    (data / "corpus").mkdir(parents=True)
    rows = [{"id": row, "text": f"one two three four {row // 2}"} for row in range(6)]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (data / "corpus" / "one.jsonl").write_text(lines, encoding="utf-8")
    with serving(data, "--workers", "1") as running:
        yield running


def test_the_examples_are_answered_as_documented(server):
    """In an order in which each finds what it needs: nothing is deleted before it is read."""
    deleting = [one for one in DESCRIBED if one.method == "DELETE"]
    others = [one for one in DESCRIBED if one.method != "DELETE"]
    job = ""
    for endpoint in (*others, *sorted(deleting, key=lambda one: -len(one.path))):
        if "{id}" in endpoint.path and endpoint.tag == "jobs" and not job:
            with nd.Client(server.url) as client:
                (submitted,) = client.jobs()
                job = client.wait_for_job(submitted.id).id
        status = run(endpoint, server.url, job)
        allowed = {200, 201} if endpoint.method == "PUT" else {endpoint.status}
        assert status in allowed, f"{endpoint.method} {endpoint.path}"


def run(endpoint: Endpoint, url: str, job: str) -> int:
    """Run the example of an endpoint in a shell; the status of the answer."""
    command = example(endpoint).replace(NAMES["/v1/jobs/{id}"], job)
    command = command.replace(ADDRESS, url.removeprefix("http://"))
    command = command.replace("curl ", "curl -sS -o /dev/null -w '%{http_code}' ", 1)
    done = subprocess.run(["sh", "-c", command], check=True, capture_output=True, text=True)
    return int(done.stdout)
