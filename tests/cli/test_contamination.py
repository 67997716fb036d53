"""`neardup contamination`: what is printed and written, and one sentence for what is wrong."""

import json
import os
import sys
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
from tests.needs_posix import READS_EVERYTHING

from neardup.cli.app import main

QUESTION = "Natalia sold clips to 48 of her friends in April, and she sold half as many in May."


@pytest.fixture
def neardup(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": "a", "text": f"Read this:\n{QUESTION.upper()}\nAnd on."},
        {"id": "b", "text": "no"},
    ]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    items = [{"question": QUESTION, "answer": "72"}, {"question": "Why?", "answer": "no"}]
    (tmp_path / "exam.jsonl").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["neardup", "contamination", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        return SimpleNamespace(code=stopped.value.code, out=out, err=err)

    return run


CALL = ("corpus.jsonl", "--benchmark", "exam.jsonl", "-o", "out")


def test_a_run(neardup, tmp_path):
    found = neardup(*CALL)
    assert found.code == 0
    lines = found.out.splitlines()
    assert lines[0] == "1 of 2 items occur in 1 of 2 documents; 1 of them whole"
    assert lines[1].split() == [
        *("benchmark", "columns", "items", "in", "part", "≥", "0.5", "≥", "0.8", "whole"),
        *("too", "short"),
    ]
    assert lines[2].split() == ["exam", "question,", "answer", "2", "1", "1", "1", "1", "1"]
    assert "1.00    18      1  exam 0  “NATALIA SOLD CLIPS TO 48" in found.out
    assert "→ a" in found.out
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *("hits.parquet", "items.parquet", "documents.parquet", "summary.json", "report.html"),
        "rejected.jsonl",
    }
    (hit,) = pq.read_table("out/hits.parquet").to_pylist()
    assert (hit["document"], hit["words"], hit["share"]) == ("a", 18, 1.0)
    assert found.err.startswith("benchmark: ")


def test_json_and_quiet(neardup):
    found = neardup(*CALL, "--json")
    assert json.loads(found.out)["benchmarks"][0]["whole"] == 1
    assert neardup(*CALL, "--quiet", "--overwrite").out == ""


def test_progress_in_json(neardup):
    found = neardup(*CALL, "--progress", "json", "--quiet")
    stages = {json.loads(line)["stage"] for line in found.err.splitlines()}
    assert stages == {"benchmark", "corpus"}


def test_removing(neardup, tmp_path):
    found = neardup(*CALL, "--remove", "passages", "--format", "jsonl")
    assert "1 passage cut out of 1 document" in found.out
    kept = [json.loads(line) for line in (tmp_path / "out/kept.jsonl").read_text().splitlines()]
    assert [row["text"] for row in kept] == ["Read this:\nAnd on.", "no"]
    found = neardup(*CALL, "--remove", "documents", "--overwrite")
    assert "1 document removed, 1 kept" in found.out
    assert not (tmp_path / "out/kept.jsonl").exists()


def test_several_benchmarks(neardup):
    found = neardup(*CALL, "--benchmark", "corpus.jsonl", "--benchmark-text", "question")
    assert found.code == 1
    assert "the benchmark corpus.jsonl has no column 'question'" in found.err
    found = neardup(*CALL, "--benchmark", "corpus.jsonl", "--json")
    names = [one["name"] for one in json.loads(found.out)["benchmarks"]]
    assert names == ["exam", "corpus"]


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("--min-words", "0"), 2, "min_words=0 must be"),
        (("--remove", "all"), 2, "remove='all' is unknown"),
        (("--remove-share", "0.5"), 2, "remove_share is for remove"),
        (("--format", "xml"), 2, "xml"),
        (("--benchmark", "missing.jsonl"), 1, "missing.jsonl"),
        (("--text", "body"), 1, "no column 'body'"),
        (("--output", "corpus.jsonl"), 1, "corpus.jsonl"),
        (("--output", "exam.jsonl"), 1, "exam.jsonl"),
        (("--output", "s3://bucket/out"), 2, "folder of this machine"),
    ],
)
def test_mistakes_get_one_sentence(neardup, tmp_path, words, code, sentence):
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    found = neardup(*CALL, *words)
    assert found.code == code, found.err
    said = found.err.strip().splitlines()
    assert said[-1].startswith("neardup: ")
    assert sentence in said[-1]
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_folders_of_others_are_not_replaced(neardup, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine", encoding="utf-8")
    found = neardup(*CALL, "--overwrite")
    assert found.code == 1
    assert "holds mine.txt, which this command does not write" in found.err
    assert os.listdir(tmp_path / "out") == ["mine.txt"]


@pytest.mark.skipif(READS_EVERYTHING, reason="nothing is read-only for root")
def test_a_read_only_place(neardup, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    found = neardup(*CALL[:-1], "closed/out")
    assert found.code == 1
    assert "closed" in found.err


def test_texts_cannot_control_the_terminal_or_the_page(neardup, tmp_path):
    text = f"<script>alert(1)</script>\x1b[31m {QUESTION}"
    for name, row in (("corpus", {"id": "<i>\x1b", "text": text}), ("exam", {"text": text})):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row), encoding="utf-8")
    found = neardup(*CALL)
    assert "\x1b" not in found.out
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<i>" not in page
    assert "\x1b" not in page
