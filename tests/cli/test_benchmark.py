"""`neardup benchmark` on the command line."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from neardup.cli.app import app

TEXTS = ["blue wooden chair for the kitchen", "chair for the kitchen blue wood", "red garden table"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [{"key": f"k{place}", "name": text} for place, text in enumerate(TEXTS)]
    labelled = tmp_path / "labelled"
    labelled.mkdir()
    (labelled / "docs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (labelled / "pairs.csv").write_text("a,b\nk0,k1\n")
    return labelled


def run(*words: object):
    return CliRunner().invoke(app, ["benchmark", *map(str, words)])


def test_the_table_has_a_row_for_each_way(folder):
    done = run(folder, "--text", "name", "--id", "key")
    assert done.exit_code == 0, done.output
    for word in ("defaults", "as tune recommends", "fixed", "3 documents", "--threshold 0.4"):
        assert word in done.stdout


def test_json_and_the_output_file_say_the_same(folder, tmp_path):
    config = tmp_path / "mine.toml"
    config.write_text('features = "word:1"\nthreshold = 0.5\n')
    out = tmp_path / "out.json"
    names = ("--text", "name", "--id", "key")
    done = run(folder, *names, "--config", config, "--json", "-o", out)
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told == json.loads(out.read_text())
    assert told["rows"][-1]["method"] == "neardup, mine.toml"
    assert told["rows"][-1]["scores"]["f1"] == 1


def test_data_that_are_missing_are_a_sentence():
    done = run("core")
    assert done.exit_code != 0
    assert "pinecone/core-2020-05-10-deduplication" in str(done.exception)


def test_an_output_that_would_replace_the_documents_is_refused(folder):
    before = (folder / "docs.jsonl").read_bytes()
    assert run(folder, "-o", folder / "docs.jsonl").exit_code != 0
    assert (folder / "docs.jsonl").read_bytes() == before
