"""`neardup passages`, as a user calls it."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.forked import neardup

NOTICE = "You may use this notice for whatever purpose you can think of."


@pytest.fixture
def docs(tmp_path):
    path = tmp_path / "in.jsonl"
    rows = [{"id": f"d{n}", "text": f"Text number {n}.\n\n{NOTICE}"} for n in range(4)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_it_shows_the_largest_piece_of_boilerplate(docs, tmp_path):
    done = neardup("passages", docs, "-o", tmp_path / "out")
    assert done.returncode == 0
    assert "4 documents with 8 paragraphs: 4 of them occur in several documents" in done.stdout
    assert "You may use this notice" in done.stdout
    names = {path.name for path in (tmp_path / "out").iterdir()}
    files = {"families.parquet", "passages.parquet", "report.html", "summary.json"}
    assert names == {*files, "rejected.jsonl"}


def test_it_removes_on_request(docs, tmp_path):
    done = neardup("passages", docs, "-o", tmp_path / "out", "--remove", "boilerplate:3", "--json")
    summary = json.loads(done.stdout)
    assert summary["removed_passages"] == 4
    assert summary["largest"][0]["documents"] == 4
    kept = pq.read_table(tmp_path / "out/kept.parquet")
    assert kept["text"].to_pylist() == [f"Text number {n}.\n\n" for n in range(4)]


def test_what_is_wrong_is_said_in_a_sentence(docs, tmp_path):
    out = tmp_path / "out"
    for arguments, words, code in (
        (["--unit", "page"], "unit='page' is unknown", 2),
        (["--remove", "boilerplate:1"], "at least 2 documents", 2),
        (["--threshold", "2"], "threshold", 2),
        (["--scope", "site"], "no such column", 1),
        (["--text", "body"], "body", 1),
        (["--keep", "max:date"], "date", 1),
        (["--format", "xml"], "format", 2),
    ):
        done = neardup("passages", docs, "-o", out, *arguments)
        assert (done.returncode, words in done.stderr, "Traceback" in done.stderr) == (
            code,
            True,
            False,
        )
        assert not out.exists()
    done = neardup("passages", docs, "-o", docs)
    assert done.returncode == 1
    assert docs.read_text().startswith('{"id": "d0"')


def test_an_output_that_is_not_ours_is_not_replaced(docs, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    done = neardup("passages", docs, "-o", out, "--overwrite")
    assert done.returncode == 1
    assert (out / "mine.txt").read_text() == "mine"


def test_documents_without_ids_or_words(tmp_path):
    path = tmp_path / "in.parquet"
    texts = [
        None,
        "",
        "🙂🙂🙂🙂🙂🙂 🎉🎉",
        "🙂🙂🙂🙂🙂🙂 🎉🎉",
        "春眠不觉晓，处处闻啼鸟。",
        "春眠不觉晓，处处闻啼鸟。",
    ]
    pq.write_table(pa.table({"text": texts}), path)
    done = neardup("passages", path, "-o", tmp_path / "out", "--remove", "all-but-first")
    assert done.returncode == 0
    kept = pq.read_table(tmp_path / "out/kept.parquet")["text"].to_pylist()
    assert [text or "" for text in kept][-2:] == ["春眠不觉晓，处处闻啼鸟。", ""]
