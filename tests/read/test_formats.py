"""Every format under every compression gives the same documents."""

import bz2
import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from neardup.errors import InputError
from neardup.read import Documents

TEXTS = [
    "plain words",
    "",
    "静夜思 床前明月光",
    "مرحبا بالعالم",
    "🦊 and 🐻‍❄️",
    'a "quoted", text\nof two lines',
]
IDS = ["a", "b", "文", "d", "e", "f,g"]
RATES = ["1", "2", "3", "4", "5", "6"]


def table():
    return pa.table({"id": IDS, "text": TEXTS, "rate": RATES})


def rows():
    return [{"id": i, "text": t, "rate": r} for i, t, r in zip(IDS, TEXTS, RATES, strict=True)]


def delimited(delimiter):
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, ["id", "text", "rate"], delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows())
    return out.getvalue().encode()


def parquet_bytes(content):
    sink = pa.BufferOutputStream()
    pq.write_table(content, sink)
    return sink.getvalue().to_pybytes()


def arrow_bytes(make):
    sink = pa.BufferOutputStream()
    with make(sink, table().schema) as writer:
        writer.write_table(table(), max_chunksize=2)
    return sink.getvalue().to_pybytes()


def feather_bytes():
    sink = pa.BufferOutputStream()
    feather.write_feather(table(), sink)
    return sink.getvalue().to_pybytes()


ENCODED: dict[str, Callable[[], bytes]] = {
    "lines.jsonl": lambda: "".join(json.dumps(row) + "\n" for row in rows()).encode(),
    "raw.ndjson": lambda: "\r\n".join(json.dumps(r, ensure_ascii=False) for r in rows()).encode(),
    "array.json": lambda: json.dumps(rows(), ensure_ascii=False).encode(),
    "printed.json": lambda: json.dumps(rows(), indent=2).encode(),
    "sequence.json": lambda: "\n".join(json.dumps(row, indent=2) for row in rows()).encode(),
    "broken_up.json": lambda: (
        json.dumps(rows()[0]).replace(", ", ",\n").encode()
        + "".join(json.dumps(row) for row in rows()[1:]).encode()
    ),
    "json_lines.json": lambda: "\n".join(json.dumps(row) for row in rows()).encode(),
    "marked.jsonl": lambda: b"\xef\xbb\xbf" + ENCODED["lines.jsonl"](),
    "comma.csv": lambda: delimited(","),
    "marked.csv": lambda: b"\xef\xbb\xbf" + delimited(","),
    "tab.tsv": lambda: delimited("\t"),
    "table.parquet": lambda: parquet_bytes(table()),
    "file.arrow": lambda: arrow_bytes(pa.ipc.new_file),
    "stream.arrow": lambda: arrow_bytes(pa.ipc.new_stream),
    "table.feather": feather_bytes,
}


def lz4_frame(data):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "lz4") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


COMPRESS = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": lambda data: pa.compress(data, "zstd", asbytes=True),
    ".xz": lzma.compress,
    ".lz4": lz4_frame,
}


def read(path, **options):
    batches = list(Documents([path], **options))
    assert not [r for batch in batches for r in batch.rejected]
    return pa.concat_tables(
        (pa.Table.from_batches([batch.documents]) for batch in batches),
        promote_options="permissive",
    ).to_pydict()


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize("name", ENCODED)
@pytest.mark.parametrize("batch_bytes", [1, 8 << 20])
def test_round_trip(tmp_path, name, compression, batch_bytes):
    path = tmp_path / (name + compression)
    path.write_bytes(COMPRESS[compression](ENCODED[name]()))
    expected = {"id": IDS, "text": TEXTS, "rate": RATES}
    assert read(path, columns="all", batch_bytes=batch_bytes) == expected
    assert read(path, columns=["rate"], batch_bytes=batch_bytes) == expected
    del expected["rate"]
    assert read(path) == expected


@pytest.mark.parametrize("name", ["lines.jsonl", "comma.csv", "array.json"])
@pytest.mark.parametrize("compression", [".gz", ".bz2", ".zst", ".xz", ".lz4"])
def test_concatenated_members_are_one_stream(tmp_path, name, compression):
    data, compress = ENCODED[name](), COMPRESS[compression]
    pieces = [data[i : i + 7] for i in range(0, len(data), 7)]
    path = tmp_path / (name + compression)
    path.write_bytes(b"".join(compress(piece) for piece in [b"", *pieces, b""]))
    assert read(path) == {"id": IDS, "text": TEXTS}


@pytest.mark.parametrize("compression", COMPRESS)
def test_lines_of_one_text_file(tmp_path, compression):
    path = tmp_path / f"corpus.txt{compression}"
    path.write_bytes(COMPRESS[compression]("\ufeffone\r\n\r\n二\n\n三".encode()))
    assert read(path) == {"id": [0, 1, 2, 3, 4], "text": ["one", "", "二", "", "三"]}


