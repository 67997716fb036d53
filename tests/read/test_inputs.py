"""Files, folders, globs, URLs and standard input: what is read, in which order."""

import gzip
import io
import os
import sys

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.needs_posix import READS_EVERYTHING

from neardup.errors import InputError
from neardup.read import Documents


def fill(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def documents(*inputs, **options):
    found = {}
    for batch in Documents(inputs, **options):
        assert not batch.rejected
        columns = (batch.documents.column(name).to_pylist() for name in ("id", "text"))
        found |= dict(zip(*columns, strict=True))
    return found


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["b.txt", "a/z.txt", "a/b/c.md", "a.txt", ".hidden.txt", ".git/d.txt", "A.text"]
    fill(tmp_path / "docs", {name: name for name in names})
    return tmp_path


SORTED = ["A.text", "a/b/c.md", "a/z.txt", "a.txt", "b.txt"]


def test_a_folder_is_read_in_order_without_hidden_files(tree):
    for name in ("docs", "docs/", tree / "docs", (tree / "docs").as_uri()):
        found = documents(name)
        assert list(found) == SORTED
        assert list(found.values()) == SORTED


def test_globs_are_read_in_order(tree):
    assert list(documents("docs/*.txt")) == ["a.txt", "b.txt"]
    assert list(documents("docs/**/*.txt")) == ["a/z.txt", "a.txt", "b.txt"]
    assert list(documents("docs/a/[a-z].txt")) == ["z.txt"]
    assert list(documents("d*/a.txt")) == ["docs/a.txt"]


def test_several_inputs_keep_their_paths_as_ids(tree):
    assert list(documents("docs/b.txt", "docs/a")) == [
        "docs/b.txt",
        "docs/a/b/c.md",
        "docs/a/z.txt",
    ]
    assert list(documents("docs/a", "docs/[ab].txt")) == [
        "docs/a/b/c.md",
        "docs/a/z.txt",
        "docs/a.txt",
        "docs/b.txt",
    ]


def test_a_text_file_by_itself_is_lines_and_several_are_documents(tree):
    fill(tree, {"one.txt": "1\n2", "two.text": "3\n4", "note.md": "5\n6"})
    (tree / "data.jsonl").write_text('{"text": "0"}')
    assert documents("one.txt") == {0: "1", 1: "2"}
    assert documents("data.jsonl", "one.txt") == {0: "0", 1: "1", 2: "2"}
    assert documents("one.txt", "two.text") == {"one.txt": "1\n2", "two.text": "3\n4"}
    assert documents("one.t*t") == {"one.txt": "1\n2"}
    assert documents("note.md") == {"note.md": "5\n6"}
    assert documents("one.txt", "two.text", id="row") == {0: "1\n2", 1: "3\n4"}


def test_one_input_need_not_be_a_list(tree):
    for name in ("docs/b.txt", tree / "docs" / "b.txt"):
        (batch,) = Documents(name)
        assert batch.documents.column("text").to_pylist() == ["b.txt"]


def test_a_folder_of_several_formats(tree):
    fill(tree, {"mix/b.jsonl": '{"id": "1", "text": "a"}', "mix/a.csv": "id,text\n2,b\n"})
    pq.write_table(pa.table({"text": ["c"], "id": ["3"]}), tree / "mix" / "c.parquet")
    assert documents("mix") == {"2": "b", "1": "a", "3": "c"}


def test_names_with_glob_characters_are_files_first(tree):
    (tree / "x[1].jsonl").write_text('{"text": "a"}')
    assert documents("x[1].jsonl") == {0: "a"}


def test_links_are_followed_but_not_in_circles(tree):
    (tree / "docs" / "a" / "back").symlink_to(tree / "docs")
    (tree / "other").mkdir()
    (tree / "other" / "o.txt").write_text("o")
    (tree / "docs" / "c").symlink_to(tree / "other")
    assert list(documents("docs")) == [*SORTED, "c/o.txt"]


def test_file_names_need_not_be_text(tree):
    os.mkdir(b"raw")
    with open(b"raw/\xff.txt", "w") as file:
        file.write("a")
    assert documents("raw") == {"\\xff.txt": "a"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.jsonl", "missing.jsonl does not exist"),
        ("docs/a.txt/b.txt", "docs/a.txt/b.txt does not exist"),
        ("docs/*.jsonl", r"docs/\*.jsonl matches no file"),
        ("empty", "empty holds no file that can be read; neardup reads .jsonl"),
        ("unknown", "unknown holds no file that can be read; the first, unknown/a.bin, is not"),
        ("unknown/a.bin", r"a.bin is not text, nor of a format that neardup reads; convert it"),
        ("unknown/*", r"unknown/\* holds no file that can be read; the first, unknown/a.bin, is"),
        ("unknown/b.png", r"b.png is a PNG image, which neardup does not read"),
        ("nowhere://a/b.jsonl", "nowhere://a/b.jsonl cannot be opened"),
        ("memory://none.jsonl", "memory://none.jsonl does not exist"),
        ("memory://none/*.jsonl", "matches no file"),
    ],
)
def test_what_cannot_be_found_is_an_error(tree, name, message):
    fill(tree, {"unknown/a.bin": "\0\1", "unknown/b.png": ""})
    (tree / "unknown" / "b.png").write_bytes(b"\x89PNG\r\n")
    (tree / "empty").mkdir()
    with pytest.raises(InputError, match=message):
        Documents([name])


