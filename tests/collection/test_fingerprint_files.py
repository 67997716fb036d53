import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from neardup.collection.fingerprint_files import fingerprint_files
from neardup.fingerprints import Scheme

TEXTS = ["one two three four", "", "Пример текста на русском языке", "你好，世界", "*** !!!"]


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.jsonl"
    lines = [json.dumps({"id": f"d{i}", "text": text}) for i, text in enumerate(TEXTS)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def run(inputs, output, **options):
    return fingerprint_files([str(path) for path in inputs], output, Scheme.of(), **options)


def test_files_give_the_fingerprints_of_their_texts(corpus, tmp_path):
    summary = run([corpus], tmp_path / "fps.parquet")
    stored = nd.Fingerprints.load(tmp_path / "fps.parquet")
    assert stored == nd.fingerprint(TEXTS)
    assert stored.ids.to_pylist() == ["d0", "d1", "d2", "d3", "d4"]
    assert (summary.documents, summary.empty, summary.rejected) == (5, 2, 0)
    assert summary.text_bytes == sum(len(text.encode()) for text in TEXTS)
    assert summary.rejected_file is None


def test_the_columns_are_as_promised(corpus, tmp_path):
    run([corpus], tmp_path / "fps.parquet")
    table = pq.read_table(tmp_path / "fps.parquet")
    assert table.schema.names == ["id", "words", "fingerprint"]
    assert table.schema.field("fingerprint").type == pa.binary(8)
    assert table["words"].to_pylist() == [4, 0, 5, 4, 0]
    assert table["fingerprint"].is_null().to_pylist() == [False, True, False, False, True]
    assert table.schema.metadata[b"neardup.scheme"] == b"nd1/word:3/set/64"
    assert table.schema.metadata[b"neardup.format"] == b"neardup fingerprints 1"
    assert json.loads(table.schema.metadata[b"neardup.settings"])["features"] == "word:3"


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_same_input_same_bytes(corpus, tmp_path, threads):
    run([corpus], tmp_path / "a.parquet", threads=1)
    run([corpus], tmp_path / "b.parquet", threads=threads)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_bad_rows_are_set_aside_and_the_run_goes_on(tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b'{"id": 1, "text": "fine words here"}\n{broken\n{"id": 3, "text": null}\n')
    summary = run([path], tmp_path / "fps.parquet")
    assert (summary.documents, summary.rejected) == (1, 2)
    lines = Path(summary.rejected_file).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert [(row["file"], row["row"]) for row in rows] == [(str(path), 1), (str(path), 2)]
    assert all(row["reason"] for row in rows)


def test_a_clean_run_leaves_no_stale_rejects(corpus, tmp_path):
    stale = tmp_path / "fps.rejected.jsonl"
    stale.write_text('{"file": "x", "row": 1, "reason": "of an earlier run"}\n')
    run([corpus], tmp_path / "fps.parquet")
    assert not stale.exists()


def test_a_file_by_the_name_of_rejects_is_not_ours_unless_it_looks_so(corpus, tmp_path):
    other = tmp_path / "fps.rejected.jsonl"
    other.write_text('{"id": 1, "text": "mine"}\n')
    with pytest.raises(nd.NeardupError, match="neardup did not write the file that is there"):
        run([corpus], tmp_path / "fps.parquet")
    with pytest.raises(nd.NeardupError, match="is also an input"):
        run([other], tmp_path / "fps.parquet")
    assert other.read_text() == '{"id": 1, "text": "mine"}\n'
    assert not (tmp_path / "fps.parquet").exists()


def test_nothing_in_gives_an_empty_file(tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    summary = run([tmp_path / "empty.jsonl"], tmp_path / "fps.parquet")
    assert summary.documents == 0
    assert len(nd.Fingerprints.load(tmp_path / "fps.parquet")) == 0


def test_a_failed_run_leaves_nothing_and_keeps_what_was_there(corpus, tmp_path):
    output = tmp_path / "fps.parquet"
    output.write_bytes(b"precious")
    doubled = tmp_path / "doubled.jsonl"
    doubled.write_text('{"id": "x", "text": "a"}\n{"id": "x", "text": "b"}\n')
    with pytest.raises(nd.InputError, match="x"):
        run([doubled], output)
    assert output.read_bytes() == b"precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "corpus.jsonl",
        "doubled.jsonl",
        "fps.parquet",
    ]


def test_the_output_must_not_be_an_input(corpus):
    with pytest.raises(nd.NeardupError, match="also an input"):
        run([corpus], corpus)
    assert corpus.read_text(encoding="utf-8")


def test_many_row_groups_keep_the_order(tmp_path, monkeypatch):
    monkeypatch.setattr("neardup.fingerprints.files._ROW_GROUP", 100)
    texts = [f"document number {i} of many" for i in range(1000)]
    table = pa.table({"id": list(range(1000)), "text": texts})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=64)
    calls = []
    run([tmp_path / "in.parquet"], tmp_path / "f.parquet", progress=lambda *now: calls.append(now))
    stored = nd.Fingerprints.load(tmp_path / "f.parquet")
    assert stored.ids.to_pylist() == list(range(1000))
    assert stored == nd.fingerprint(texts)
    done, total, documents = calls[-1]
    assert (done, documents) == (total, 1000)


def test_documents_that_bring_their_terms(tmp_path):
    documents = [{"bit": 0.4, "coin": 1.2}, {}, {"quantum": 2.0}]
    lines = [json.dumps({"id": i, "terms": terms}) for i, terms in enumerate(documents)]
    (tmp_path / "terms.jsonl").write_text("\n".join([*lines, '{"id": 9, "terms": 5}']))
    scheme = Scheme.of("terms", hash="md5", bits=42)
    summary = fingerprint_files([str(tmp_path / "terms.jsonl")], tmp_path / "f.parquet", scheme)
    stored = nd.Fingerprints.load(tmp_path / "f.parquet")
    assert stored == nd.fingerprint(documents, features="terms", hash="md5", bits=42)
    assert stored.ids.to_pylist() == [0, 1, 2]
    assert (summary.terms, summary.empty, summary.rejected) == (3, 1, 1)


@pytest.mark.parametrize("settings", [{"hash": "md5"}, {"projection": "sphere:8x16"}])
def test_files_through_any_scheme(corpus, tmp_path, settings):
    scheme = Scheme.of("word:1", **settings)
    fingerprint_files([str(corpus)], tmp_path / "f.parquet", scheme)
    stored = nd.Fingerprints.load(tmp_path / "f.parquet")
    assert stored == nd.fingerprint(TEXTS, features="word:1", **settings)
    assert stored.scheme == scheme
