"""`neardup evaluate`: options, outputs, and one clear sentence for everything that is wrong."""

import json
import os
import sys
from types import SimpleNamespace

import pytest
from tests.evaluation.planted import collection, labels_of, result_of, true_pairs

from neardup.cli.app import main


@pytest.fixture
def neardup(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["neardup", "evaluate", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        return SimpleNamespace(code=stopped.value.code, out=out, err=err)

    return run


@pytest.fixture(scope="module")
def rows():
    return collection(1)


@pytest.fixture
def out(tmp_path, rows):
    result_of(rows, "floor").save(tmp_path / "out")
    lines = [f"{row['a']},{row['b']}" for row in labels_of(true_pairs(rows)).to_pylist()]
    (tmp_path / "pairs.csv").write_text("\n".join(["a,b", *lines]) + "\n", encoding="utf-8")
    return tmp_path / "out"


def test_labelled_pairs(neardup, out):
    found = neardup(out, "--truth", "pairs.csv")
    assert found.code == 0
    assert found.out.startswith("Labels: ")
    assert "none different. Recall is known; precision only as a lower bound" in found.out
    assert "≥ " in found.out
    assert "Worst missed pairs" in found.out


def test_complete_pairs_and_the_column_agree(neardup, out):
    rates = []
    for given in (("--truth", "pairs.csv", "--complete"), ("--truth-column", "kind")):
        found = neardup(out, *given, "--json")
        assert found.code == 0
        rates.append(json.loads(found.out)["pairs"])
    assert rates[0] == rates[1]


def test_the_name_of_a_column_is_taken_where_there_is_no_such_file(neardup, out):
    found = neardup(out, "--truth", "kind")
    assert found.code == 0
    assert "There is no file kind: the column of that name has the labels." in found.out
    assert neardup(out, "--truth", "nowhere").err == (
        "neardup: there is no file nowhere, and the input of this run has no column 'nowhere'; its "
        "columns are 'id', 'text', 'kind'\n"
    )


def test_outputs(neardup, out, tmp_path):
    found = neardup(out, "--truth-column", "kind", "-o", "page.html")
    assert found.code == 0
    assert found.out.endswith("page → page.html\n")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    quiet = neardup(out, "--truth-column", "kind", "-o", "all.json", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    printed = neardup(out, "--truth-column", "kind", "--json").out
    assert json.loads(printed) == json.loads((tmp_path / "all.json").read_bytes())


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("a,b\n", "has no labelled pair"),
        ("a,b\nd1,d1\n", "a pair of 'd1' with itself"),
        ("a,b,same\nd1,d2,yes\nd2,d1,no\n", "labels the pair"),
        ("a,b,same\nd1,d2,perhaps\n", "is no answer"),
        ("left,right\nd1,d2\n", "left"),
        ("a,b\nx,y\n", "names no two documents of this run"),
    ],
)
def test_labels_that_cannot_be_used(neardup, out, tmp_path, table, said):
    (tmp_path / "labels.csv").write_text(table, encoding="utf-8")
    found = neardup(out, "--truth", "labels.csv")
    assert found.code == 1
    assert found.err.startswith("neardup: ")
    assert said in found.err
    assert "Traceback" not in found.err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((), "evaluate needs labels"),
        (("--truth", "pairs.csv", "--truth-column", "kind"), "exclude each other"),
        (("--truth", "pairs.csv", "--complete", "--partial"), "exclude each other"),
        (("--truth", "pairs.csv", "-o", "page.pdf"), "must end in .html"),
    ],
)
def test_options_that_do_not_fit(neardup, out, given, said):
    found = neardup(out, *given)
    assert found.code == 2
    assert said in found.err


def test_places_that_cannot_be_written_are_refused_before_any_work(neardup, out, tmp_path):
    found = neardup(out, "--truth", "pairs.csv", "-o", "none/at/all/page.html")
    assert found.code == 1
    assert "none/at/all" in found.err
    if os.geteuid():  # root writes everywhere
        closed = tmp_path / "closed"
        closed.mkdir(mode=0o500)
        assert neardup(out, "--truth", "pairs.csv", "-o", closed / "page.html").code == 1
    same = neardup(out, "--truth", "pairs.csv", "-o", "pairs.json")
    assert same.code == 0


def test_labels_are_never_overwritten(neardup, out, tmp_path):
    (tmp_path / "labels.json").write_text('[{"a": "d1", "b": "d2"}]', encoding="utf-8")
    found = neardup(out, "--truth", "labels.json", "-o", "labels.json")
    assert found.code != 0
    assert json.loads((tmp_path / "labels.json").read_bytes()) == [{"a": "d1", "b": "d2"}]


@pytest.mark.parametrize("name", ["documents.parquet", "clusters.parquet", "pairs.parquet"])
@pytest.mark.parametrize("damage", ["missing", "cut"])
def test_damaged_folders(neardup, out, name, damage):
    path = out / name
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:50])
    found = neardup(out, "--truth", "pairs.csv")
    assert found.code == 1
    assert found.err.count("\n") == 1
    assert "dedup again" in found.err


def test_what_is_no_run(neardup, tmp_path):
    (tmp_path / "empty").mkdir()
    for path in ("empty", "nowhere"):
        found = neardup(path, "--truth-column", "kind")
        assert found.code == 1
        assert "is not a folder that dedup wrote" in found.err
