"""`neardup tune` as people and scripts use it."""

import csv
import json
import sys
from pathlib import Path

import pyarrow.csv
import pytest
from click.testing import CliRunner
from tests.lab.tune import made

import neardup as nd
from neardup.cli.app import app, main

SAMPLE = Path(__file__).parents[2] / "examples" / "sample.jsonl"


def run(*arguments):
    finished = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert finished.exit_code == 0, finished.output
    return finished.stdout


@pytest.fixture
def refused(monkeypatch, capsys):
    """Run a command that fails, and return the one line that says why."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["neardup", *map(str, arguments), "--progress", "none"])
        with pytest.raises(SystemExit) as stopped:
            main()
        assert stopped.value.code in (1, 2)
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("neardup: ")
        return line

    return run


@pytest.fixture
def people(tmp_path):
    """A CSV file of people with id, text and kind."""
    path = tmp_path / "people.csv"
    pyarrow.csv.write_csv(made.people(200), path)
    return path


def fill_in(path, people):
    """Answer every pair of a CSV file by the truth."""
    with people.open(encoding="utf-8") as file:
        kinds = {row["id"]: row["kind"] for row in csv.DictReader(file)}
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["same"] = "yes" if kinds[row["a"]] == kinds[row["b"]] else "no"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return rows


def test_it_explains_and_shows_three_ways():
    printed = run("tune", SAMPLE)
    assert "355 documents" in printed
    assert "take exact" in printed
    assert printed.count("bands:") >= 2
    assert 'candidates = "exact"' in printed
    assert "finds of the pairs" in printed
    assert "of the pairs at or above the threshold" in run("tune", SAMPLE, "--candidates", "bands")


def test_a_guess_is_called_one_and_says_how_to_know():
    printed = run("tune", SAMPLE)
    assert "is a guess" in printed
    assert "are these the same?" in printed
    assert f"neardup tune {SAMPLE} --propose pairs.jsonl" in printed
    printed = run("tune", SAMPLE, "--threshold", 0.7)
    assert "guess" not in printed
    assert "are these the same?" not in printed


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
    assert told["labels"] is None


def test_quiet_says_nothing(tmp_path):
    assert run("tune", SAMPLE, "-q", "-o", tmp_path / "settings.toml") == ""
    assert (tmp_path / "settings.toml").exists()


def test_from_a_proposal_to_an_evaluation(tmp_path, people):
    pairs, settings, out = (tmp_path / name for name in ("pairs.csv", "settings.toml", "out"))
    printed = run("tune", people, "--propose", pairs, "--count", 120)
    assert "120 pairs to label are in" in printed
    assert f"neardup review {pairs}" in printed
    assert f"--labels {pairs} -o settings.toml" in printed
    fill_in(pairs, people)
    printed = run("tune", people, "--labels", pairs, "-o", settings)
    assert "labelled pairs that the choice had not seen, F1 is" in printed
    assert "runner-ups" in printed
    assert "more labels would" in printed
    assert "guess" not in printed
    run("dedup", people, "--config", settings, "-o", out, "--quiet")
    told = json.loads(run("evaluate", out, "--truth-column", "kind", "--json"))
    assert told["pairs"]["f1"] > 0.9


def test_a_model_is_fitted_and_used(tmp_path, people, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("tune", people, "--propose", "pairs.csv", "-q")
    fill_in(Path("pairs.csv"), people)
    settings = ("--fit", "model.json", "-o", "settings.toml")
    assert "the fitted model reaches" in run("tune", people, "--labels", "pairs.csv", *settings)
    assert json.loads(Path("model.json").read_text(encoding="utf-8"))
    assert 'model = "model.json"' in Path("settings.toml").read_text(encoding="utf-8")
    run("dedup", people, "--config", "settings.toml", "-o", "out", "--quiet")
    told = json.loads(run("evaluate", "out", "--truth-column", "kind", "--json"))
    assert told["pairs"]["f1"] > 0.9


def test_more_pairs_are_proposed_beside_labels(tmp_path, people):
    first, more = tmp_path / "first.csv", tmp_path / "more.csv"
    run("tune", people, "--propose", first, "--count", 60)
    asked = {(row["a"], row["b"]) for row in fill_in(first, people)}
    printed = run("tune", people, "--labels", first, "--propose", more, "--count", 60)
    assert "60 more pairs to label" in printed
    assert not asked & {(row["a"], row["b"]) for row in fill_in(more, people)}


def test_labels_are_never_overwritten(tmp_path, people, refused):
    pairs = tmp_path / "pairs.csv"
    run("tune", people, "--propose", pairs, "--count", 60)
    run("tune", people, "--propose", pairs, "--count", 60)  # nobody has answered yet
    fill_in(pairs, people)
    before = pairs.read_bytes()
    assert "60 labels and is not replaced" in refused("tune", people, "--propose", pairs)
    assert "also an input" in refused("tune", people, "--labels", pairs, "-o", pairs)
    assert "also an input" in refused("tune", people, "--labels", pairs, "--fit", pairs)
    assert pairs.read_bytes() == before
    assert "also an input" in refused("tune", people, "-o", people)
    assert "a file each" in refused(
        "tune", people, "--labels", pairs, "-o", tmp_path / "x", "--fit", tmp_path / "x"
    )
    text = tmp_path / "notes.csv"
    text.write_text("my notes\n", encoding="utf-8")
    assert "is not a file of pairs to label" in refused("tune", people, "--propose", text)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("x,y\n1,2\n", "no column 'a'"),
        ("a,b,same\nd1,d2,perhaps\n", "row 1"),
        ("a,b,same\nd1,d2,\n", "no labelled pair"),
        ("a,b,same\nd1,d2,yes\n", "only pairs that are the same"),
        ("a,b,same\nd1,d2,yes\nd3,d4,no\nd5,d6,no\n", "at least 5 of each kind"),
        ("a,b,same\nd1,d2,yes\nd1,d2,no\n", "delete one of them"),
        ("a,b,same\nd1,d1,yes\n", "with itself"),
        ("a,b,same\nx1,x2,yes\nx3,x4,no\n", "no two documents of the input"),
        ("a,b\nd1,d2\n", "only pairs that are the same"),
        ("", "labels.csv"),
    ],
)
def test_bad_labels_are_one_sentence(tmp_path, people, refused, content, said):
    labels = tmp_path / "labels.csv"
    labels.write_text(content, encoding="utf-8")
    assert said in refused("tune", people, "--labels", labels)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--labels", "none.csv"), "none.csv"),
        (("--fit", "model.json"), "fit needs labels"),
        (("--propose", "pairs.txt"), "ends in .jsonl, .csv or .parquet"),
        (("--propose", "pairs.csv", "--count", 0), "from 1 on"),
        (("-o", "none/settings.toml"), "there is no folder"),
        (("--similarity", "fields"), "name them"),
    ],
)
def test_bad_requests_are_one_sentence(people, tmp_path, monkeypatch, refused, arguments, said):
    monkeypatch.chdir(tmp_path)
    assert said in refused("tune", people, *arguments)


def test_labels_may_not_be_the_input(people, refused):
    assert "no column 'a'" in refused("tune", people, "--labels", people)


@pytest.mark.parametrize("lines", ["", '{"text": ""}\n'])
def test_without_a_word_there_is_nothing_to_tune(tmp_path, refused, lines):
    path = tmp_path / "empty.jsonl"
    path.write_text(lines, encoding="utf-8")
    assert "nothing to tune" in refused("tune", path)


def test_invalid_bytes_are_read_as_dedup_reads_them(tmp_path):
    path = tmp_path / "bytes.jsonl"
    path.write_bytes(b'{"text": "abc \xff def"}\n{"text": "abc x def"}\n')
    told = json.loads(run("tune", path, "--json"))
    assert told["documents"] == nd.dedup(path).summary["documents"]
