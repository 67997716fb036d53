"""Progress: bars on a terminal, lines elsewhere, JSON for programs."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.deduplication.planted import planted_texts

from neardup.cli.progress import ProgressLines

SAMPLE = Path(__file__).parents[2] / "examples" / "sample.jsonl"
SWEEP = ("sweep", SAMPLE, "--plan", "bands:4x16")


def on_a_terminal(*arguments):
    """Run a command whose standard error is a terminal: the exit code, and what that shows."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "neardup", *map(str, arguments)]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "160", "NO_COLOR": "1"}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=environment)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    return process.wait(), re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())


def test_every_stage_has_a_bar_that_says_what_is_done(tmp_path):
    source = tmp_path / "in.jsonl"
    with source.open("w") as file:
        for number, text in enumerate(planted_texts(400)):
            file.write(json.dumps({"text": text, "n": number}) + "\n")
    code, shown = on_a_terminal(
        *("dedup", source, "-o", tmp_path / "out", "--weights", "tfidf"),
        *("--keep", "max:n", "--pairs", "all"),
    )
    assert code == 0, shown
    for stage in (
        "idf: count words",
        "features: read documents",
        "keep order: read the column",
        "pairs: search for near-duplicates",
        "clusters: put removals together",
        "output: write rows",
    ):
        assert stage in shown
    assert "400 of 400 documents" in shown
    assert "Traceback" not in shown


def run(*arguments):
    """Run a command whose standard error is a pipe."""
    command = [sys.executable, "-m", "neardup", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def reported(shown):
    """The lines of JSON; nothing else may be there."""
    lines = [json.loads(line) for line in shown.splitlines()]
    for line in lines:
        assert list(line) == ["stage", "done", "total", "documents"]
    return lines


def begun_and_ended(lines):
    """The first and the last line of each stage."""
    found = {}
    for line in lines:
        found.setdefault(line["stage"], []).append(line)
    return {stage: (said[0], said[-1]) for stage, said in found.items()}


def dedup(folder, *more):
    return ("dedup", SAMPLE, "-o", folder / "out", *more)


def test_json_for_every_stage_of_dedup_and_the_summary_on_standard_output(tmp_path):
    done = run(*dedup(tmp_path, "--progress", "json", "--json"))
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    stages = begun_and_ended(reported(done.stderr))
    assert list(stages) == ["features", "pairs", "clusters", "output"]
    for begun, _ in stages.values():
        assert (begun["done"], begun["total"], begun["documents"]) == (0, None, 0)
    size = SAMPLE.stat().st_size
    rows = summary["documents"]
    assert stages["features"][1] == {
        "stage": "features",
        "done": size,
        "total": size,
        "documents": rows,
    }
    assert stages["output"][1] == {
        "stage": "output",
        "done": rows,
        "total": rows,
        "documents": rows,
    }


@pytest.mark.parametrize(
    ("arguments", "stages"),
    [
        (("tune", SAMPLE), ["look", "sample", "plans"]),
        (SWEEP, ["documents", "plans", "prediction"]),
    ],
)
def test_json_for_every_stage_of_tune_and_sweep(arguments, stages):
    done = run(*arguments, "--progress", "json", "--json")
    assert done.returncode == 0, done.stderr
    assert isinstance(json.loads(done.stdout), dict)
    lines = reported(done.stderr)
    assert list(begun_and_ended(lines)) == stages
    for stage in stages:
        assert sum(line["stage"] == stage for line in lines) >= 2


def test_lines_between_are_a_few_a_second(capsys, monkeypatch):
    now = 100.0
    monkeypatch.setattr("neardup.cli.progress.time.monotonic", lambda: now)
    lines = ProgressLines("features")
    for hundredth in range(200):  # two seconds
        now = 100 + hundredth / 100
        lines(hundredth, 1000, 2 * hundredth)
    lines.end()
    begun, *between, ended = reported(capsys.readouterr().err)
    assert begun == {"stage": "features", "done": 0, "total": None, "documents": 0}
    assert [line["done"] for line in between] == [25, 50, 75, 100, 125, 150, 175]
    assert between[0] == {"stage": "features", "done": 25, "total": 1000, "documents": 50}
    assert ended == {"stage": "features", "done": 1000, "total": 1000, "documents": 398}


def test_json_on_a_terminal_draws_no_bar(tmp_path):
    code, shown = on_a_terminal(*dedup(tmp_path, "--progress", "json"))
    assert code == 0
    assert list(begun_and_ended(reported(shown))) == ["features", "pairs", "clusters", "output"]


def test_json_comes_with_quiet_too_and_quiet_silences_the_rest(tmp_path):
    done = run(*dedup(tmp_path, "--progress", "json", "--quiet"))
    assert done.returncode == 0
    assert reported(done.stderr)
    assert done.stdout == ""


def test_an_error_is_the_last_line_and_its_stage_does_not_end(tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text('{"text": "one two three four"}\n')
    done = run("dedup", source, "-o", tmp_path / "out", "--text", "body", "--progress", "json")
    assert done.returncode == 1
    *lines, sentence = done.stderr.splitlines()
    assert sentence.startswith("neardup: ")
    assert "body" in sentence
    assert [line["done"] for line in reported("\n".join(lines))] == [0]


@pytest.mark.parametrize("arguments", [("tune", SAMPLE), SWEEP])
def test_none_reports_nothing_and_bar_the_time_of_each_stage(arguments):
    assert run(*arguments, "--progress", "none").stderr == ""
    said = run(*arguments).stderr
    assert re.search(r"^plans: \d+\.\d\d s$", said, re.MULTILINE)
    assert run(*arguments, "--progress", "bar").stderr.count("\n") == said.count("\n")


def test_none_on_a_terminal_draws_no_bar(tmp_path):
    assert on_a_terminal(*dedup(tmp_path, "--progress", "none")) == (0, "")


def test_bars_are_silent_with_json(tmp_path):
    assert run(*dedup(tmp_path, "--json", "--progress", "bar")).stderr == ""


def test_another_way_is_wrong_usage(tmp_path):
    done = run(*dedup(tmp_path, "--progress", "xml"))
    assert done.returncode == 2
    assert "--progress" in done.stderr
