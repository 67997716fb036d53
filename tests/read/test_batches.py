"""Batches are bounded, complete, repeatable, and their progress adds up."""

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

from neardup.read import Documents
from neardup.read.json.files import array_elements, printed_objects
from neardup.read.lines import whole_lines

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), max_size=12)
SIZES = st.integers(1, 40)
ANY_JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=8) | st.sampled_from(['"', "\\", '\\"', "[{,}]"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


def texts_of(path, **options):
    batches = [b.documents.column("text").to_pylist() for b in Documents([path], **options)]
    return [text for batch in batches for text in batch]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("batches")


@settings(deadline=None)
@given(TEXTS, SIZES, st.booleans())
def test_json_lines_read_back_for_any_block_size(folder, texts, size, ascii):
    path = folder / "any.jsonl"
    lines = [json.dumps({"text": text}, ensure_ascii=ascii) + "\n" for text in texts]
    path.write_text("".join(lines), encoding="utf-8", newline="")
    assert texts_of(path, batch_bytes=size) == texts


@settings(deadline=None)
@given(TEXTS, SIZES, st.sampled_from([None, 1]))
def test_json_arrays_read_back_for_any_block_size(folder, texts, size, indent):
    path = folder / "any.json"
    path.write_text(json.dumps([{"text": text} for text in texts], indent=indent))
    assert texts_of(path, batch_bytes=size) == texts


@settings(deadline=None)
@given(TEXTS, SIZES)
def test_parquet_reads_back_for_any_batch_size(folder, texts, size):
    path = folder / "any.parquet"
    pq.write_table(pa.table({"text": pa.array(texts, pa.string())}), path)
    assert texts_of(path, batch_bytes=size) == texts


@settings(deadline=None)
@given(st.binary(max_size=60), SIZES)
def test_lines_are_those_between_line_feeds(content, size):
    found = [
        line
        for lines in whole_lines(io.BytesIO(content), size, 10**9)
        for line in lines.split(b"\n")
    ]
    expected = content.split(b"\n")
    assert found == (expected if expected[-1] else expected[:-1])


@settings(deadline=None)
@given(st.lists(ANY_JSON, max_size=6), SIZES, st.sampled_from([None, 1]))
def test_array_elements_are_cut_right(values, size, indent):
    stream = io.BytesIO(json.dumps(values, indent=indent).encode() + b" \n")
    found = [
        (where, json.loads(piece)) for where, piece in array_elements(stream, "f", size, 10**9)
    ]
    assert found == [(f"element {i}", value) for i, value in enumerate(values, 1)]


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.text(max_size=3), ANY_JSON), max_size=6), SIZES)
def test_printed_objects_are_cut_right(values, size):
    stream = io.BytesIO("\n".join(json.dumps(value, indent=1) for value in values).encode())
    assert [json.loads(piece) for _, piece in printed_objects(stream, size, 10**9)] == values


def write(folder, name, texts):
    path = folder / name
    if name.endswith(".parquet"):
        pq.write_table(pa.table({"text": texts}), path)
    elif name.endswith(".arrow"):
        with pa.ipc.new_file(path, pa.schema({"text": pa.string()})) as writer:
            writer.write_table(pa.table({"text": texts}))
    elif name.endswith(".txt"):
        path.write_text("\n".join(texts))
    elif name.endswith(".csv"):
        path.write_text("\n".join(["text", *texts]))
    else:
        path.write_text("\n".join(json.dumps({"text": text}) for text in texts))
    return path


FORMATS = pytest.mark.parametrize("name", ["x.jsonl", "x.csv", "x.txt", "x.parquet", "x.arrow"])


@FORMATS
def test_batches_are_bounded_and_a_large_document_is_its_own(tmp_path, name):
    texts = ["x" * (1 + i % 50) for i in range(1000)]
    texts[500] = "y" * 5000
    path = write(tmp_path, name, texts)
    batches = [b.documents.column("text").to_pylist() for b in Documents([path], batch_bytes=1000)]
    assert [text for batch in batches for text in batch] == texts
    sizes = [sum(map(len, batch)) for batch in batches]
    assert [size for size in sizes if size > 1000] == [5000]
    assert ["y" * 5000] in batches
    assert len(batches) < 120


@FORMATS
def test_repeated_long_texts_do_not_make_large_batches(tmp_path, name):
    path = write(tmp_path, name, ["z" * 1000] * 500)
    sizes = [b.documents.column("text").nbytes for b in Documents([path], batch_bytes=50_000)]
    assert max(sizes) < 60_000


def test_whole_files_share_batches(tmp_path):
    for i in range(100):
        (tmp_path / f"{i:03}.txt").write_text("x" * 10)
    rows = [b.documents.num_rows for b in Documents([tmp_path], batch_bytes=300)]
    assert sum(rows) == 100
    assert max(rows) == 30


@FORMATS
def test_iterating_again_reads_again_and_progress_adds_up(tmp_path, name):
    paths = [write(tmp_path, f"{i}{name}", [f"{i} {j}" for j in range(50)]) for i in range(2)]
    found = Documents(paths, id="row", batch_bytes=40)
    assert found.total_bytes == sum(path.stat().st_size for path in paths)
    for _ in range(2):
        done, places = [], []
        for batch in found:
            done.append(found.done_bytes)
            places += batch.places.tolist()
        assert done == sorted(done)
        assert found.done_bytes == found.total_bytes
        assert places == list(range(len(places)))
        assert len(places) == (2 if name.endswith(".txt") else 100)


LINES = st.sampled_from(
    [
        *('{"id": 1, "text": "one"}', '{"id": 2, "text": "two words", "more": [1]}'),
        *('{"id": 3}', '{"text": "no id"}', '{"id": null, "text": "x"}', '{"id": 4, "text": 5}'),
        *(
            "broken",
            "[]",
            '"text"',
            "",
            "  ",
            '{"id": 5.5, "text": "x"}',
            '{"id": 6, "text": null}',
        ),
    ]
)


@settings(deadline=None)
@given(st.lists(LINES, min_size=1, max_size=60), st.sampled_from([30, 100, 400, 5000]))
def test_lines_are_judged_alike_alone_and_in_blocks(folder, lines, size):
    """A block of valid lines is read at once, which must make no difference."""
    numbered = [line.replace('"id": ', f'"id": {i}0') for i, line in enumerate(lines)]
    path = folder / "judged.jsonl"
    first = '{"id": 0, "text": "first"}'
    path.write_text("\n".join([first, *numbered]), encoding="utf-8")

    def read(batch_bytes):
        batches = list(Documents(path, id="id", columns="all", batch_bytes=batch_bytes))
        ids = [id for batch in batches for id in batch.ids.to_pylist()]
        rejected = [row for batch in batches for row in batch.rejected]
        return ids, rejected, [place for batch in batches for place in batch.places.tolist()]

    assert read(size) == read(1)
