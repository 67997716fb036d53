"""`neardup decisions`, and `dedup --decisions` from the command line."""

import json
import sys

import pytest

from neardup.cli.app import main
from neardup.decisions import DecisionFile, Named, content_of

ROWS = [
    {"id": 1, "text": "Delivery within five days on all orders over fifty euros"},
    {"id": 2, "text": "Delivery within six days on all orders over fifty euros"},
    {"id": 3, "text": "Open from Monday to Friday"},
]
A, B, C = (Named(row["id"], content_of(row["text"])) for row in ROWS)


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["neardup", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        return stopped.value.code, out, err

    return run


def dedup(run, *more):
    return run("dedup", "in.jsonl", "-o", "out", "--features", "word:1", *more)


def test_run_decide_and_run_again(run, tmp_path):
    code, out, _ = dedup(run)
    assert code == 0
    assert "1 removed, 2 kept" in out
    file = DecisionFile("out/decisions.jsonl")
    file.add("different", [A, B], by="ann", why="five\x1b[2J or six")
    file.add("same", [A, C], by="bob")
    code, out, err = dedup(run, "--overwrite", "--decisions", "out")
    assert code == 0, err
    assert "2 of 2 decisions obeyed (1 same, 1 different, 0 keep)" in out
    assert "1 removed, 2 kept" in out
    removed = json.loads((tmp_path / "out" / "summary.json").read_text())["decisions"]
    assert removed["conflicts"] == removed["stale"] == []
    assert len(file.history()) == 2


def test_conflicts_are_told_on_standard_error(run):
    dedup(run)
    file = DecisionFile("out/decisions.jsonl")
    file.add("different", [A, B], by="ann")
    file.add("same", [A, B], by="bob")
    file.add("keep", [Named(9, content_of("gone"))], by="bob")
    code, out, err = dedup(run, "--overwrite", "--decisions", "out/decisions.jsonl")
    assert code == 0
    assert "0 of 3 decisions obeyed" in out
    assert "1 conflict" in out
    assert "Warning: Conflict of decisions: 1 and 2: reviewers disagree" in err
    assert "Warning: 1 decision names documents that are not in the input" in err


def test_decisions_are_listed_exported_and_imported(run):
    file = DecisionFile("decisions.jsonl")
    file.add("different", [A, B], by="ann", why="five\x1b[2J or six")
    file.undo(file.add("keep", [A], by="bob").key, by="bob")
    code, out, err = run("decisions", "decisions.jsonl")
    assert code == 0
    [line] = out.splitlines()
    assert line.split("\t")[1:] == ["ann", "different", "1, 2", "five␛[2J or six"]
    assert "1 decision in force: 0 same, 1 different, 0 keep, 0 skip" in err
    assert len(run("decisions", "decisions.jsonl", "--history")[1].splitlines()) == 3
    told = json.loads(run("decisions", "decisions.jsonl", "--json")[1])
    assert told["counts"]["different"] == 1
    assert told["decisions"][0]["documents"][0] == {"id": 1, "content": A.content}
    assert run("decisions", "decisions.jsonl", "--export", "labels.csv")[0] == 0
    code, _, err = run("decisions", "other.jsonl", "--import", "labels.csv")
    assert (code, "1 decision added to other.jsonl" in err) == (0, True)
    assert "0 decisions added" in run("decisions", "other.jsonl", "--import", "labels.csv")[2]
    assert DecisionFile("other.jsonl").current().decisions == file.current().decisions


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("decisions", "none.jsonl"), "there is no file of decisions at none.jsonl"),
        (("decisions", "in.jsonl"), "in.jsonl, line 1"),
        (("decisions", "d.jsonl", "--import", "in.jsonl"), "ends in .parquet or .csv"),
        (("decisions", ".", "--import", "labels.csv"), "not a folder that dedup wrote"),
        (
            ("dedup", "in.jsonl", "-o", "out", "--decisions", "none.jsonl"),
            "there is no file of decisions",
        ),
    ],
)
def test_mistakes_are_told_in_a_sentence(run, arguments, sentence):
    code, _, err = run(*arguments)
    assert code in (1, 2)
    assert sentence in err
