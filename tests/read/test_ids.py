"""Ids: unique, all of the same kind, or the places of the rows."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import InputError
from neardup.read import Documents


def jsonl(folder, name, *ids):
    path = folder / name
    rows = [{"text": "t"} if id is None else {"text": "t", "id": id} for id in ids]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def ids(*paths, **options):
    return [i for b in Documents(paths, **options) for i in b.documents.column("id").to_pylist()]


@pytest.mark.parametrize("batch_bytes", [1, 8 << 20])
def test_duplicates_are_named_with_both_rows(tmp_path, batch_bytes):
    first = jsonl(tmp_path, "a.jsonl", "x", "y", "z")
    second = jsonl(tmp_path, "b.jsonl", "w", "y")
    with pytest.raises(InputError) as error:
        ids(first, second, batch_bytes=batch_bytes)
    assert error.match(f"id 'y' occurs twice, in {first} row 1 and in {second} row 1; use --id row")
    assert ids(first, second, id="row", batch_bytes=batch_bytes) == [0, 1, 2, 3, 4]


def test_duplicates_within_one_batch_after_a_rejected_row(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 1, "text": "a"}\nbroken\n{"id": 2, "text": "a"}\n{"id": 1, "text": ""}')
    with pytest.raises(InputError, match=r"id 1 occurs twice, in .* row 0 and in .* row 3"):
        ids(path)


def test_duplicates_of_files_are_named(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_text("b")
    names = [tmp_path / "a.txt", tmp_path / "b.txt", tmp_path / "a.txt"]
    with pytest.raises(InputError, match=r"a\.txt row 0 and in .*a\.txt row 0"):
        ids(*names)


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint32(), pa.int64(), pa.uint64()], ids=str)
def test_whole_numbers_stay_numbers(tmp_path, kind):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": pa.array([3, 1], kind), "text": ["a", "b"]}), path)
    (batch,) = Documents([path])
    assert batch.documents.column("id") == pa.array([3, 1], pa.int64())
    assert ids(jsonl(tmp_path, "a.jsonl", 7, -5)) == [7, -5]


def test_numbers_beyond_64_bits_are_refused(tmp_path):
    path = tmp_path / "a.parquet"
    content = pa.table({"id": pa.array([2**63], pa.uint64()), "text": ["a"]})
    pq.write_table(content, path)
    for file in (path, jsonl(tmp_path, "a.jsonl", 2**63)):
        with pytest.raises(InputError, match=r"too large for a signed 64-bit number; .*--id row"):
            ids(file)


def test_kinds_do_not_mix(tmp_path):
    numbers, strings = jsonl(tmp_path, "a.jsonl", 1), jsonl(tmp_path, "b.jsonl", "1")
    none, both = jsonl(tmp_path, "c.jsonl", None), jsonl(tmp_path, "d.jsonl", 1, "b")
    with pytest.raises(InputError, match=r"ids of .*a\.jsonl are whole .* of .*b\.jsonl are strin"):
        ids(numbers, strings)
    with pytest.raises(InputError, match=r"b\.jsonl are strings and those of .*c\.jsonl are none"):
        ids(strings, none)
    with pytest.raises(InputError, match=r"c\.jsonl are none and those of .*a\.jsonl are whole"):
        ids(none, numbers)
    with pytest.raises(InputError, match="a number as id on line 1 and a string on line 2"):
        ids(both)
    assert ids(numbers, strings, none, both, id="row") == [0, 1, 2, 3, 4]


def test_the_first_object_decides_whether_there_are_ids(tmp_path):
    with pytest.raises(InputError, match=r"no 'id' in its first row but one on line 2; .*--id id"):
        ids(jsonl(tmp_path, "a.jsonl", None, "x"))
    assert ids(jsonl(tmp_path, "a.jsonl", None, "x"), id="id") == ["x"]
    assert ids(jsonl(tmp_path, "b.jsonl", "x", None)) == ["x"]


def test_places_count_rejected_rows_over_all_files(tmp_path):
    a, b = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    a.write_text('{"text": "a"}\nbroken\n')
    b.write_text('broken\n\n{"text": "b"}\n')
    batches = list(Documents([a, b]))
    assert [i for batch in batches for i in batch.documents.column("id").to_pylist()] == [0, 3]
    assert [p for batch in batches for p in batch.places.tolist()] == [0, 3]
    assert [(r.file, r.row) for batch in batches for r in batch.rejected] == [
        (str(a), 1),
        (str(b), 0),
    ]
