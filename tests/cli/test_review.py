"""`neardup review`: the queue in the terminal, by keys that are piped in."""

import io
import sys
from types import SimpleNamespace

import pyarrow as pa
import pytest
from tests.runs.stored import store

from neardup.cli.app import main
from neardup.decisions import DecisionFile
from neardup.runs import open_run


@pytest.fixture
def review(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("COLUMNS", "80")
    store(tmp_path / "out", floor=0.5)

    def run(keys, *arguments):
        words = ["neardup", "review", str(tmp_path / "out"), *arguments]
        monkeypatch.setattr(sys, "argv", words)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(keys.encode())))
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        return SimpleNamespace(code=stopped.value.code, out=out, err=err, path=tmp_path / "out")

    return run


def said(path):
    decisions = DecisionFile(path / "decisions.jsonl").history()
    return [(one.says, [document.id for document in one.documents]) for one in decisions]


def pairs(path):
    run = open_run(path)
    return [[run.document(one).id for one in (item.a, item.b)] for item in run.queue(0, 10)]


def test_keys_decide(review, tmp_path):
    queue = pairs(tmp_path / "out")
    result = review("s\nd\nk\nb\nk 1\na\nn\nq\n", "--by", "ann")
    assert result.code == 0
    assert said(result.path) == [
        ("same", queue[0]),
        ("different", queue[1]),
        ("keep", queue[2][::-1]),
        ("keep", queue[3]),
        ("skip", queue[4]),
    ]
    history = DecisionFile(result.path / "decisions.jsonl").history()
    assert {one.by for one in history} == {"ann"}
    assert all(one.similarity is not None for one in history)
    assert "5 decisions stored in" in result.out
    assert pairs(tmp_path / "out")[:1] == [queue[4]]  # nobody else has skipped it
    assert "[1 of " in result.out
    assert "[6 of " in result.out


def test_undo(review, tmp_path):
    queue = pairs(tmp_path / "out")
    result = review("s\nu\nd\nq\n")
    assert [says for says, _ in said(result.path)] == ["same", "undo", "different"]
    assert said(result.path)[-1] == ("different", queue[0])
    assert "undone: same" in result.out
    assert "1 decision stored" in result.out


def test_nothing_to_undo(review):
    assert "nothing to undo" in review("u\nq\n").out


def test_unknown_keys_and_no_choice(review):
    result = review("x\nk\nz\nq\n")
    assert "unknown key 'x'" in result.out
    assert "nothing decided: answer a or b" in result.out
    assert not (result.path / "decisions.jsonl").exists()


def test_the_end_of_the_input_ends_it(review):
    result = review("")
    assert result.code == 0
    assert "0 decisions stored" in result.out


def test_everything_decided(review):
    total = len(open_run(review("q\n").path).queue(0, 10**6))
    result = review("s\n" * total + "s\n")
    assert "Nothing is left to decide." in result.out
    assert len(said(result.path)) == total


def test_the_login_name_signs(review, monkeypatch):
    monkeypatch.setenv("LOGNAME", "zoe")
    result = review("s\nq\n")
    assert DecisionFile(result.path / "decisions.jsonl").history()[0].by == "zoe"


def test_what_is_no_run(review, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sys, "argv", ["neardup", "review", str(tmp_path)])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 1
    assert "not a folder that dedup wrote" in capsys.readouterr().err


def test_records_are_shown_field_by_field(monkeypatch, capsys, tmp_path):
    people = pa.table(
        {
            "id": ["p1", "p2"],
            "name": ["Ann Lee", "Anne Lee"],
            "street": ["Main street 5", "Main street 5"],
        }
    )
    store(tmp_path / "out", people, text="name*2+street", features="char:3", threshold=0.5)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "argv", ["neardup", "review", str(tmp_path / "out"), "--by", "ann"])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"s\n")))
    with pytest.raises(SystemExit):
        main()
    out = capsys.readouterr().out
    assert "[-Ann-] Lee" in out
    assert "{+Anne+} Lee" in out
    assert "adds" in out
    assert said(tmp_path / "out") == [("same", ["p1", "p2"])]