@pytest.mark.parametrize("compression", COMPRESS)
def test_a_folder_of_text_files(tmp_path, compression):
    (tmp_path / "sub").mkdir()
    for name, text in {"b.txt": "\ufeffone\r\ntwo\n", "sub/a.md": "三\n", "sub/c.text": ""}.items():
        (tmp_path / (name + compression)).write_bytes(COMPRESS[compression](text.encode()))
    names = [name + compression for name in ("b.txt", "sub/a.md", "sub/c.text")]
    assert read(tmp_path) == {"id": names, "text": ["one\r\ntwo\n", "三\n", ""]}


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".txt"])
@pytest.mark.parametrize("compression", COMPRESS)
def test_an_empty_file_has_no_documents(tmp_path, suffix, compression):
    path = tmp_path / f"empty{suffix}{compression}"
    path.write_bytes(b"")
    assert list(Documents([path])) == []
    path.write_bytes(COMPRESS[compression](b""))
    assert list(Documents([path])) == []


def test_an_empty_array_or_header_has_no_documents(tmp_path):
    for name, content in {"a.json": "[ ]\n", "b.csv": "id,text\n", "c.jsonl": "\n \n"}.items():
        (tmp_path / name).write_text(content)
        assert list(Documents([tmp_path / name])) == []


@pytest.mark.parametrize("name", ["empty.parquet", "empty.arrow", "empty.feather"])
def test_an_empty_table_file_is_damaged(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(InputError, match=f"{name} cannot be read to its end"):
        Documents([tmp_path / name])


@pytest.mark.parametrize("compression", [".gz", ".bz2", ".zst", ".xz", ".lz4"])
@pytest.mark.parametrize("spoil", [lambda d: d[:-3], lambda d: d[:9]])
def test_a_damaged_compressed_file_is_named(tmp_path, compression, spoil):
    path = tmp_path / f"bad.jsonl{compression}"
    path.write_bytes(spoil(COMPRESS[compression](ENCODED["lines.jsonl"]())))
    with pytest.raises(InputError, match=r"bad.jsonl.* cannot be read to its end .*again"):
        list(Documents([path]))


@pytest.mark.parametrize("name", ["table.parquet", "file.arrow", "stream.arrow"])
def test_a_cut_table_file_is_named(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(ENCODED[name]()[:-40])
    with pytest.raises(InputError, match=f"{name} cannot be read to its end"):
        list(Documents([path]))


def test_a_cut_array_is_named(tmp_path):
    path = tmp_path / "cut.json"
    path.write_bytes(ENCODED["array.json"]()[:-30])
    with pytest.raises(InputError, match=r"cut.json ends within its JSON array, after 5 elements"):
        list(Documents([path]))


def test_an_array_that_goes_on_is_refused(tmp_path):
    path = tmp_path / "two.json"
    path.write_text('[{"text": "a"}] [{"text": "b"}]')
    with pytest.raises(InputError, match="continues after the end of its JSON array"):
        list(Documents([path]))


def test_feather_1_and_utf16_are_refused_by_name(tmp_path):
    (tmp_path / "old.feather").write_bytes(b"FEA1" + bytes(40))
    with pytest.raises(InputError, match=r"old.feather is Feather version 1"):
        Documents([tmp_path / "old.feather"])
    (tmp_path / "wide.jsonl").write_bytes('{"text": "a"}\n'.encode("utf-16"))
    with pytest.raises(InputError, match=r"wide.jsonl is UTF-16; convert it"):
        list(Documents([tmp_path / "wide.jsonl"]))


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.binary(),
        pa.large_binary(),
        pa.string_view(),
        pa.binary_view(),
        pa.dictionary(pa.int32(), pa.string()),
    ],
    ids=str,
)
def test_text_columns_of_every_type(tmp_path, kind):
    content = pa.table({"id": pa.array(IDS).cast(kind), "text": pa.array(TEXTS).cast(kind)})
    path = tmp_path / "typed.arrow"
    with pa.ipc.new_file(path, content.schema) as writer:
        writer.write_table(content)
    (batch,) = Documents([path])
    assert batch.documents.to_pydict() == {"id": IDS, "text": TEXTS}
    assert batch.documents.schema.field("id").type == pa.string()
    assert batch.documents.schema.field("text").type in (pa.string(), pa.large_string())


def test_dictionaries_of_parquet_are_spelt_out(tmp_path):
    kind = pa.dictionary(pa.int32(), pa.string())
    content = pa.table({"id": IDS, "text": pa.array(["a", "b"] * 3).cast(kind)})
    pq.write_table(content, tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet") == {"id": IDS, "text": ["a", "b"] * 3}


def test_row_groups_and_dotted_names(tmp_path):
    names = ["a.b", "a", "c"]
    content = pa.table([TEXTS, pa.array(range(6)), [{"a.b": 1}] * 6], names=names)
    pq.write_table(content, tmp_path / "x.parquet", row_group_size=2)
    found = read(tmp_path / "x.parquet", text="a.b", id="a", columns=["c"])
    assert found == {"id": list(range(6)), "text": TEXTS, "c": [{"a.b": 1}] * 6}
