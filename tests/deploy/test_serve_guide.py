"""The commands of docs/guides/serve.md are answered as the page shows."""

from __future__ import annotations

import doctest
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.client.running import Running, serving

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "serve.md"
ADDRESS = "localhost:7700"
_BLOCK = re.compile(r"^```(sh|json)(?: status=(\d+))?\n(.*?)^```$", re.M | re.S)
# What differs from run to run, and sentences, which have tests of their own.
VOLATILE = {"request_id", "created", "first", "last", "expires", "detail"}
_MADE_ID = re.compile(r"20\d{6}(T\d{6}-[0-9a-f]{16}:\d+|-\d{6}-\d{6}-[0-9a-f]{16})")


def steps() -> Iterator[tuple[str, int | None, str | None]]:
    """Every command of the page, with the status and the text of its answer, if one is shown."""
    blocks = _BLOCK.findall(GUIDE.read_text(encoding="utf-8"))
    for place, (kind, _, text) in enumerate(blocks):
        if kind == "sh":
            after = blocks[place + 1] if place + 1 < len(blocks) else ("", "", "")
            shown = after[0] == "json"
            yield text, int(after[1] or 200) if shown else None, after[2] if shown else None


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    if shutil.which("curl") is None:
        pytest.skip("there is no curl")
    data = tmp_path_factory.mktemp("guide") / "data"
    (data / "corpus").mkdir(parents=True)
    (data / "corpus" / "one.jsonl").write_text('{"id": 1, "text": "one two three"}\n')
    with serving(data, "--workers", "2") as running:
        yield running


@pytest.fixture(scope="module")
def answers(
    server: Running, tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[str, int | None, str]]:
    """What came back for every command, run one after the other in one folder."""
    folder = tmp_path_factory.mktemp("commands")
    found = []
    for command, _, _ in steps():
        asked = command.replace(ADDRESS, server.url.removeprefix("http://"))
        asked = re.sub(r"^curl ", r"curl -sS -w '\\n%{http_code}' ", asked, flags=re.M)
        done = subprocess.run(
            ["sh", "-ec", asked], check=True, capture_output=True, text=True, cwd=folder
        )
        body, _, status = done.stdout.rpartition("\n")
        found.append((command, int(status) if status else None, body))
    return found


def test_every_curl_block_shows_its_answer():
    for command, _, text in steps():
        assert ("curl" in command) == (text is not None), command


@pytest.mark.parametrize("place", range(len(list(steps()))))
def test_a_command_is_answered_as_shown(place, answers):
    _, status, shown = list(steps())[place]
    command, got, body = answers[place]
    assert got == status, f"{command}\n{body}"
    if shown is not None:
        assert stable(body) == stable(shown), command


def test_the_python_examples_run(server, answers):
    """The Arrow example uses the index that the commands have made."""
    told: list[str] = []
    guide = GUIDE.read_text(encoding="utf-8").replace(f"http://{ADDRESS}", server.url)
    examples = doctest.DocTestParser().get_doctest(guide, {}, "serve.md", str(GUIDE), 0)
    assert len(examples.examples) > 5
    done = doctest.DocTestRunner().run(examples, out=told.append)
    assert done.failed == 0, "".join(told)


def stable(text: str) -> list[Any]:
    """The JSON of each line, without what differs from run to run."""
    return [_without(json.loads(line)) for line in text.splitlines() if line]


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: "…" if name in VOLATILE else _without(each) for name, each in value.items()}
    if isinstance(value, list):
        return list(map(_without, value))
    return _MADE_ID.sub("made", value) if isinstance(value, str) else value
