"""Documents that are too long or too deep are rejected, without loading them into memory."""

import bz2
import csv
import gzip
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings, strategies as st

from neardup.errors import InputError
from neardup.read import Documents
from neardup.read.delimited import read_records
from neardup.read.json.files import array_elements
from neardup.read.limits import MOST_DEPTH, TooLong
from neardup.read.lines import whole_lines
from neardup.read.terms.documents import TermDocuments

LIMIT = 100
LONG = "x" * 300
REASON = "more than --max-document allows (100 bytes)"


def write(path, texts):
    name = path.name
    if name.endswith(".parquet"):
        pq.write_table(pa.table({"text": texts}), path)
        return
    if ".jsonl" in name:
        content = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    elif ".json" in name:
        content = json.dumps([{"text": text} for text in texts])
    elif ".csv" in name:
        content = "text\n" + "".join(f'"{text}"\n' for text in texts)
    else:
        content = "\n".join(texts)
    compress = {".gz": gzip.compress, ".bz2": bz2.compress}.get(path.suffix, bytes)
    path.write_bytes(compress(content.encode()))


@pytest.mark.parametrize("batch_bytes", [64, 4 << 20])
@pytest.mark.parametrize(
    "name", ["a.jsonl", "a.jsonl.gz", "a.json", "a.csv", "a.txt", "a.txt.bz2", "a.parquet"]
)
def test_long_documents_are_rejected_in_every_format(tmp_path, name, batch_bytes):
    path = tmp_path / name
    write(path, ["one", LONG, "two", LONG, LONG, "three"])
    batches = list(Documents(path, max_document=LIMIT, batch_bytes=batch_bytes))
    assert [t for batch in batches for t in batch.documents["text"].to_pylist()] == [
        *("one", "two", "three"),
    ]
    assert [place for batch in batches for place in batch.places.tolist()] == [0, 2, 5]
    rejected = [row for batch in batches for row in batch.rejected]
    assert [row.row for row in rejected] == [1, 3, 4]
    assert all("--max-document allows (100 bytes)" in row.reason for row in rejected)


def test_whole_files_and_terms(tmp_path):
    for name, text in {"a.txt": "one", "b.txt": LONG}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "c.md.gz").write_bytes(gzip.compress(LONG.encode()))
    (batch,) = Documents(tmp_path, max_document=LIMIT)
    assert batch.ids.to_pylist() == ["a.txt"]
    assert [(row.row, row.reason) for row in batch.rejected] == [
        (0, "longer than --max-document allows (100 bytes)"),
    ] * 2
    lines = tmp_path / "terms.jsonl"
    lines.write_text('{"terms": ["a"]}\n' + json.dumps({"terms": [LONG]}) + '\n{"terms": ["b"]}\n')
    (terms,) = TermDocuments(lines, max_document=LIMIT)
    assert terms.terms.to_pylist() == [["a"], ["b"]]
    assert [row.reason for row in terms.rejected] == [f"line 2: 315 bytes long, {REASON}"]


@settings(deadline=None)
@given(
    st.binary(max_size=60) | st.lists(st.sampled_from([b"x", b"\n"]), max_size=60).map(b"".join),
    st.integers(1, 20),
    st.integers(1, 20),
)
@example(b"a\nxxxx\nb\n", 5, 2)  # the long line begins in a block that has others
def test_long_lines_are_told_by_their_size(content, size, longest):
    found = []
    for block in whole_lines(io.BytesIO(content), size, longest):
        found += [block] if isinstance(block, TooLong) else block.split(b"\n")
    lines = content.split(b"\n")
    lines = lines if lines[-1] else lines[:-1]
    assert found == [TooLong(len(line)) if len(line) > longest else line for line in lines]


@settings(deadline=None)
@given(
    st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=8), max_size=3), max_size=5),
    st.integers(1, 20),
    st.integers(1, 30),
)
def test_long_elements_are_told_by_their_size(values, size, longest):
    pieces = [json.dumps(value).encode() for value in values]
    content = io.BytesIO(b"[" + b",".join(pieces) + b"]")
    found = [piece for _, piece in array_elements(content, "f", size, longest)]
    assert found == [TooLong(len(piece)) if len(piece) > longest else piece for piece in pieces]


