"""Records, rows with their original columns, and reading standard input twice."""

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import InputError, SettingError
from neardup.read import Documents


def batches(path, **wanted):
    return list(Documents(path, **wanted))


def test_fields_of_every_format_are_texts(tmp_path):
    rows = [{"name": "Anna", "zip": 7, "city": None}, {"name": None, "zip": None, "city": "Ulm"}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "a.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "a.csv").write_text("name,zip,city\nAnna,7,\n,,Ulm\n", encoding="utf-8")
    for name in ("a.parquet", "a.jsonl", "a.csv"):
        (batch,) = batches(tmp_path / name, fields=["zip", "name", "city"])
        assert [column.to_pylist() for column in batch.fields] == [
            *(["7", ""], ["Anna", ""], ["", "Ulm"]),
        ], name
        assert batch.ids.to_pylist() == [0, 1]


def test_lists_are_no_fields(tmp_path):
    pq.write_table(pa.table({"a": ["x"], "b": [[1]]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="'b' of type list"):
        batches(tmp_path / "a.parquet", fields=["a", "b"])


def test_an_id_is_no_field(tmp_path):
    (tmp_path / "a.csv").write_text("id,name\n5,x\n", encoding="utf-8")
    with pytest.raises(SettingError, match="both a field and the id"):
        batches(tmp_path / "a.csv", fields=["id", "name"], id="id")
    (batch,) = batches(tmp_path / "a.csv", fields=["id", "name"])
    assert batch.ids.to_pylist() == [0]


def test_rows_are_given_back_as_they_were_read(tmp_path):
    table = pa.table({"body": ["x y"], "text": [3], "key": ["k"], "tags": [["a", "b"]]})
    pq.write_table(table, tmp_path / "a.parquet")
    (batch,) = batches(tmp_path / "a.parquet", text="body", id="key", columns="all")
    assert batch.as_read().to_pylist() == table.to_pylist()
    (tmp_path / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    (batch,) = batches(tmp_path / "a.txt", columns="all")
    assert batch.as_read().to_pylist() == [{"text": "one"}, {"text": "two"}]


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        (b"one\ntwo\n", ["one", "two"]),
        (b'{"text": "one"}\n{"text": "two"}\n', ["one", "two"]),
        (None, ["one", "two"]),
    ],
)
def test_standard_input_is_read_again_as_what_it_is(monkeypatch, content, texts):
    if content is None:
        sink = io.BytesIO()
        pq.write_table(pa.table({"text": texts}), sink)
        content = sink.getvalue()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    documents = Documents("-", again=True)
    for _ in range(3):
        (batch,) = documents
        assert batch.documents["text"].to_pylist() == texts
