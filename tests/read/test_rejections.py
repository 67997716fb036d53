"""Bad rows are rejected with file, row and reason; the others are read."""

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import InputError
from neardup.read import Documents, Rejected


def split(path, **options):
    """The texts, their places, and (row, reason) of the rejected rows."""
    batches = list(Documents([path], **options))
    rejected = [r for batch in batches for r in batch.rejected]
    assert all(r.file == str(path) for r in rejected)
    texts = [t for batch in batches for t in batch.documents.column("text").to_pylist()]
    places = [p for batch in batches for p in batch.places.tolist()]
    return texts, places, [(r.row, r.reason) for r in rejected]


JSON_CASES = {
    b'{"text": "a"': "broken JSON at character 13, unexpected end of data",
    b"[1, 2]": "an array, not an object",
    b'"word"': "a string, not an object",
    b"null": "null, not an object",
    b'{"txt": "a"}': "no 'text'",
    b'{"text": null}': "'text' is null",
    b'{"text": 7}': "'text' is a number, not a string",
    b'{"text": 7.5}': "'text' is a number with a fraction, not a string",
    b'{"text": true}': "'text' is a boolean, not a string",
    b'{"text": ["a"]}': "'text' is an array, not a string",
    b'{"text": {}}': "'text' is an object, not a string",
    b'{"text": "a\xff"}': "invalid UTF-8, byte 0xff at offset 11",
}


@pytest.mark.parametrize("line", JSON_CASES)
@pytest.mark.parametrize("batch_bytes", [1, 8 << 20])
def test_json_lines(tmp_path, line, batch_bytes):
    path = tmp_path / "some.jsonl"
    path.write_bytes(b'{"text": "first"}\n\n' + line + b'\n{"text": ""}\n')
    expected = (["first", ""], [0, 2], [(1, f"line 3: {JSON_CASES[line]}")])
    assert split(path, batch_bytes=batch_bytes) == expected


def test_lone_surrogates_are_broken_json(tmp_path):
    path = tmp_path / "some.jsonl"
    path.write_bytes(b'{"text": "a"}\n{"text": "\\ud800"}\n')
    texts, _, rejected = split(path)
    assert texts == ["a"]
    assert rejected[0][1].startswith("line 2: broken JSON at character")


@pytest.mark.parametrize("line", JSON_CASES)
@pytest.mark.parametrize("batch_bytes", [1, 8 << 20])
def test_json_array(tmp_path, line, batch_bytes):
    if line == b'{"text": "a"':
        line = b'{"text" "a"}'
        reason = "element 2: broken JSON at character 9, "
    else:
        reason = f"element 2: {JSON_CASES[line]}"
    path = tmp_path / "some.json"
    path.write_bytes(b'[{"text": "first"},' + line + b',{"text": ""}]')
    texts, places, rejected = split(path, batch_bytes=batch_bytes)
    assert (texts, places) == (["first", ""], [0, 2])
    assert rejected[0][0] == 1
    assert rejected[0][1].startswith(reason)


def test_printed_objects_go_on_after_a_broken_one(tmp_path):
    path = tmp_path / "some.json"
    path.write_text('{\n"text": "a"\n}\n{ "text": 1 }\n}{"text": "b"}\n{"text": "c"')
    texts, places, rejected = split(path)
    assert (texts, places) == (["a", "b"], [0, 3])
    assert [row for row, _ in rejected] == [1, 2, 4]
    assert rejected[2][1] == "object 5: broken JSON at character 14, unexpected end of data"


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_delimited(tmp_path, delimiter):
    path = tmp_path / ("some.csv" if delimiter == "," else "some.tsv")
    lines = [
        b"id,text,more",
        b"a,first,x",
        b"b,two fields",
        b"",
        b'c,"quoted\nline",x',
        b"d,bad \xff byte,x",
        b"e,four,fields,x",
        b",no id,x",
        b"f,carried,\xe9",
        b"g,,x",
    ]
    path.write_bytes(b"\r\n".join(lines).replace(b",", delimiter.encode()))
    texts, places, rejected = split(path, columns=["more"])
    assert (texts, places) == (["first", "quoted\nline", ""], [0, 2, 7])
    assert rejected == [
        (1, "line 3: fields: 2, where the header has 3"),
        (3, "line 7: 'text': invalid UTF-8, byte 0xff at offset 4"),
        (4, "line 8: fields: 4, where the header has 3"),
        (5, "line 9: 'id' is empty"),
        (6, "line 10: 'more': invalid UTF-8, byte 0xe9 at offset 0"),
    ]
    # Columns that are not needed are checked too, so that every pass rejects the same rows.
    assert split(path) == split(path, columns=["more"])