@settings(deadline=None, max_examples=300)
@given(st.text(st.sampled_from('ab",\n\r\t é'), max_size=60), st.integers(1, 12))
def test_long_records_are_taken_apart_as_the_csv_module_does(content, long):
    expected = [row for row in csv.reader(io.StringIO(content, newline="")) if row]
    text = io.StringIO(content, newline="")
    assert [record.fields for record in read_records(text, ",", 1000, long=long)] == expected


def test_a_quote_that_is_not_closed_takes_the_rest_and_no_memory(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('id,text\n1,one\n2,"open\n' + "3,three\n" * 400_000)
    (batch,) = Documents(path, max_document=1_500_000)
    assert batch.documents["text"].to_pylist() == ["one"]
    (row,) = batch.rejected
    assert row.reason == ("line 3: longer than --max-document allows (1.5 MB); is a quote missing?")


def test_a_line_without_end_is_skipped_as_it_comes(tmp_path):
    """Of a line of 400 times the limit only the size is kept."""
    pieces = 0

    class Endless(io.RawIOBase):
        def read(self, size=-1):
            nonlocal pieces
            pieces += 1
            return b"x" * size if pieces < 2000 else b"\nshort\n"[:size] if pieces == 2000 else b""

    found = list(whole_lines(Endless(), 1000, 5000))
    assert found == [TooLong(1999 * 1000), b"short"]


@pytest.mark.parametrize("depth", [MOST_DEPTH, MOST_DEPTH + 1, 900, 1500, 100_000])
@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_deep_nesting_is_rejected_by_every_reader(tmp_path, name, depth, opening):
    closing = "]" if opening == "[" else "}"
    inner = opening * (depth - 1) + "1" + closing * (depth - 1)
    lines = ['{"text": "a", "x": 1}'] * 3 + [f'{{"text": "b", "x": {inner}}}']
    path = tmp_path / name
    path.write_text("\n".join(lines) if name == "a.jsonl" else f"[{','.join(lines)}]")
    for columns in ((), "all"):
        batches = list(Documents(path, columns=columns))
        rejected = [row.reason for batch in batches for row in batch.rejected]
        texts = [t for batch in batches for t in batch.as_read()["text"].to_pylist()]
        if depth <= MOST_DEPTH:
            assert (texts, rejected) == (["a", "a", "a", "b"], [])
        else:
            assert texts == ["a", "a", "a"]
            assert len(rejected) == 1
            assert rejected[0].endswith("nested more than 64 levels deep")


def test_only_rejected_rows_are_an_error(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(LONG)
    with pytest.raises(
        InputError, match=r"cannot read the only row; the first, in .*a\.txt, row 0"
    ):
        list(Documents(path, max_document=LIMIT))


def test_a_long_text_in_a_dictionary_is_spelt_out_bit_by_bit(tmp_path):
    """A file of 100 kB that would decode to 4 GB of text."""
    long = "x" * 2_000_000
    rows = pa.array([0] * 10 + [1] * 2000, pa.int32())
    column = pa.DictionaryArray.from_arrays(rows, pa.array(["short", long]))
    parquet, arrow = tmp_path / "a.parquet", tmp_path / "a.arrow"
    options = {"dictionary_pagesize_limit": 1 << 30, "compression": "zstd"}
    pq.write_table(pa.table({"text": column}), parquet, **options)
    with pa.ipc.new_file(arrow, pa.schema({"text": column.type})) as writer:
        writer.write_table(pa.table({"text": column}))
    for path in (parquet, arrow):
        before = pa.total_allocated_bytes()
        highest = 0
        for number, batch in enumerate(Documents(path)):
            highest = max(highest, pa.total_allocated_bytes() - before)
            assert batch.documents["text"][0].as_py()[:5] in ("short", "xxxxx")
            if number == 20:
                break
        assert highest < 200_000_000
