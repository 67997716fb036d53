"""Files that are not what their names say, and folders with files that cannot be read."""

import gzip
import json
import lzma
import os
import socket
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import InputError
from neardup.read import Documents


def parquet_bytes():
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"text": ["a"], "id": ["1"]}), sink)
    return sink.getvalue().to_pybytes()


PNG = b"\x89PNG\r\n\x1a\n" + bytes(50)
MISNAMED = {
    "a.jsonl": (parquet_bytes(), r"a\.jsonl is a Parquet file; rename it to .*a\.parquet$"),
    "a.csv": (parquet_bytes(), r"a\.csv is a Parquet file; rename it to .*a\.parquet$"),
    "a.txt": (PNG, r"a\.txt is a PNG image, which neardup does not read"),
    "a.json": (b"PK\x03\x04" + bytes(30), r"a\.json is a ZIP archive"),
    "a.md": (b"\x7fELF" + bytes(30), r"a\.md is a program \(ELF\)"),
    "a.tsv": (b"SQLite format 3\x00" + bytes(30), r"a\.tsv is a SQLite database"),
    "b.jsonl": (
        gzip.compress(b'{"text": "a"}'),
        r"compressed with gzip; rename it to .*jsonl\.gz$",
    ),
    "b.jsonl.gz": (b'{"text": "a"}', r"not compressed with gzip.* rename it to .*b\.jsonl$"),
    "b.jsonl.bz2": (gzip.compress(b'{"text": "a"}'), r"is not compressed with bz2"),
    "d.csv": (lzma.compress(b"text\na"), r"compressed with xz; rename it to .*d\.csv\.xz$"),
    "e.csv.xz": (b"text\na and more", r"not compressed with xz.* rename it to .*e\.csv$"),
    "f.txt": (b"\x04\x22\x4d\x18" + bytes(9), r"compressed with lz4; rename it to .*txt\.lz4$"),
    "c.jsonl.gz": (gzip.compress(parquet_bytes()), r"is a Parquet file"),
    "a.parquet": (b'{"text": "a"}\n', r"a\.parquet is text, not a Parquet file; rename it"),
    "b.parquet": (PNG, r"b\.parquet is a PNG image"),
    "a.arrow": (b"id,text\n1,a\n", r"a\.arrow is text, not an Arrow file"),
    "d.jsonl": ('{"text": "a"}'.encode("utf-32"), r"d\.jsonl is UTF-32; convert it to UTF-8"),
}


@pytest.mark.parametrize("name", MISNAMED)
def test_a_file_is_known_by_its_first_bytes(tmp_path, name):
    content, message = MISNAMED[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as error:
        list(Documents(tmp_path / name))
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 300


def test_words_that_begin_like_a_signature_are_text(tmp_path):
    for number, content in enumerate(["PAR1 is a magic word", "ARROW1", "GIF and PK", "MZ"]):
        path = tmp_path / f"{number}.txt"
        path.write_text(content)
        (batch,) = Documents(path)
        assert batch.documents["text"].to_pylist() == [content]


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.jsonl", "a.arrow", "a.json"])
def test_no_error_has_anything_unprintable_in_it(tmp_path, name):
    import random

    for seed in range(30):
        path = tmp_path / name
        path.write_bytes(random.Random(seed).randbytes(3000))
        with pytest.raises(InputError) as error:
            list(Documents(path))
        assert str(error.value).isprintable(), seed
        assert len(str(error.value)) < 3000


def test_long_names_are_cut_in_messages(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"{'n' * 1_000_000},b\n1,2\n")
    with pytest.raises(InputError, match=r"has no column 'text'; its columns are 'nnn") as error:
        Documents(path)
    assert len(str(error.value)) < 500


@pytest.fixture
def folder(tmp_path):
    """One good file of rows, and one of every other kind."""
    folder = tmp_path / "mix"
    folder.mkdir()
    (folder / "README.md").write_text("about")
    (folder / "a.xyz").write_bytes(bytes(20))
    (folder / "b.jsonl").write_text('{"id": "x", "text": "one"}\n{"id": "y", "text": "two"}\n')
    (folder / "c.parquet").write_bytes(b"PAR1" + bytes(20))
    (folder / "d.csv").write_bytes(PNG)
    (folder / "e.jsonl").write_text('{"name": "no text"}\n')
    (folder / "f.jsonl").symlink_to(folder / "nowhere")
    (folder / "g.jsonl.gz").write_bytes(gzip.compress(b'{"id": "z", "text": "three"}\n' * 9)[:-9])
    (folder / "h.jsonl").write_bytes('{"text": "a"}\n'.encode("utf-16"))
    (folder / "i.jsonl").write_bytes(b"")
    (folder / ".hidden.jsonl").write_text("broken")
    os.mkfifo(folder / "j.jsonl")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "k.jsonl"))
    return folder


