"""`neardup tune` as people and scripts use it."""

import json
from pathlib import Path

from click.testing import CliRunner

from neardup.cli.app import app

SAMPLE = Path(__file__).parents[2] / "examples" / "sample.jsonl"


def run(*arguments):
    done = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_it_explains_and_shows_three_ways():
    printed = run("tune", SAMPLE)
    assert "355 documents" in printed
    assert "take exact" in printed
    assert printed.count("bands:") >= 2
    assert 'candidates = "exact"' in printed


def test_its_file_is_for_dedup(tmp_path):
    file = tmp_path / "settings.toml"
    printed = run("tune", SAMPLE, "--threshold", 0.7, "-o", file)
    assert f"--config {file}" in printed
    told = json.loads(run("dedup", SAMPLE, "-o", tmp_path / "out", "--config", file, "--json"))
    assert told["settings"]["threshold"] == 0.7
    assert told["plan"] == "exact"


def test_machines_read_json():
    told = json.loads(run("tune", SAMPLE, "--json", "--features", "word:2"))
    assert told["settings"]["features"] == "word:2"
    assert set(told["choice"]) >= {"candidates", "recall", "seconds", "memory_bytes"}
    assert len(told["alternatives"]) == 2


def test_quiet_says_nothing(tmp_path):
    assert run("tune", SAMPLE, "-q", "-o", tmp_path / "settings.toml") == ""
    assert (tmp_path / "settings.toml").exists()