def test_a_field_longer_than_the_csv_module_allows(tmp_path):
    import csv

    before = csv.field_size_limit()
    path = tmp_path / "long.csv"
    path.write_text(f"text\n{'x' * 300_000}\nshort\n")
    assert [len(text) for text in split(path)[0]] == [300_000, 5]
    assert csv.field_size_limit() == before


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary()], ids=str)
@pytest.mark.parametrize("batch_bytes", [1, 8 << 20])
def test_parquet(tmp_path, kind, batch_bytes):
    path = tmp_path / "some.parquet"
    binary = pa.large_binary() if kind == pa.large_string() else pa.binary()
    texts = pa.array([b"a", None, b"b\xc3(", b"", b"d", "é".encode()], binary)
    ids = pa.array(["1", "2", "3", "4", None, "6"])
    carried = pa.array([b"x", b"x", b"x", b"x", b"x", b"\xe9"]).view(pa.string())
    pq.write_table(pa.table({"id": ids, "text": texts.view(kind), "more": carried}), path)
    expected = [
        (1, "'text' is null"),
        (2, "'text': invalid UTF-8, byte 0xc3 at offset 1"),
        (4, "'id' is null"),
    ]
    assert split(path, batch_bytes=batch_bytes) == (["a", "", "é"], [0, 3, 5], expected)
    texts, places, rejected = split(path, columns=["more"], batch_bytes=batch_bytes)
    assert (texts, places) == (["a", ""], [0, 3])
    assert rejected == [*expected, (5, "'more': invalid UTF-8, byte 0xe9 at offset 0")]


def test_json_ids(tmp_path):
    path = tmp_path / "some.jsonl"
    ids = ['"a"', "null", "1.5", "true", '"b"']
    lines = [f'{{"text": "t", "id": {id}}}' for id in ids]
    path.write_text("\n".join([*lines, '{"text": "none"}']))
    right = "not a string or a whole number"
    assert split(path)[1:] == (
        [0, 4],
        [
            (1, "line 2: 'id' is null"),
            (2, f"line 3: 'id' is a number with a fraction, {right}"),
            (3, f"line 4: 'id' is a boolean, {right}"),
            (5, "line 6: no 'id'"),
        ],
    )


def test_text_lines(tmp_path):
    path = tmp_path / "some.txt.gz"
    path.write_bytes(gzip.compress(b"one\n\xfftwo\nthree"))
    expected = [(1, "line 2: invalid UTF-8, byte 0xff at offset 0")]
    assert split(path) == (["one", "three"], [0, 2], expected)


def test_whole_files(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"ok")
    (tmp_path / "b.txt").write_bytes(b"bad \xf0\x28")
    (tmp_path / "c.pdf").write_bytes(b"%PDF-1.7\n\x00")
    (tmp_path / "d.md").write_bytes(b"fine")
    (tmp_path / "_SUCCESS").write_bytes(b"")
    (tmp_path / "e.txt").symlink_to(tmp_path / "nowhere")
    (batch,) = Documents([tmp_path])
    assert batch.documents.to_pydict() == {"id": ["a.txt", "d.md"], "text": ["ok", "fine"]}
    assert batch.places.tolist() == [0, 3]
    bad, unknown, broken = batch.rejected
    assert bad == Rejected(f"{tmp_path}/b.txt", 0, "invalid UTF-8, byte 0xf0 at offset 4")
    assert (unknown.file, unknown.row) == (f"{tmp_path}/c.pdf", None)
    assert unknown.reason.startswith("is a damaged PDF (")
    assert (broken.file, broken.reason[:18]) == (f"{tmp_path}/e.txt", "not a regular file")


def test_a_folder_of_texts_takes_any_suffix(tmp_path):
    texts = {
        "LICENSE": "Permission is granted",
        "c.empty": "",
        "page.rst": "<h1>Größe</h1>",
        "run.log": "\x1b[31mred\x1b[0m",
        "src/main.py": "print('不')" + " " * 499 + "不",  # cut in the middle of a character
    }
    others = {"a.bin": b"\x00\x01", "b.dat": b"caf\xe9 au lait"}
    (tmp_path / "src").mkdir()
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name, content in others.items():
        (tmp_path / name).write_bytes(content)

    def read():
        batches = list(Documents([tmp_path]))
        columns = [batch.documents.to_pydict() for batch in batches]
        found = {id: text for part in columns for id, text in zip(*part.values(), strict=True)}
        return found, [row.file for batch in batches for row in batch.rejected]

    assert read() == (texts, [f"{tmp_path}/{name}" for name in others])
    # Among few text files the data file counts; among many it is a document like them.
    (tmp_path / "data.jsonl").write_text('{"id": "x", "text": "a"}')
    assert read()[0] == {"x": "a"}
    for number in range(7):  # with these, eleven, since every collection may have a license
        (tmp_path / f"{number}.c").write_text("int main() {}")
    found, left_out = read()
    assert found.keys() == {*texts, *(f"{number}.c" for number in range(7)), "data.jsonl"}
    assert left_out == [f"{tmp_path}/{name}" for name in others]


def test_text_beside_data_is_set_aside(tmp_path):
    (tmp_path / "README.md").write_text("about")
    (tmp_path / "data.jsonl").write_text('{"text": "a"}')
    aside, data = Documents([tmp_path])
    assert aside.documents.num_rows == 0
    assert aside.rejected[0].reason.startswith("a text file among data files")
    assert data.documents.to_pydict() == {"id": [1], "text": ["a"]}


def test_a_file_of_bad_rows_only(tmp_path):
    path = tmp_path / "some.jsonl"
    path.write_text('{"text": 1}\n' * 3)
    batches = iter(Documents([path], columns="all"))
    batch = next(batches)
    assert batch.documents.schema.names == ["id", "text"]
    assert (batch.documents.num_rows, len(batch.places), len(batch.rejected)) == (0, 0, 3)
    with pytest.raises(InputError) as error:
        next(batches)
    assert error.match(
        f"cannot read any of 3 rows; the first, in {path}, row 0: line 1: 'text' is a number"
    )
