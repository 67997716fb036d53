"""What is taken of a folder, and how: data files, documents, and both together."""

import gzip
import json
import lzma
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import InputError, SettingError
from neardup.read import Documents

CODE = {f"src/m{n}.py": f"print({n})" for n in range(3)}
FIXTURES = {f"src/f{n}.json": '{"name": "x"}' for n in range(12)}
NOTES = {"a.md": "one", "b.md": "two", "c.org": "three"}
README = {"README.md": "about", "LICENSE": "free"}


def fill(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def formats(folder, **more):
    """How many files are read in which format; those left out by the first words of the reason."""
    documents = Documents(folder, **more)
    return Counter(
        " ".join(source.fault.split()[:4]) if source.fault else source.format
        for source in documents.sources
    )


def parquet(**columns):
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue().to_pybytes()


TEXT = {"data.jsonl": '{"text": "a"}'}
OTHER = {"data.jsonl": '{"content": "a"}'}
FOLDERS = {
    "code with fixtures": (CODE | FIXTURES, {"document": 15}),
    "code with a table": (CODE | {"t.csv": "a,b\n1,2\n"}, {"document": 4}),
    "notes": (NOTES | {"package.json": "{}"}, {"document": 4}),
    "pages": ({"a.html": "<p>a", "b.css": "p {}", "c.js": "1"}, {"html": 1, "document": 2}),
    "data with a readme": (README | TEXT, {"jsonl": 1, "a text file among": 2}),
    "data of another column": (README | OTHER, {"jsonl": 1, "a text file among": 2}),
    "data with a script": (CODE | TEXT, {"jsonl": 1, "a text file among": 3}),
    "code with a sample": (
        {f"{n}.c": "int main() {}" for n in range(11)} | TEXT,
        {"document": 12},
    ),
    "objects of another column": (
        README | {f"{n}.json": '[{"content": "a"}]' for n in range(30)} | {"load.py": "1"},
        {"json": 30, "a text file among": 3},
    ),
    "code with Parquet": (
        CODE | {"t.parquet": parquet(a=[1])},
        {"document": 3, "a data file among": 1},
    ),
    "data in which one file lacks the text": (
        {"a.jsonl": '{"text": "a"}', "b.parquet": parquet(a=[1])},
        {"jsonl": 1, "has no column 'text';": 1},
    ),
    "Parquet without suffix": (
        {"part-0000": parquet(text=["a"]), "_SUCCESS": ""},
        {"parquet": 1},
    ),
    "underscores": ({"__init__.py": "", "_config.yml": "a: 1"}, {"document": 2}),
    "binary files": (
        NOTES
        | {"a.png": b"\x89PNG\r\n", "b.pyc": b"\xa7\r\r\n" + bytes(12), "c.zip": b"PK\x03\x04"},
        {
            "document": 3,
            "is a PNG image,": 1,
            "is compiled Python, which": 1,
            "is a ZIP archive;": 1,
        },
    ),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_what_a_folder_is_read_as(tmp_path, name):
    files, expected = FOLDERS[name]
    fill(tmp_path, files)
    assert formats(tmp_path) == expected


def test_a_named_column_means_data(tmp_path):
    fill(tmp_path, CODE | FIXTURES | {"d.json": '[{"body": "a"}]'})
    assert formats(tmp_path)["document"] == 16
    found = formats(tmp_path, text="body")
    assert found == {"json": 13, "a text file among": 3}


def test_a_suffix_chooses_and_takes_what_would_be_left_out(tmp_path):
    fill(tmp_path, CODE | FIXTURES | README | TEXT | {"x.PY.gz": gzip.compress(b"zipped")})
    assert formats(tmp_path, suffix=".py") == {"document": 4}
    assert formats(tmp_path, suffix="py, .json") == {"document": 16}
    assert formats(tmp_path, suffix=".jsonl,.md") == {"jsonl": 1, "document": 1}
    assert formats(tmp_path, suffix=".jsonl", read_as="text") == {"document": 1}
    assert formats(f"{tmp_path}/src/*", suffix=".json") == {"json": 12}
    documents = Documents(tmp_path, suffix=".py")
    assert documents.counted == {
        "formats": {"text": 4},
        "suffixes": {".py": 4},
        "passed_over": 15,
    }
    ids = [id for batch in documents for id in batch.ids.to_pylist()]
    assert ids == [*sorted(CODE), "x.PY.gz"]
    for inputs in (tmp_path, f"{tmp_path}/*"):
        with pytest.raises(InputError, match=r"no file with the suffix \.rs or \.go"):
            Documents(inputs, suffix=".rs,.go")
    # A file that is named is read whatever the suffix.
    assert formats(tmp_path / "README.md", suffix=".py") == {"document": 1}


def test_a_format_for_all_files(tmp_path):
    line = json.dumps({"id": "x", "text": "a"})
    fill(
        tmp_path, {"dump": line, "a.html": "<p>a", "b.txt": "1\n2", "c.txt.xz": lzma.compress(b"3")}
    )
    assert formats(tmp_path / "dump", read_as="jsonl") == {"jsonl": 1}
    (batch,) = Documents(tmp_path / "dump", read_as="jsonl")
    assert batch.documents.to_pydict() == {"id": ["x"], "text": ["a"]}
    (batch,) = Documents(tmp_path / "dump")
    assert batch.documents["text"].to_pylist() == [line]
    (batch,) = Documents(tmp_path / "a.html", read_as="text")
    assert batch.documents["text"].to_pylist() == ["<p>a"]
    (batch,) = Documents(tmp_path / "b.txt", read_as="text")
    assert batch.documents["text"].to_pylist() == ["1\n2"]
    lines = Documents([tmp_path / "b.txt", tmp_path / "c.txt.xz"], read_as="lines")
    assert [text for batch in lines for text in batch.documents["text"].to_pylist()] == [*"123"]
    with pytest.raises(SettingError, match=r"read_as='word' is unknown; choose text, lines, html"):
        Documents(tmp_path, read_as="word")
    for wrong in ("", ".", "a,,b", "src/.py"):
        with pytest.raises(SettingError, match="must be suffixes with commas"):
            Documents(tmp_path, suffix=wrong)


@pytest.mark.parametrize(
    "name", ["main.rs", "server.log", "Makefile", "a.ipynb", "a.tex.gz", "x.y"]
)
def test_a_text_file_of_any_suffix_can_be_named(tmp_path, name):
    text = '{"cells": []}\nand more'
    content = gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()
    (tmp_path / name).write_bytes(content)
    (batch,) = Documents(tmp_path / name)
    assert batch.documents.to_pydict() == {"id": [str(tmp_path / name)], "text": [text]}


def test_archives_are_refused_with_the_command_that_unpacks_them(tmp_path):
    fill(tmp_path, {"a.zip": b"PK\x03\x04", "b.tar.gz": gzip.compress(bytes(257) + b"ustar\x0000")})
    fill(tmp_path, {"c.docx": b"PK\x03\x04"})
    with pytest.raises(InputError, match=r"a ZIP archive; unpack it and name the folder: unzip "):
        Documents(tmp_path / "a.zip")
    with pytest.raises(InputError, match=r"a tar archive; unpack it and name the folder: tar -xf "):
        Documents(tmp_path / "b.tar.gz")
    with pytest.raises(InputError, match=r"is a Word document, which neardup does not read; save"):
        Documents(tmp_path / "c.docx")


def test_a_text_of_every_size_and_kind(tmp_path):
    fill(
        tmp_path,
        {
            "big.log": b"a word \n" * 2_000_000,
            "nul.txt": b"a\0b",
            "utf16.txt": "größe".encode("utf-16"),
            "latin.py": b"#" * 600 + "größe".encode("latin-1"),
            "pdf.txt": b"%PDF-1.7\n",
            "page.txt": b"<!doctype html><p>kept as it is",
        },
    )
    batches = list(Documents(tmp_path, max_document=10_000_000))
    ids = [id for batch in batches for id in batch.ids.to_pylist()]
    assert ids == ["nul.txt", "page.txt"]
    reasons = {row.file.rpartition("/")[2]: row.reason for b in batches for row in b.rejected}
    assert reasons == {
        "big.log": "longer than --max-document allows (10 MB)",
        "latin.py": "invalid UTF-8, byte 0xf6 at offset 602",
        "pdf.txt": f"is a PDF document; rename it to {tmp_path}/pdf.pdf",
        "utf16.txt": "is UTF-16; convert it to UTF-8 first, for example with iconv",
    }
