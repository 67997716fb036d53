"""`neardup reproduce`: tables for people, JSON for programs, and required inputs."""

import json
import subprocess
import sys

import pytest


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
    done = reproduce("slides")
    assert done.returncode == 0, done.stderr
    assert "6/87" in done.stdout
    assert "499,999,500,000" in done.stdout


def test_slides_as_json():
    found = json.loads(reproduce("slides", "--json").stdout)
    assert found["preset"] == "slides"
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
    done = reproduce("sphere", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "2 documents" in done.stdout


@pytest.mark.parametrize("preset", ["caim", "sphere"])
def test_without_data_it_runs_on_generated_articles(preset):
    done = reproduce(preset)
    assert done.returncode == 0, done.stderr
    assert "on 1,500 generated articles" in done.stdout
    assert "Exactly, without data" in done.stdout


@pytest.mark.parametrize(
    ("former", "preset"),
    [("s0", "caim"), ("s1", "slides"), ("s2", "blog"), ("s3", "irrs"), ("s4", "sphere")],
)
def test_a_former_name_is_an_error_that_tells_the_new_one(former, preset):
    done = reproduce(former)
    assert done.returncode == 2
    assert f"{former} is now called {preset}" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["s9"], "'s9' cannot be reproduced; choose caim, irrs, slides, blog, sphere"),
        (["slides", "x.parquet"], "slides runs on its own examples"),
        (["caim", "x.parquet", "--truth", "y"], "caim has no use for --truth"),
        (["slides", "--truth", "y"], "slides has no use for --truth"),
        (["sphere", "--truth", "y"], "--truth y is about INPUT; give INPUT, or omit --truth"),
        (["caim", "--text", "body"], "--text body is about INPUT"),
    ],
)
def test_usage_errors_are_sentences(arguments, sentence):
    done = reproduce(*arguments)
    assert done.returncode == 2
    assert sentence in done.stderr
