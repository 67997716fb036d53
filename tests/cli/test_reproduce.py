"""`neardup reproduce`: tables for people, JSON for programs, and what to give."""

import json
import subprocess
import sys

import pytest

SEEDS = ("s0", "s1", "s2", "s3", "s4")


def reproduce(*arguments):
    return subprocess.run(
        [sys.executable, "-c", "from neardup.cli.app import main; main()", "reproduce", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={"COLUMNS": "120", "PYTHONIOENCODING": "utf-8"},
    )


def test_slides_on_a_terminal():
    done = reproduce("s1")
    assert done.returncode == 0, done.stderr
    assert "6/87" in done.stdout
    assert "499,999,500,000" in done.stdout


def test_slides_as_json():
    found = json.loads(reproduce("s1", "--json").stdout)
    assert found["seed"] == "s1"
    assert found["tables"][0]["rows"][0] == {
        "pair": "1A and 1B",
        "published": 0.068,
        "ours": 0.068,
        "fraction": "6/87",
        "distance": 13,
    }


def test_a_folder_of_articles(tmp_path):
    for name, text in {"a": "one two three four five six", "b": "one two three four five"}.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    done = reproduce("s4", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "2 documents" in done.stdout


@pytest.mark.parametrize("seed", [seed for seed in SEEDS if seed != "s1"])
def test_without_data_it_says_what_to_give(seed):
    done = reproduce(seed)
    assert done.returncode == 2
    assert f"{seed} needs data: give " in done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["s9"], "'s9' is no seed; choose s0, s1, s2, s3, s4"),
        (["s1", "x.parquet"], "s1 runs on its own examples"),
        (["s0", "x.parquet", "--truth", "y"], "s0 has no use for --truth"),
        (["s1", "--truth", "y"], "s1 has no use for --truth"),
    ],
)
def test_usage_errors_are_sentences(arguments, sentence):
    done = reproduce(*arguments)
    assert done.returncode == 2
    assert sentence in done.stderr
