import json

import pytest
from click.testing import CliRunner

from neardup.cli.commands.presets import presets
from neardup.presets import PRESETS


@pytest.fixture
def run():
    return lambda *arguments: CliRunner().invoke(presets, list(arguments))


def test_one_line_each_in_80_columns(run):
    result = run()
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(PRESETS)
    assert max(map(len, lines)) <= 80
    assert lines[0] == (
        "caim        arXiv abstracts by tf-idf: 3 tables of 18 bits, cosine from 0.9"
    )


def test_json_has_every_setting(run):
    listed = json.loads(run("--json").stdout)["presets"]
    assert [one["name"] for one in listed] == list(PRESETS)
    sphere = listed[4]
    assert sphere["max_distance"] == [5, 10, 15]
    assert sphere["threshold"] is None
    assert sphere["projection"] == "sphere:42x64"
    assert set(sphere) == set(PRESETS["sphere"].to_dict())


def test_help_shows_an_example(run):
    assert "Example:\n  neardup presets\n" in run("--help").stdout
