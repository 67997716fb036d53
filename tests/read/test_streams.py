"""Streams of batches from other libraries: how they are held, and what goes wrong in them."""

import tempfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import neardup as nd
from neardup.errors import InputError, SettingError
from neardup.read import streams
from neardup.read.memory import table_of

FOX = "the quick brown fox jumps over the lazy dog"
TEXTS = [FOX, None, f"{FOX.capitalize()}!", "something else again"]
TABLE = pa.table({"id": ["a", "b", "c", "d"], "text": TEXTS})


def kept(given, **options):
    return nd.dedup(given, **options).kept["id"].to_pylist()


def reader(batches, schema=TABLE.schema):
    return pa.RecordBatchReader.from_batches(schema, batches)


def test_libraries_that_export_arrow_streams():
    nanoarrow = pytest.importorskip("nanoarrow")
    assert kept(nanoarrow.ArrayStream(TABLE)) == ["a", "b", "d"]
    assert kept(nanoarrow.c_array_stream(TABLE)) == ["a", "b", "d"]


@pytest.mark.parametrize("rows", [0, 1, 4])
def test_a_large_stream_is_held_in_a_temporary_file(monkeypatch, tmp_path, rows):
    monkeypatch.setattr(streams, "_HELD_BYTES", 0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = pa.total_allocated_bytes()
    table = table_of(reader(TABLE.slice(0, rows).to_batches(max_chunksize=1)))
    assert pa.total_allocated_bytes() == before
    assert table.to_pylist() == TABLE.slice(0, rows).to_pylist()
    assert list(tmp_path.iterdir()) == []  # the mapping outlives the name
    found = nd.dedup(reader(TABLE.to_batches(max_chunksize=1)))
    assert found.kept.to_pylist() == nd.dedup(TABLE).kept.to_pylist()


def test_dictionaries_may_change_between_batches(monkeypatch):
    monkeypatch.setattr(streams, "_HELD_BYTES", 0)
    kind = pa.dictionary(pa.int8(), pa.string())
    schema = pa.schema([("id", pa.string()), ("text", kind)])
    batches = [
        pa.record_batch([[name], pa.array([text]).dictionary_encode().cast(kind)], schema=schema)
        for name, text in [("a", FOX), ("b", "x y z"), ("c", FOX)]
    ]
    assert kept(reader(batches, schema)) == ["a", "b"]


def test_views_inside_lists():
    frame = pl.DataFrame({"text": TEXTS, "tags": [["x"]] * 4, "more": [{"y": ["z"]}] * 4})
    for given in (frame, frame.lazy()):
        found = nd.dedup(given)
        assert found.kept["tags"].to_pylist() == [["x"]] * 3
        assert found.kept["more"].to_pylist() == [{"y": ["z"]}] * 3


def test_lazy_frames():
    frame = pl.LazyFrame({"id": ["a", "b", "c", "d"], "text": TEXTS})
    assert kept(frame) == ["a", "b", "d"]
    assert kept(frame.with_columns(pl.col("text").cast(pl.Categorical))) == ["a", "b", "d"]
    assert kept(frame.filter(pl.col("id") > "z")) == []
    with pytest.raises(InputError, match=r'the LazyFrame .*: unable to find column "x"'):
        nd.dedup(frame.select("x"))


def test_an_index_does_not_hold_the_stream():
    given = 0

    def batches():
        nonlocal given
        for number in range(200):
            given += 1
            text = f"{FOX} {number} " * 2000
            yield pa.record_batch({"id": [str(number)], "text": [text]}, schema=TABLE.schema)

    index = nd.MemoryIndex()
    before = pa.total_allocated_bytes()
    assert index.add_many(reader(batches())) == given == 200
    assert pa.total_allocated_bytes() - before < 1 << 20


def test_an_error_of_another_library_is_a_sentence():
    def batches():
        yield from TABLE.to_batches()
        raise RuntimeError("the server is gone")

    for call in (nd.dedup, nd.exact_pairs, nd.MemoryIndex().add_many):
        with pytest.raises(InputError, match=r"^the RecordBatchReader .*: the server is gone$"):
            call(reader(batches()))


@pytest.mark.parametrize(
    "texts",
    [
        pd.array(TEXTS, dtype="string"),
        pd.Series(TEXTS, dtype=pd.ArrowDtype(pa.string())),
        pd.Categorical(TEXTS),
        np.array([FOX, float("nan"), f"{FOX}!", "something else again"], dtype=object),
    ],
    ids=["string", "arrow", "categorical", "object"],
)
def test_pandas_types(texts):
    frame = pd.DataFrame({"id": pd.array([1, 2, 3, 4], dtype="Int64"), "text": texts})
    assert kept(frame) == [1, 2, 4]
    assert nd.tune(frame).documents == 4
    assert nd.fingerprint(frame, text="text") == nd.fingerprint(TEXTS)
    assert nd.MemoryIndex().add_many(frame) == 4


def test_the_numbers_of_kept_rows():
    frame = pd.DataFrame({"text": TEXTS}, index=[7, 8, 9, 10])
    result = nd.dedup(frame)
    assert result.kept_rows.tolist() == [0, 1, 3]
    assert frame.iloc[result.kept_rows].index.tolist() == [7, 8, 10]
    assert pl.DataFrame({"text": TEXTS})[result.kept_rows].height == 3
    # Rejected rows count.
    long = nd.dedup(["x" * 100, FOX, FOX, "y"], max_document=50)
    assert long.summary["rejected"] == 1
    assert long.kept_rows.tolist() == [1, 3]


def test_files_have_no_row_numbers(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a b c\nd e f\n")
    with pytest.raises(SettingError, match="this run read files"):
        nd.dedup(path).kept_rows  # noqa: B018
