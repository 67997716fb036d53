"""The guide on tuning: its steps work on the sample, and print what it shows."""

import csv
import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from neardup.cli.app import main
from neardup.lab.tune.measures import LONG_WORDS
from neardup.lab.tune.shape import LONG, MIDDLE, MIDDLE_WORDS, SHORT, SHORT_WORDS

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "guides" / "tune.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```", GUIDE, re.M | re.S)


@pytest.fixture
def ran(tmp_path, monkeypatch, capsys):
    shutil.copy(ROOT / "examples" / "sample.jsonl", tmp_path)
    monkeypatch.chdir(tmp_path)

    def run(command):
        monkeypatch.setattr(sys, "argv", shlex.split(command, comments=True))
        with pytest.raises(SystemExit) as stopped:
            main()
        out = capsys.readouterr().out
        assert stopped.value.code == 0
        return out

    return run


def roots():
    with Path("sample.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    copy_of = {row["id"]: row["copy_of"] for row in rows}

    def root(id):
        return id if copy_of[id] is None else root(copy_of[id])

    return {id: root(id) for id in copy_of}


def answer():
    root = roots()
    with open("pairs.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with open("pairs.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        for row in rows:
            writer.writerow({**row, "same": root[row["a"]] == root[row["b"]]})


def test_the_five_steps_print_what_the_guide_shows(ran):
    sample, propose, review, tune, dedup, evaluate = BLOCKS[0].splitlines()
    assert sample.startswith("neardup sample texts -o sample.jsonl ")
    assert "200 pairs to label are in pairs.csv" in ran(propose)
    assert review.startswith("neardup review pairs.csv ")
    answer()
    printed = ran(tune)
    (shown,) = re.findall(r"^```text\n(.*?)^```", GUIDE, re.M | re.S)
    assert printed.startswith(shown)
    table = [line.strip() for line in GUIDE.splitlines() if line.startswith("    plan ")]
    assert table[0] in printed
    ran(dedup)
    assert "pairs in one cluster" in ran(evaluate)
    found = json.loads(Path("out/summary.json").read_text(encoding="utf-8"))
    assert found["removed"] == sum(id != root for id, root in roots().items())


def test_the_table_of_guesses_is_that_of_the_code():
    for case in (SHORT, MIDDLE, LONG):
        row = next(line for line in GUIDE.splitlines() if f"`{case.measure.features}`, `" in line)
        assert f"`{case.measure.weights}`, `{case.measure.similarity}`" in row
        assert f"between {case.lowest:g} and {case.highest:g}" in row
    assert f"up to {SHORT_WORDS} words" in GUIDE
    assert f"up to {MIDDLE_WORDS} words" in GUIDE
    how = (ROOT / "docs" / "how-it-works" / "predictions.md").read_text(encoding="utf-8")
    assert f"{LONG_WORDS} words or more" in how
