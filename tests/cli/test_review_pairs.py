"""`neardup review FILE` and `neardup explain FILE`: pairs to label in the terminal."""

import io
import sys
from types import SimpleNamespace

import pytest
from tests.labels.samples import PAIRS, written

from neardup.cli.app import main
from neardup.decisions import DecisionFile
from neardup.labels import read_labels


@pytest.fixture
def neardup(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NEARDUP_CACHE", str(tmp_path / "cache"))

    def run(*words, keys=""):
        monkeypatch.setattr(sys, "argv", ["neardup", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(keys.encode())))
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        return SimpleNamespace(code=stopped.value.code, out=out, err=err)

    return run


def said(path):
    history = DecisionFile(f"{path}.decisions.jsonl").history()
    return [(one.says, tuple(named.id for named in one.documents)) for one in history]


def test_keys_label_one_pair_after_the_other(neardup, tmp_path):
    path = written(tmp_path / "p.csv")
    result = neardup("review", path, "--by", "ann", keys="s\nd\nq\n")
    assert result.code == 0
    assert said(path) == [("same", PAIRS[0]), ("different", PAIRS[1])]
    assert "[1 of 4] similarity 1.0000. Why this pair: word:1 tfidf stratum 0." in result.out
    assert "  a  k4\n  b  k5\n" in result.out
    assert f"2 decisions stored in {path}.decisions.jsonl" in result.out
    assert f"Next: neardup tune INPUT --labels {path} -o settings.toml" in result.out
    assert sorted(read_labels(path).same.tolist()) == [False, True]
    # What is answered is not asked again.
    result = neardup("review", path, "--by", "bob", keys="n\nd\n")
    assert said(path)[2:] == [("skip", PAIRS[2]), ("different", PAIRS[3])]
    assert "Nothing is left to decide." in result.out


def test_keep_is_no_answer(neardup, tmp_path):
    path = written(tmp_path / "p.csv")
    result = neardup("review", path, keys="k\na\nq\n")
    assert "unknown key 'k': s same, d different, n skip, u undo, q quit" in result.out
    assert said(path) == []


def test_explain_says_what_a_document_is(neardup, tmp_path):
    path = written(tmp_path / "p.csv")
    assert neardup("explain", path, "k1").out.startswith("k1: a document of pairs to label.\n")
    missing = neardup("explain", path, "k9")
    assert (missing.code, missing.out) == (1, "")
    assert f"{path} has no document with the id 'k9'" in missing.err


def test_a_file_of_another_kind(neardup, tmp_path):
    (tmp_path / "x.csv").write_text("id,text\n1,one\n")
    result = neardup("review", tmp_path / "x.csv")
    assert result.code == 1
    assert "has no column 'a'; its columns are 'id', 'text'" in result.err