def test_a_folder_takes_what_it_can_and_says_what_it_left_out(folder):
    documents = Documents(folder)
    for read in (documents, documents.with_all_columns(), documents):
        batches = list(read)
        assert [i for b in batches for i in b.ids.to_pylist()] == ["x", "y"]
        left_out = {
            os.path.basename(row.file): row.reason
            for batch in batches
            for row in batch.rejected
            if row.row is None
        }
        assert left_out.keys() == {
            *("README.md", "a.xyz", "c.parquet", "d.csv", "e.jsonl", "f.jsonl", "g.jsonl.gz"),
            *("h.jsonl", "j.jsonl", "k.jsonl"),
        }
        assert left_out["d.csv"].startswith("is a PNG image")
        assert left_out["e.jsonl"].startswith("has no column 'text'; its columns are 'name'")
        assert left_out["h.jsonl"].startswith("is UTF-16")
        assert left_out["g.jsonl.gz"].startswith("cannot be read to its end")


def test_the_same_files_named_are_errors(folder):
    for name in ("c.parquet", "d.csv", "e.jsonl", "f.jsonl", "g.jsonl.gz", "h.jsonl", "k.jsonl"):
        with pytest.raises(InputError):
            list(Documents([folder / "b.jsonl", folder / name], id="row"))


def test_a_file_that_vanishes_from_a_folder_is_left_out_of_every_reading(folder):
    (folder / "b2.jsonl").write_text('{"id": "w", "text": "gone"}\n')
    documents = Documents(folder)
    (folder / "b2.jsonl").unlink()
    for _ in range(2):
        assert [i for batch in documents for i in batch.ids.to_pylist()] == ["x", "y"]
    (folder / "b.jsonl").unlink()
    with pytest.raises(InputError, match=r"b\.jsonl does not exist"):
        list(documents)


def test_a_folder_in_which_nothing_can_be_read_is_an_error(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(PNG)
    (tmp_path / "README.md").write_text("about")
    with pytest.raises(InputError, match=r"a\.jsonl is a PNG image"):
        Documents(tmp_path)


def test_ids_of_several_kinds_in_a_folder_become_strings(tmp_path):
    rows: dict[str, list[dict[str, Any]]] = {
        "a": [{"id": 7}, {"id": 8}],
        "b": [{"id": "x"}],
        "c": [{}, {}],
        "d": [{}],
    }
    for name, items in rows.items():
        lines = [json.dumps(item | {"text": "t"}) for item in items]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    batches = [batch.as_read() for batch in Documents(tmp_path, columns="all")]
    found = [id for batch in batches for id in batch["id"].to_pylist()]
    assert found == ["7", "8", "x", "c.jsonl#0", "c.jsonl#1", "d.jsonl#0"]
    (tmp_path / "e.jsonl").write_text('{"text": "t", "id": "7"}')
    with pytest.raises(InputError, match=r"the id '7' occurs twice"):
        list(Documents(tmp_path))
