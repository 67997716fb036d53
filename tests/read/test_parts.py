"""A file that is read in parts gives every row once, as if it had been read whole."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

from neardup.errors import InputError
from neardup.read import Documents
from neardup.read.source import Part

BOM = b"\xef\xbb\xbf"


def read(documents):
    """Ids, texts, places and other columns of all documents, and the rejected rows."""
    rows, rejected = [], []
    for batch in documents:
        # A batch has a column only if a row of it has one.
        carried = [
            {name: value for name, value in row.items() if value is not None}
            for row in batch.documents.drop_columns(["id", "text"]).to_pylist()
        ]
        texts = batch.documents["text"].to_pylist()
        rows += zip(batch.ids.to_pylist(), texts, batch.places.tolist(), carried, strict=True)
        rejected += batch.rejected
    return rows, rejected


def line_start(content, at):
    """Where the first line begins that begins at this byte or later, one byte after the other."""
    while 0 < at < len(content) and content[at - 1 : at] != b"\n":
        at += 1
    return min(at, len(content))


def in_parts(path, cuts, *, has_ids, **options):
    """What the parts between the cuts give, each read by itself, with the rows before it."""
    whole = Documents([path], **options)
    (source,) = whole.sources
    content = path.read_bytes()
    rows, rejected, first_row = [], [], 0
    for begin, end in pairwise([0, *sorted(cuts), len(content)]):
        lines = content[: line_start(content, begin)].count(b"\n")
        part = Part(begin, end, first_row, lines, has_ids)
        documents = whole.part([replace(source, part=part)], 0)
        some, bad = read(documents)
        rows += some
        rejected += bad
        first_row += documents.seen_rows
    return rows, rejected, first_row


def assert_parts_give_the_whole(path, cuts, *, has_ids=None, **options):
    whole = Documents([path], **options)
    expected, bad = read(whole)
    rows, rejected, seen = in_parts(path, cuts, has_ids=has_ids, **options)
    assert rows == expected
    assert rejected == bad
    assert seen == whole.seen_rows == len(rows) + len(rejected)
    return expected, bad


GOOD = ["a", "天地 玄黄", "", "😀" * 3, "word " * 30, 'quote " and \\ slash', "x" * 900]
json_line = st.sampled_from(GOOD).map(
    lambda text: json.dumps({"text": text, "n": len(text)}, ensure_ascii=len(text) % 2 == 0)
)
bad_line = st.sampled_from(["[1]", '{"text": 5}', '{"text": "cut', "null", '{"other": 1}'])
ends = st.sampled_from([b"\n", b"\r\n"])
cut_places = st.lists(st.floats(0, 1), max_size=6)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("parts")


@settings(max_examples=60)
@given(
    st.lists(json_line | bad_line | st.sampled_from(["", "  "]), max_size=12),
    ends,
    st.booleans(),
    st.booleans(),
    cut_places,
)
def test_json_lines_in_any_parts(folder, lines, end, has_bom, ends_with_newline, cuts):
    path = folder / "some.jsonl"
    content = BOM * has_bom + end.join(line.encode() for line in ['{"text": "first"}', *lines])
    content += end * ends_with_newline
    path.write_bytes(content)
    assert_parts_give_the_whole(
        path, [int(cut * len(content)) for cut in cuts], has_ids=False, columns="all"
    )


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_json_lines_cut_at_every_byte(tmp_path, end):
    path = tmp_path / "some.jsonl"
    lines = [
        '{"id": "x", "text": "天"}',
        "",
        '{"id": "y", "text": 7}',
        "[]",
        '{"id": "z", "text": ""}',
    ]
    path.write_bytes(BOM + end.join(line.encode() for line in lines))
    content = path.read_bytes()
    for cut in range(len(content) + 1):
        rows, rejected = assert_parts_give_the_whole(path, [cut], has_ids=True)
    assert [row[:3] for row in rows] == [("x", "天", 0), ("z", "", 3)]
    assert [(bad.row, bad.reason) for bad in rejected] == [
        (1, "line 3: 'text' is a number, not a string"),
        (2, "line 4: an array, not an object"),
    ]
    # One byte in each part: most parts have no line that begins in them.
    assert_parts_give_the_whole(path, range(1, len(content)), has_ids=True)


def test_the_first_object_decides_about_ids_in_all_parts(tmp_path):
    path = tmp_path / "some.jsonl"
    lines = ['{"text": "a"}', '{"text": "b"}', '{"text": "c", "id": "own"}']
    path.write_text("\n".join(lines))
    refused = "has no 'id' in its first row but one on line 3;"
    with pytest.raises(InputError, match=refused):
        read(Documents([path]))
    with pytest.raises(InputError, match=refused):
        in_parts(path, [14, 28], has_ids=False)
    path.write_text("\n".join(reversed(lines)))
    rows, rejected = assert_parts_give_the_whole(path, [10, 30, 45], has_ids=True)
    assert [row[0] for row in rows] == ["own"]
    assert [(bad.row, bad.reason) for bad in rejected] == [
        (1, "line 2: no 'id'"),
        (2, "line 3: no 'id'"),
    ]


def test_a_line_longer_than_a_part_and_than_a_block(tmp_path):
    path = tmp_path / "some.jsonl"
    long = "ü" * 200_000
    path.write_text(f'{{"text": "{long}"}}\n{{"text": "b"}}\n', encoding="utf-8")
    size = path.stat().st_size
    rows, _ = assert_parts_give_the_whole(path, range(0, size, 30_000), has_ids=False)
    assert [row[1] for row in rows] == [long, "b"]


def test_invalid_utf_8_is_rejected_in_its_part(tmp_path):
    path = tmp_path / "some.jsonl"
    path.write_bytes(b'{"text": "a"}\n{"text": "\xff"}\n\n{"text": "\xe5\xa4"}\n{"text": "b"}\n')
    for cut in range(path.stat().st_size):
        _, rejected = assert_parts_give_the_whole(path, [cut], has_ids=False)
    assert [bad.reason.split(",")[0] for bad in rejected] == [
        "line 2: invalid UTF-8",
        "line 4: invalid UTF-8",
    ]


def test_documents_that_are_too_long_are_rejected_in_their_part(tmp_path):
    path = tmp_path / "some.jsonl"
    path.write_text('{"text": "a"}\n' + '{"text": "' + "b" * 5000 + '"}\n{"text": "c"}\n')
    for cut in (1, 14, 15, 3000, 5026, 5027, 5030):
        rows, rejected = assert_parts_give_the_whole(path, [cut], has_ids=False, max_document=1000)
    assert [row[1] for row in rows] == ["a", "c"]
    assert [bad.row for bad in rejected] == [1]


@settings(max_examples=60)
@given(
    st.lists(
        st.sampled_from([*GOOD, "", " "]).map(str.encode) | st.sampled_from([b"\xff", b"a\xe5"]),
        min_size=1,
        max_size=12,
    ),
    ends,
    st.booleans(),
    st.booleans(),
    cut_places,
)
def test_text_lines_in_any_parts(folder, lines, end, has_bom, ends_with_newline, cuts):
    path = folder / "some.txt"
    content = BOM * has_bom + end.join([b"first", *lines]) + end * ends_with_newline
    path.write_bytes(content)
    assert_parts_give_the_whole(path, [int(cut * len(content)) for cut in cuts])


def test_text_lines_cut_at_every_byte(tmp_path):
    path = tmp_path / "some.txt"
    path.write_bytes(BOM + "a\n\nü\r\n天地\n\n".encode() + b"\xff\nend")
    content = path.read_bytes()
    for cut in range(len(content) + 1):
        rows, rejected = assert_parts_give_the_whole(path, [cut])
    assert [row[1] for row in rows] == ["a", "", "ü", "天地", "", "end"]
    assert [bad.row for bad in rejected] == [5]
    assert_parts_give_the_whole(path, range(1, len(content)))


@settings(max_examples=25)
@given(st.integers(0, 50), st.integers(1, 9), st.lists(st.integers(0, 50), max_size=5))
def test_parquet_by_row_groups(folder, count, group, cuts):
    path = folder / "some.parquet"
    texts = [None if row % 7 == 3 else f"text {row}" for row in range(count)]
    table = pa.table(
        {
            "id": pa.array([f"i{row}" for row in range(count)], pa.string()),
            "text": pa.array(texts, pa.string()),
            "n": pa.array(range(count), pa.int64()),
        }
    )
    pq.write_table(table, path, row_group_size=group)
    about = pq.ParquetFile(path).metadata
    rows_of = [about.row_group(place).num_rows for place in range(about.num_row_groups)]
    whole = Documents([path], columns="all")
    if count and not any(texts):
        return
    expected, bad = read(whole)
    bounds = sorted({0, len(rows_of), *(cut for cut in cuts if cut < len(rows_of))})
    rows, rejected = [], []
    for begin, end in pairwise(bounds):
        part = Part(begin, end, sum(rows_of[:begin]))
        documents = whole.part([replace(whole.sources[0], part=part)], 0)
        some, worse = read(documents)
        assert documents.seen_rows == sum(rows_of[begin:end])
        rows += some
        rejected += worse
    assert rows == expected
    assert rejected == bad
    assert len(rows) + len(rejected) == count


def test_the_places_of_a_part_follow_those_of_the_files_before(tmp_path):
    path = tmp_path / "some.jsonl"
    path.write_text('{"text": "a"}\n{"text": "b"}\n{"text": "c"}\n')
    whole = Documents([path])
    part = replace(whole.sources[0], part=Part(14, 42, first_row=1, has_ids=False))
    rows, _ = read(whole.part([part], 100))
    assert [(row[0], row[2]) for row in rows] == [(101, 101), (102, 102)]


def test_a_missing_column_is_judged_by_the_first_part_alone(tmp_path):
    """A part may have none of a rare key, and is then no misspelt column."""
    path = tmp_path / "some.jsonl"
    first = '{"text": "a"}\n'
    path.write_text(first + '{"other": 1}\n' * 1500)
    _, rejected = assert_parts_give_the_whole(path, [len(first)], has_ids=False)
    assert len(rejected) == 1500