def test_no_input_and_standard_input_twice():
    with pytest.raises(InputError, match="there is no input"):
        Documents([])
    with pytest.raises(InputError, match="only once"):
        Documents(["-", "-"])


@pytest.mark.skipif(READS_EVERYTHING, reason="the superuser may read everything")
def test_a_forbidden_file(tree):
    (tree / "docs" / "a.txt").chmod(0)
    with pytest.raises(InputError, match=r"a.txt cannot be read, permission denied"):
        documents("docs/a.txt")
    (batch,) = Documents("docs")
    assert [row.file for row in batch.rejected] == ["docs/a.txt"]


def test_a_denied_file_is_named(tree, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", denied)
    with pytest.raises(InputError, match=r"A.text cannot be read, permission denied"):
        list(Documents("docs"))


def test_a_file_that_vanishes(tree):
    found = Documents(["docs/a.txt"])
    (tree / "docs" / "a.txt").unlink()
    with pytest.raises(InputError, match=r"a.txt does not exist"):
        list(found)


class TestMemoryFilesystem:
    @pytest.fixture(autouse=True)
    def _files(self):
        filesystem = fsspec.filesystem("memory")
        filesystem.pipe("/corpus/b.jsonl.gz", gzip.compress(b'{"text": "b", "id": "2"}\n'))
        filesystem.pipe("/corpus/sub/a.jsonl", b'{"text": "a", "id": "1"}\n')
        filesystem.pipe("/corpus/.hidden/h.jsonl", b'{"t": "h"}')
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table({"text": ["c"], "id": ["3"]}), sink)
        filesystem.pipe("/corpus/sub/c.parquet", sink.getvalue().to_pybytes())
        filesystem.pipe("/texts/x.txt", b"x\n")
        filesystem.pipe("/texts/y/z.txt", b"z\n")
        yield
        filesystem.rm("/corpus", recursive=True)
        filesystem.rm("/texts", recursive=True)

    def test_files_folders_and_globs(self):
        assert documents("memory://corpus/b.jsonl.gz") == {"2": "b"}
        assert documents("memory://corpus/sub/c.parquet") == {"3": "c"}
        assert documents("memory://corpus") == {"2": "b", "1": "a", "3": "c"}
        assert documents("memory://corpus/**/*.jsonl*") == {"2": "b", "1": "a"}
        assert documents("memory://corpus/.hid*/*", text="t") == {0: "h"}
        assert documents("memory://texts/**/*.txt") == {"x.txt": "x\n", "y/z.txt": "z\n"}
        assert documents("memory://texts") == {"x.txt": "x\n", "y/z.txt": "z\n"}

    def test_sizes_and_names(self):
        found = Documents(["memory://corpus"])
        assert found.total_bytes == sum(
            info["size"]
            for info in fsspec.filesystem("memory").find("/corpus", detail=True).values()
        ) - len(b'{"t": "h"}')
        with pytest.raises(InputError, match=r"memory://.*/sub/a\.jsonl has no column 'no'"):
            list(Documents(["memory://corpus/sub"], text="no"))


class TestStandardInput:
    @pytest.fixture
    def give(self, monkeypatch):
        def give(content):
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

        return give

    @pytest.mark.parametrize("compress", [bytes, gzip.compress])
    def test_formats_are_sniffed(self, give, compress):
        give(compress(b'\n {"text": "a"}\n{"text": "b"}\n'))
        assert documents("-") == {0: "a", 1: "b"}
        give(compress(b'{\n"text": "a"}\n'))
        assert documents("-") == {0: "a"}
        give(compress("\ufeffeins\nzwei".encode()))
        assert documents("-") == {0: "eins", 1: "zwei"}
        give(compress(b""))
        assert documents("-") == {}
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table({"text": ["c"], "id": ["3"]}), sink)
        give(compress(sink.getvalue().to_pybytes()))
        assert documents("-") == {"3": "c"}

    def test_it_is_named_and_read_once(self, give):
        give(b'{"text": "a"}\nbroken')
        found = Documents(["-"])
        assert found.total_bytes is None
        (batch,) = found
        assert (batch.rejected[0].file, batch.rejected[0].row) == ("standard input", 1)
        with pytest.raises(InputError, match="only once; store it in a file first"):
            list(found)
        assert not sys.stdin.buffer.closed
